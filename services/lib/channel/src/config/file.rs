//! The file: parsed, checked, and complete. What is wrong is named by line and field, and no value is quoted: somebody
//! may have put a secret where its name belongs.

use std::fmt;

use serde_saphyr::Error as Yaml;

use super::account::{Account, Purpose};
use super::check;
use super::raw::RawFile;
use super::secret::{SecretRef, Secrets};

/// A checked list of channels.
#[derive(Debug, Clone)]
pub struct ChannelsFile {
    accounts: Vec<Account<SecretRef>>,
    /// On which each begins; 0 for one that stands in no file.
    lines: Vec<u64>,
}

/// Everything that is wrong with a file. Displayed in one line.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub struct FileError(pub Vec<Problem>);

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The line, counted from one.
    pub line: u64,
    /// The field.
    pub field: String,
    /// What is wrong, and what would be right.
    pub problem: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, {}: {}", self.line, self.field, self.problem)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            let between = if at == 0 { "" } else { "; " };
            write!(f, "{between}{problem}")?;
        }
        Ok(())
    }
}

impl ChannelsFile {
    /// Reads and checks the text of a file.
    ///
    /// # Errors
    /// It is no YAML of this form, or what it says cannot work.
    pub fn parse(text: &str) -> Result<Self, FileError> {
        let raw: RawFile =
            serde_saphyr::from_str(text).map_err(|error| FileError(vec![explain(&error, text)]))?;
        let placed = check::accounts(raw).map_err(FileError)?;
        let (lines, accounts) = placed.into_iter().unzip();
        Ok(Self { accounts, lines })
    }

    /// A list of one channel that no file lists.
    pub fn of(account: Account<SecretRef>) -> Self {
        Self { accounts: vec![account], lines: vec![0] }
    }

    /// The list with one more channel, that stands in no file; `None` if it has one of that id.
    pub fn with(mut self, account: Account<SecretRef>) -> Option<Self> {
        let known = self.accounts.iter().any(|known| known.id == account.id);
        self.accounts.push(account);
        self.lines.push(0);
        (!known).then_some(self)
    }

    /// Whether every channel has what a purpose takes.
    ///
    /// # Errors
    /// What is missing, by line and field.
    pub fn suits(&self, purpose: Purpose) -> Result<(), FileError> {
        if purpose == Purpose::Receive {
            return Ok(());
        }
        let lacking = self.accounts.iter().zip(&self.lines).filter_map(|(account, line)| {
            let field = account.lacks()?.to_owned();
            let problem = format!("is missing; the channel {} has nothing to send with", account.id);
            Some(Problem { line: *line, field, problem })
        });
        let problems: Vec<Problem> = lacking.collect();
        if problems.is_empty() { Ok(()) } else { Err(FileError(problems)) }
    }

    /// The accounts, without their secrets.
    pub fn accounts(&self) -> &[Account<SecretRef>] {
        &self.accounts
    }

    /// Every place that a secret of this purpose is to be found in.
    pub fn secrets(&self, purpose: Purpose) -> impl Iterator<Item = &SecretRef> {
        self.accounts.iter().flat_map(move |account| account.secrets(purpose))
    }

    /// The accounts with the secrets that were read for them; one that was not read is empty.
    pub fn resolve(&self, secrets: &Secrets) -> Vec<Account> {
        self.accounts.iter().map(|account| account.map(&|secret| secrets.get(&secret.source))).collect()
    }
}

/// What the parser says, without the values that it would quote.
fn explain(error: &Yaml, text: &str) -> Problem {
    // What is missed at the end of the file is missed on its last line.
    let last = u64::try_from(text.lines().count()).unwrap_or(u64::MAX).max(1);
    let line = error.location().map_or(1, |location| location.line().clamp(1, last));
    if let Some(line) = tab_from(text, line) {
        let field = field_at(text, line).unwrap_or_else(|| "channels".to_owned());
        return Problem { line, field, problem: "is indented with a tab; YAML takes spaces only".to_owned() };
    }
    let (field, problem) = match error.without_snippet() {
        Yaml::SerdeUnknownField { field, expected, .. } => {
            (Some(field.clone()), format!("there is no such field; there are {}", expected.join(", ")))
        }
        Yaml::SerdeMissingField { field, .. } => (Some((*field).to_owned()), "is missing".to_owned()),
        Yaml::DuplicateMappingKey { key, .. } => (key.clone(), "stands here twice".to_owned()),
        _ => (None, "cannot be read; a list, a mapping or a value of another type belongs here".to_owned()),
    };
    let field = field.or_else(|| field_at(text, line)).unwrap_or_else(|| "channels".to_owned());
    let of_secret = ["secret", "token", "password", "api_key"].iter().any(|word| field.contains(word));
    let hint = if of_secret { "; a secret is {env: NAME} or {file: PATH}" } else { "" };
    Problem { line, field, problem: format!("{problem}{hint}") }
}

/// The line that is indented with a tab, if it is where the reading broke off: the parser names that line or, where it
/// took the tab for more of a value, the one before.
fn tab_from(text: &str, line: u64) -> Option<u64> {
    let indented = |text: &str| text.trim_start_matches(' ').starts_with('\t');
    let lines = (1..).zip(text.lines()).skip_while(|(number, _)| *number < line).take(2);
    lines.filter(|(_, text)| indented(text)).map(|(number, _)| number).next()
}

/// The field that a line belongs to: the last one that begins on it or above it.
fn field_at(text: &str, line: u64) -> Option<String> {
    let lines: Vec<&str> = text.lines().take(usize::try_from(line).ok()?).collect();
    lines.iter().rev().find_map(|line| {
        let (key, _) = line.trim_start_matches([' ', '\t', '-']).split_once(':')?;
        let plain = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        plain.then(|| key.to_owned())
    })
}
