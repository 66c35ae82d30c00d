//! The user that the server runs as: this one, or an ordinary one if this is root.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

/// Users that exist for this or for nothing, best first.
const ORDINARY: [&str; 2] = ["postgres", "nobody"];

/// Runs programs as an ordinary user.
pub(super) struct Account {
    /// User and group to change to; none if this process is not root.
    change: Option<(u32, u32)>,
}

impl Account {
    pub(super) fn for_server() -> anyhow::Result<Self> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self { change: None });
        }
        let users = fs::read_to_string("/etc/passwd").context("cannot read /etc/passwd")?;
        match ORDINARY.iter().find_map(|name| find_user(&users, name)) {
            Some(ids) => Ok(Self { change: Some(ids) }),
            None => bail!("PostgreSQL refuses to run as root, and no user {} is here", ORDINARY.join(" or ")),
        }
    }

    /// A command that runs as that user, in a folder that it can reach.
    pub(super) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.current_dir("/");
        if let Some((user, group)) = self.change {
            // Given up as well by this: the groups of root.
            command.uid(user).gid(group);
        }
        command
    }

    /// Makes a private folder below `preferred`, or below `/var/tmp` if the user cannot reach that.
    pub(super) fn make_folder(&self, preferred: &Path) -> anyhow::Result<PathBuf> {
        let name = format!("{}-{:08x}", std::process::id(), rand::random::<u32>());
        let fallback = Path::new("/var/tmp").join(format!("abisu-{name}"));
        for folder in [preferred.join(&name), fallback] {
            if let Some(parent) = folder.parent() {
                fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
            }
            fs::DirBuilder::new()
                .mode(0o700)
                .create(&folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
            if let Some((user, group)) = self.change {
                chown(&folder, Some(user), Some(group))?;
            }
            if self.reaches(&folder) {
                return Ok(folder);
            }
            fs::remove_dir(&folder)?;
        }
        bail!("the server's user can reach neither {} nor /var/tmp", preferred.display())
    }

    fn reaches(&self, folder: &Path) -> bool {
        let mut probe = self.command(Path::new("/bin/sh"));
        probe.args(["-c", "cd \"$0\" && touch probe && rm probe"]).arg(folder);
        probe.stdin(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
    }
}

/// User and group number of a name in the format of `/etc/passwd`.
fn find_user(users: &str, name: &str) -> Option<(u32, u32)> {
    users.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        let (user, group) = (fields.get(2)?.parse().ok()?, fields.get(3)?.parse().ok()?);
        (fields[0] == name && user != 0).then_some((user, group))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_where_the_server_can_write() {
        let closed = std::env::temp_dir().join(format!("abisu-closed-{}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&closed).unwrap();
        let account = Account::for_server().unwrap();
        let folder = account.make_folder(&closed.join("postgres")).unwrap();
        assert!(account.reaches(&folder));
        // Only root changes to a user that is shut out.
        assert_eq!(folder.starts_with("/var/tmp"), account.change.is_some());
        fs::remove_dir(folder).unwrap();
        fs::remove_dir_all(closed).unwrap();
    }

    #[test]
    fn a_user_is_found_by_its_whole_name_and_never_root() {
        let users = "root:x:0:0::/root:/bin/sh\npostgres2:x:7:8::/:/bin/sh\npostgres:x:105:110::/:/bin/sh\nnobody:x:0:0::/:\n";
        assert_eq!(find_user(users, "postgres"), Some((105, 110)));
        assert_eq!(find_user(users, "nobody"), None);
        assert_eq!(find_user(users, "absent"), None);
    }
}
