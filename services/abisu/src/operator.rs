//! Who acts and why: asked in the same way by every command that changes something by hand.

use crate::Failure;

/// What is kept with everything that a person does by hand.
#[derive(clap::Args)]
pub(crate) struct WhyArgs {
    /// Why, for those who ask later
    #[arg(long, value_parser = not_blank)]
    pub(crate) because: String,
    #[command(flatten)]
    pub(crate) by: ByArgs,
}

/// Who.
#[derive(clap::Args)]
pub(crate) struct ByArgs {
    /// Who does it; by default the user who is logged in
    #[arg(long, env = "ABISU_OPERATOR", value_parser = not_blank)]
    by: Option<String>,
}

impl ByArgs {
    /// Who acts: as told, else the login name. What nobody did is not done: in a container, where nobody is logged in,
    /// it must be told.
    ///
    /// # Errors
    /// Nobody is told or known.
    pub(crate) fn who(self) -> Result<String, Failure> {
        let login = || {
            let names = ["USER", "LOGNAME"].into_iter().filter_map(|name| std::env::var(name).ok());
            names.map(|name| name.trim().to_owned()).find(|name| !name.is_empty())
        };
        let problem = "who does this? give --by or set ABISU_OPERATOR";
        self.by.or_else(login).ok_or_else(|| Failure::Usage(problem.to_owned()))
    }
}

fn not_blank(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Err("must not be empty".to_owned()) } else { Ok(text.to_owned()) }
}
