//! Arguments of `abisu erase`.

use clap::ArgGroup;
use runtime::config::DatabaseArgs;

use crate::operator::ByArgs;

#[derive(clap::Args)]
#[command(group = ArgGroup::new("who").required(true).args(["phone", "user_id"]))]
pub(crate) struct EraseArgs {
    /// The phone number, with its country code
    #[arg(long, value_parser = digits)]
    pub(super) phone: Option<String>,
    /// The id by which the provider knows the person to this business
    #[arg(long)]
    pub(super) user_id: Option<String>,
    /// Say what would be erased and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    #[command(flatten)]
    pub(super) by: ByArgs,
    #[command(flatten)]
    pub(super) database: DatabaseArgs,
}

/// A phone number as it is stored: digits alone.
fn digits(text: &str) -> Result<String, &'static str> {
    let digits: String = text.chars().filter(|c| !matches!(c, '+' | ' ' | '-' | '.' | '(' | ')')).collect();
    let is_number = (7..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
    if is_number { Ok(digits) } else { Err("7 to 15 digits, as +34 600 000 001") }
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_number_is_taken_as_people_write_it() {
        assert_eq!(super::digits("+34 600-000 001").as_deref(), Ok("34600000001"));
        assert!(super::digits("600").is_err() && super::digits("34600000001 ext 5").is_err());
    }
}
