//! The process's connections, shared out among its channels.
//!
//! What is done to a chat is mostly asking the database, so connections are what channels would take from each other: a
//! channel with a hundred thousand ready chats always has more questions waiting than there are connections, and every
//! question of another channel would stand in line behind them. So each channel asks over connections of its own. Their
//! number in all stays what is configured; when there are more channels than pairs of connections, some share.

use anyhow::ensure;
use channel::config::{Account, Provider};
use runtime::Shell;
use runtime::config::DatabaseConfig;
use sqlx::PgPool;

/// So few that one statement which waits for a lock does not stop the channel.
const LEAST: u32 = 2;

/// The pools of a process; the first is also that of what belongs to no channel.
pub(crate) struct Shares(Vec<PgPool>);

impl Shares {
    /// Opens them; nothing is connected yet.
    ///
    /// # Errors
    /// The URL is not one that Postgres accepts, or there is no channel.
    pub(crate) fn open(shell: &Shell, config: &DatabaseConfig, accounts: &[Account]) -> anyhow::Result<Self> {
        let busy = accounts.iter().filter(|account| !is_synthetic(account)).count();
        let sizes = sizes(config.pool, busy);
        ensure!(!sizes.is_empty(), "there is no channel to work");
        let open = |pool| shell.database(&DatabaseConfig { pool, ..config.clone() });
        sizes.into_iter().map(open).collect::<anyhow::Result<_>>().map(Self)
    }

    /// That of the process.
    pub(crate) fn common(&self) -> &PgPool {
        &self.0[0]
    }

    /// That of the channel at this place of the list.
    pub(crate) fn of(&self, accounts: &[Account], place: usize) -> &PgPool {
        // A few reports a day need no connections of their own.
        if is_synthetic(&accounts[place]) {
            return self.common();
        }
        let before = accounts[..place].iter().filter(|account| !is_synthetic(account)).count();
        &self.0[before % self.0.len()]
    }
}

/// How many connections each pool has, for so many channels; never more in all than `connections`.
fn sizes(connections: u32, channels: usize) -> Vec<u32> {
    let pools = u32::try_from(channels).unwrap_or(u32::MAX).min(connections / LEAST).max(1);
    let (each, rest) = (connections / pools, connections % pools);
    (0..pools).map(|place| each + u32::from(place < rest)).collect()
}

fn is_synthetic(account: &Account) -> bool {
    matches!(&account.provider, Provider::Webhook(webhook) if webhook.synthetic)
}

#[cfg(test)]
mod tests {
    use super::sizes;

    #[test]
    fn the_connections_are_shared_out_and_never_more_in_all_than_there_are() {
        assert_eq!(sizes(8, 1), [8]);
        assert_eq!(sizes(8, 2), [4, 4]);
        assert_eq!(sizes(8, 3), [3, 3, 2]);
        assert_eq!(sizes(8, 4), [2, 2, 2, 2]);
        // More channels than pairs of connections share them.
        assert_eq!(sizes(8, 100), [2, 2, 2, 2]);
        assert_eq!(sizes(3, 2), [3]);
        assert_eq!(sizes(1, 2), [1]);
        // The synthetic channel alone.
        assert_eq!(sizes(8, 0), [8]);
    }
}
