//! Errors as log lines and rows may say them: codes and our own words, never a value.
//!
//! The words of Postgres and of serde quote what they refuse, and what they refuse here is what a citizen wrote.

/// What the database said.
pub(crate) fn database(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(refusal) => {
            let code = refusal.code().unwrap_or_default();
            match refusal.constraint() {
                Some(constraint) => format!("SQLSTATE {code} ({constraint})"),
                None => format!("SQLSTATE {code}"),
            }
        }
        sqlx::Error::Io(error) => format!("the connection failed: {}", error.kind()),
        sqlx::Error::PoolTimedOut => "no connection was free in time".to_owned(),
        sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => "the service is ending".to_owned(),
        sqlx::Error::Encode(_) | sqlx::Error::Decode(_) | sqlx::Error::ColumnDecode { .. } => {
            "a value cannot be written or read".to_owned()
        }
        // The enum is open, and what it may add may quote as well.
        _ => "the database cannot be used".to_owned(),
    }
}

/// What became of a queue operation that did not happen.
pub(crate) fn queue(error: &bus::Error) -> String {
    match error {
        bus::Error::Database(error) => database(error),
        bus::Error::Fenced => "the lease was lost".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_value_that_cannot_be_read_is_not_quoted() {
        let quoting = serde_json::from_value::<u8>(serde_json::json!("Calle Mayor 5")).unwrap_err();
        assert!(quoting.to_string().contains("Calle Mayor"));
        let error = bus::Error::Database(sqlx::Error::Decode(quoting.into()));
        assert_eq!(super::queue(&error), "a value cannot be written or read");
    }
}
