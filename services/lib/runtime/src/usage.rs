//! What clap refuses, in one line that names the variable: services are configured by environment, where a message
//! about a flag helps nobody.

use clap::Command;
use clap::error::{ContextKind, ContextValue};

/// One line of an error that clap would print on several, with the variable of the flag at fault where it has one.
/// A value is quoted only as far as clap itself quotes it; secrets are read as text and never refused by clap.
pub fn line(command: &Command, error: &clap::Error) -> String {
    let flag = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(flag)) => Some(flag.as_str()),
        Some(ContextValue::Strings(flags)) => flags.first().map(String::as_str),
        _ => None,
    };
    let variable = flag.and_then(|flag| {
        let long = flag.trim_start_matches("--").split([' ', '=', '[']).next()?;
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(long))?;
        Some(arg.get_env()?.to_string_lossy().into_owned())
    });
    // The first paragraph is the error; what follows is usage.
    let text = error.render().to_string();
    let told: Vec<&str> =
        text.trim_start_matches("error: ").lines().take_while(|line| !line.is_empty()).collect();
    let told = told.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    match variable {
        Some(variable) => format!("{variable}: {told}"),
        None => told,
    }
}

#[cfg(test)]
mod tests {
    use clap::{Arg, value_parser};

    use super::*;

    #[test]
    fn a_refused_value_names_its_variable_and_stays_on_one_line() {
        let command = Command::new("service").arg(
            Arg::new("listen")
                .long("listen")
                .env("ABISU_LISTEN")
                .value_parser(value_parser!(std::net::SocketAddr)),
        );
        let error = command.clone().try_get_matches_from(["service", "--listen", "here"]).unwrap_err();
        let line = line(&command, &error);
        assert!(line.starts_with("ABISU_LISTEN: invalid value 'here'"), "{line}");
        assert!(!line.contains('\n'), "{line}");
    }

    #[test]
    fn a_flag_that_is_not_known_is_named() {
        let command = Command::new("service");
        let error = command.clone().try_get_matches_from(["service", "--lissten"]).unwrap_err();
        assert!(line(&command, &error).contains("--lissten"));
    }
}
