//! The commands and their arguments. `--help` is the reference.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use runtime::config::{DatabaseArgs, parse_base_url};

/// Operate an Abisu installation
#[derive(Parser)]
#[command(name = "abisu", version)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Bring the database to this version's schema, and make partitions for the days ahead
    Migrate {
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// The area a city serves
    #[command(subcommand)]
    Area(AreaCommand),
    /// One report
    #[command(subcommand)]
    Report(ReportCommand),
    /// The queues
    #[command(subcommand)]
    Queue(QueueCommand),
    /// The forms that citizens fill in
    #[command(subcommand)]
    Flows(FlowsCommand),
}

#[derive(Subcommand)]
pub(crate) enum AreaCommand {
    /// Load a service area from GeoJSON as its next version; a shape that is in force already changes nothing
    Load {
        /// Feature, FeatureCollection, Polygon or MultiPolygon in WGS 84, longitude first
        file: PathBuf,
        /// Id of the area; by default the property `area_id`, else the file's name without its ending
        #[arg(long)]
        area_id: Option<String>,
        #[command(flatten)]
        database: DatabaseArgs,
    },
}

#[derive(Subcommand)]
pub(crate) enum ReportCommand {
    /// Show a report, its timeline and every attempt to hand it over
    Show {
        /// The citizen's reference, as REF-2026-00001
        reference: String,
        /// As one JSON object
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseArgs,
    },
}

#[derive(Subcommand)]
pub(crate) enum QueueCommand {
    /// Say how every queue stands, per channel
    Status {
        /// As one JSON array
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        database: DatabaseArgs,
    },
}

#[derive(Subcommand)]
pub(crate) enum FlowsCommand {
    /// Upload and publish the form of each language; what is published already is left alone
    Publish(Box<PublishArgs>),
}

#[derive(clap::Args)]
pub(crate) struct PublishArgs {
    /// Only this language (es, eu)
    #[arg(long)]
    pub(crate) language: Option<String>,
    /// Id of the channel that sends the forms
    #[arg(long, default_value = "whatsapp")]
    pub(crate) channel: String,
    /// Base of the Graph API, without the version
    #[arg(
        long,
        env = "ABISU_META_GRAPH_URL",
        default_value = "https://graph.facebook.com",
        value_parser = parse_base_url
    )]
    pub(crate) graph_url: String,
    /// Version of the Graph API
    #[arg(long, env = "ABISU_META_GRAPH_VERSION", default_value = "v26.0")]
    pub(crate) graph_version: String,
    /// Id of the phone number
    #[arg(long, env = "ABISU_META_PHONE_NUMBER_ID")]
    pub(crate) phone_number_id: Option<String>,
    /// Id of the WhatsApp Business Account
    #[arg(long, env = "ABISU_META_WABA_ID")]
    pub(crate) waba_id: Option<String>,
    /// Access token of the Graph API
    #[arg(long, env = "ABISU_META_ACCESS_TOKEN", hide_env_values = true)]
    pub(crate) access_token: Option<String>,
    /// File that holds the access token
    #[arg(long, env = "ABISU_META_ACCESS_TOKEN_FILE")]
    pub(crate) access_token_file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Args::command().debug_assert();
    }
}
