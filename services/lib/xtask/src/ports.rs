//! Free ports on the loopback interface.
//!
//! A service that is started again must find its port free, so ports are taken from below the range in which the
//! system picks ports for outgoing connections: one of those would else sit on the port of a service that is down.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Mutex;

use anyhow::bail;

/// Above the well-known services, below the ephemeral range of Linux (32768) and of macOS (49152).
const RANGE: std::ops::Range<u16> = 15_000..32_000;

static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// A port that nobody listens on and that this process has not given out before.
///
/// # Errors
/// None was free in a thousand tries.
pub fn free() -> anyhow::Result<u16> {
    let mut given = GIVEN.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for _ in 0..1000 {
        let port = rand::random_range(RANGE);
        if !given.contains(&port) && TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            given.insert(port);
            return Ok(port);
        }
    }
    bail!("no free port between {} and {}", RANGE.start, RANGE.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_given_once() {
        let ports: BTreeSet<u16> = (0..50).map(|_| free().unwrap()).collect();
        assert_eq!(ports.len(), 50);
    }
}
