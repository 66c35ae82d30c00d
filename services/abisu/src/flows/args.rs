//! `abisu flows` and its arguments.

use std::path::PathBuf;

use clap::Subcommand;
use runtime::city::CityFilesArgs;
use runtime::config::DatabaseArgs;

use super::accounts::AccountArgs;

#[derive(Subcommand)]
pub(crate) enum FlowsCommand {
    /// Check the taxonomy, the catalogs, the contractor's mapping and the forms made from them; or Flow JSON files
    Check {
        /// Flow JSON files to check instead, whoever made them
        files: Vec<PathBuf>,
        #[command(flatten)]
        city: CityFilesArgs,
    },
    /// Print the screens of a form as a tree
    Preview {
        /// Language of the form
        #[arg(long, alias = "language")]
        lang: String,
        #[command(flatten)]
        city: CityFilesArgs,
    },
    /// Write the Flow JSON of each language
    Build {
        /// Only this language
        #[arg(long, alias = "language")]
        lang: Option<String>,
        /// Folder for report.<language>.json; without it the one language is printed
        #[arg(long)]
        out: Option<PathBuf>,
        #[command(flatten)]
        city: CityFilesArgs,
    },
    /// Say what differs between two Flow JSON files
    Diff {
        /// The file before
        old: PathBuf,
        /// The file after
        new: PathBuf,
    },
    /// Upload and publish the form of each language, for each Meta channel; what is live already is left alone
    Publish(Box<PublishArgs>),
}

#[derive(clap::Args)]
pub(crate) struct PublishArgs {
    /// Only this language
    #[arg(long, alias = "language")]
    pub(crate) lang: Option<String>,
    /// Only say what would be done
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Leave the forms as drafts, which only test numbers are sent
    #[arg(long, conflicts_with = "deprecate_old")]
    pub(crate) draft: bool,
    /// Deprecate the forms that are no longer sent; what was sent of them cannot be opened any more
    #[arg(long)]
    pub(crate) deprecate_old: bool,
    #[command(flatten)]
    pub(crate) accounts: AccountArgs,
    #[command(flatten)]
    pub(crate) city: CityFilesArgs,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
}
