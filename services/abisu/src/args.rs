//! The commands and their arguments. `--help` is the reference.

use clap::{Parser, Subcommand};
use runtime::config::DatabaseArgs;

use crate::area::AreaCommand;
use crate::geocoder::GeocoderCommand;

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
    /// The streets and doors that geocode searches when it asks nobody else
    #[command(subcommand)]
    Geocoder(GeocoderCommand),
    /// One report
    #[command(subcommand)]
    Report(ReportCommand),
    /// The queues
    #[command(subcommand)]
    Queue(crate::queue::QueueCommand),
    /// What goes to the contractor
    #[command(subcommand)]
    Outbox(crate::outbox::OutboxCommand),
    /// Erase what a citizen told us, on every channel; references and counters stay
    Erase(crate::erase::EraseArgs),
    /// The forms that citizens fill in
    #[command(subcommand)]
    Flows(crate::flows::FlowsCommand),
    /// Try the installation out on a channel that leads nowhere
    #[command(subcommand)]
    Synthetic(crate::synthetic::SyntheticCommand),
    /// The channels that messages come and go by
    #[command(subcommand)]
    Channels(crate::channels::ChannelsCommand),
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

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Args::command().debug_assert();
    }
}
