//! Installs PostgreSQL with PostGIS where that is one package away: Debian and its relatives.

use std::process::Command;

use anyhow::{Context, bail};

use crate::debian::{self, apt_get};
use crate::progress::say;

/// What to do by hand.
pub(super) const HINT: &str = "install PostgreSQL 14 or newer with PostGIS 3:
  Debian, Ubuntu   apt-get install postgresql postgresql-<version>-postgis-3
  Fedora, RHEL     dnf install postgresql-server postgis
  Arch             pacman -S postgresql postgis
  macOS            brew install postgresql@17 postgis
or name the folder of its programs (initdb, postgres) in ABISU_TEST_PG";

/// Installs the newest version that has PostGIS.
pub(super) fn install(refused: &[String]) -> anyhow::Result<()> {
    let why = refused.join("; ");
    if !debian::is_here() {
        bail!("no usable PostgreSQL with PostGIS: {why}\n{HINT}");
    }
    say(format!("no usable PostgreSQL with PostGIS ({why}): installing it"));
    apt_get(&["update", "--quiet"]).context(HINT)?;
    let listed = Command::new("apt-cache")
        .args(["search", "--names-only", "^postgresql-[0-9]+-postgis-[0-9]+$"])
        .output()
        .context("cannot run apt-cache")?;
    let Some((version, postgis)) = newest(&String::from_utf8_lossy(&listed.stdout)) else {
        bail!("apt-cache knows no package postgresql-<version>-postgis-3\n{HINT}");
    };
    let (server, postgis) =
        (format!("postgresql-{version}"), format!("postgresql-{version}-postgis-{postgis}"));
    say(format!("apt-get install {server} {postgis}"));
    apt_get(&["install", "--yes", "--quiet", "--no-install-recommends", &server, &postgis]).context(HINT)
}

/// The newest server version with its newest PostGIS, from lines like `postgresql-17-postgis-3 - …`.
fn newest(listed: &str) -> Option<(u32, u32)> {
    listed
        .lines()
        .filter_map(|line| {
            let (version, rest) =
                line.split_whitespace().next()?.strip_prefix("postgresql-")?.split_once('-')?;
            Some((version.parse().ok()?, rest.strip_prefix("postgis-")?.parse().ok()?))
        })
        .max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_is_compared_as_a_number() {
        let listed = "postgresql-9-postgis-3 - x\npostgresql-15-postgis-2 - x\npostgresql-15-postgis-3 - x\nother - y\n";
        assert_eq!(newest(listed), Some((15, 3)));
        assert_eq!(newest(""), None);
    }
}
