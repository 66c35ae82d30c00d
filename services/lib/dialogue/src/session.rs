//! Where a conversation stands: the one value that is kept between two events.
//!
//! Every step carries its own data, so that a draft exists exactly while the step says so and a prompt exists
//! exactly while an answer is awaited.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::Language;

/// How many received reports a session remembers besides the last, to answer their forms again.
const REMEMBERED: usize = 9;

/// The state of one conversation. The default is an idle one that has never spoken.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// What is awaited.
    pub step: Step,
    /// The language chosen last; kept when idle, so that a late word is said in it.
    pub language: Option<Language>,
    /// The report received last.
    pub last_report: Option<LastReport>,
    /// Reports received before the last, newest first, bounded.
    pub earlier_reports: Vec<LastReport>,
    /// When the citizen was last reminded of what is awaited; reminders come at most once a minute.
    pub reminded_at: Option<DateTime<Utc>>,
}

/// A received report and the prompt whose form completed it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastReport {
    /// The report.
    pub report_id: Uuid,
    /// The token its form was sent with.
    pub prompt_token: Uuid,
}

/// What a conversation waits for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "snake_case")]
pub enum Step {
    /// Nothing: the next message starts a report.
    #[default]
    Idle,
    /// A language button.
    AwaitingLanguage {
        /// Token of the open prompt.
        prompt: Uuid,
    },
    /// A place.
    AwaitingLocation {
        /// Token of the open prompt.
        prompt: Uuid,
        /// How it was asked for.
        ask: LocationAsk,
    },
    /// The form; a draft exists.
    AwaitingForm {
        /// Token of the open prompt.
        prompt: Uuid,
        /// The draft.
        report_id: Uuid,
        /// Where the draft is.
        place: Place,
    },
}

/// How a place was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LocationAsk {
    /// Openly: a pin or an address.
    Asked,
    /// One candidate waits for a yes or a no.
    Confirm {
        /// The candidate.
        candidate: Candidate,
    },
    /// Several candidates wait for a choice.
    Choose {
        /// The candidates as shown, in order.
        options: Vec<Candidate>,
    },
    /// The street is known and its number is missing.
    NumberFor {
        /// The street, as the geocoder names it.
        street: String,
    },
}

/// WGS 84 coordinates in degrees.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// −90 to 90.
    pub latitude: f64,
    /// −180 to 180.
    pub longitude: f64,
}

impl Point {
    /// Whether this can be a place on earth at all.
    #[must_use]
    pub fn is_valid(self) -> bool {
        (-90.0..=90.0).contains(&self.latitude) && (-180.0..=180.0).contains(&self.longitude)
    }
}

/// A point inside the service area.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The point.
    pub point: Point,
    /// How the place is called, if that is known; one line, bounded.
    pub address: Option<String>,
    /// The service area that covers it.
    pub area_id: String,
    /// The version of the area that decided.
    pub area_version: i32,
}

/// A place the geocoder proposes; it has passed the gate of the service area.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The point.
    pub point: Point,
    /// The address to show.
    pub address: String,
    /// The service area that covers it.
    pub area_id: String,
    /// The version of the area that decided.
    pub area_version: i32,
}

impl Step {
    /// The name in rows and metrics: `idle`, `awaiting_language`, `awaiting_location` or `awaiting_form`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::AwaitingLanguage { .. } => "awaiting_language",
            Self::AwaitingLocation { .. } => "awaiting_location",
            Self::AwaitingForm { .. } => "awaiting_form",
        }
    }

    /// The same step waiting for the answer to another prompt.
    #[must_use]
    pub(crate) fn renewed(&self, token: Uuid) -> Self {
        match self {
            Self::Idle => Self::Idle,
            Self::AwaitingLanguage { .. } => Self::AwaitingLanguage { prompt: token },
            Self::AwaitingLocation { ask, .. } => Self::AwaitingLocation { prompt: token, ask: ask.clone() },
            Self::AwaitingForm { report_id, place, .. } => {
                Self::AwaitingForm { prompt: token, report_id: *report_id, place: place.clone() }
            }
        }
    }
}

impl Session {
    /// The draft of this conversation, if it has one.
    #[must_use]
    pub fn report_id(&self) -> Option<Uuid> {
        match &self.step {
            Step::Idle | Step::AwaitingLanguage { .. } | Step::AwaitingLocation { .. } => None,
            Step::AwaitingForm { report_id, .. } => Some(*report_id),
        }
    }

    /// The token of the open prompt, if an answer is awaited.
    #[must_use]
    pub fn prompt(&self) -> Option<Uuid> {
        match &self.step {
            Step::Idle => None,
            Step::AwaitingLanguage { prompt }
            | Step::AwaitingLocation { prompt, .. }
            | Step::AwaitingForm { prompt, .. } => Some(*prompt),
        }
    }

    /// The language to speak in now; `None` means both, because the language is just being asked for or was
    /// never chosen.
    #[must_use]
    pub fn voice(&self) -> Option<Language> {
        match &self.step {
            Step::AwaitingLanguage { .. } => None,
            Step::Idle | Step::AwaitingLocation { .. } | Step::AwaitingForm { .. } => self.language,
        }
    }

    /// The received report that was completed by the form with this token.
    pub(crate) fn completed_by(&self, token: Uuid) -> Option<&LastReport> {
        self.last_report.iter().chain(&self.earlier_reports).find(|report| report.prompt_token == token)
    }

    /// Remembers a received report.
    pub(crate) fn remember(&mut self, report: LastReport) {
        if let Some(previous) = self.last_report.replace(report) {
            self.earlier_reports.insert(0, previous);
            self.earlier_reports.truncate(REMEMBERED);
        }
    }
}
