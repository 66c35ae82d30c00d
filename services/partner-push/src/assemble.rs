//! A report in the contractor's words, and in a smaller form when it was refused for its size.

use bus::outbox::{Claimed, Outcome, Photo};
use chrono::Utc;
use partner::{Answer, Incident, Photos, Picture};

use crate::ending::Ending;
use crate::push::{Pusher, SOON};
use crate::shrink::shrink;

/// An incident on its way, and how far its photo has been given up.
pub(crate) struct Parcel {
    pub(crate) incident: Incident,
    shrunk: bool,
}

impl Parcel {
    /// The word on the timeline.
    pub(crate) const fn photo(&self) -> &'static str {
        match (&self.incident.picture, self.shrunk) {
            (Picture::Photo { .. }, false) => "sent",
            (Picture::Link(_), _) => "linked",
            (Picture::None, _) => "unwanted",
            (Picture::Photo { .. }, true) => "shrunk",
            (Picture::TooLarge, _) => "too_large",
            (Picture::Missing, _) => "missing",
        }
    }

    /// Makes it smaller after a 413: first the photo, then no photo, under the same external code. False: it cannot
    /// be made any smaller, or its size was not the matter.
    pub(crate) async fn reduce(&mut self, answer: Option<&Answer>) -> bool {
        if answer.is_none_or(|answer| answer.status != 413 || answer.already_exists) {
            return false;
        }
        let smaller = match &self.incident.picture {
            Picture::TooLarge | Picture::Missing | Picture::None => return false,
            Picture::Photo { .. } if self.shrunk => None,
            // What a link leads to has one size.
            Picture::Link(_) => None,
            Picture::Photo { bytes, .. } => shrink(bytes.clone()).await,
        };
        self.incident.picture = match smaller {
            Some(bytes) => Picture::Photo { content_type: "image/jpeg".to_owned(), bytes },
            None => Picture::TooLarge,
        };
        self.shrunk = true;
        true
    }
}

impl Pusher {
    /// Puts the report together, or says why it cannot be.
    pub(crate) async fn assemble(&self, claimed: &Claimed, photo: Option<Photo>) -> Result<Parcel, Ending> {
        let picture = match (self.partner.photos(), photo) {
            (Photos::Unwanted, _) => Picture::None,
            (_, None) => match self.missing_photo(claimed).await? {
                Some(photo) => self.picture(photo).await,
                None => Picture::Missing,
            },
            (Photos::Inline | Photos::Linked, Some(photo)) => self.picture(photo).await,
        };
        let version = claimed.taxonomy_version.as_deref();
        let found = self.taxonomies.category(&self.ledger.pool, version, &claimed.route).await;
        let told = found.map_err(|error| {
            let (code, outcome) = (error.code(), Outcome::Defer(error.wait()));
            let chain = format!("{:#}", anyhow::Error::from(error));
            tracing::error!(
                report.id = %claimed.report_id,
                error.code = code,
                error = chain,
                "a report cannot be put together: it waits until somebody acts"
            );
            Ending::unsent(outcome, code)
        })?;
        let note = match (claimed.note.as_deref(), told.option_note.as_deref()) {
            (Some(note), Some(option)) => Some(format!("{note}\n{option}")),
            (note, option) => note.or(option).map(str::to_owned),
        };
        let incident = Incident {
            external_code: claimed.reference.clone(),
            category: told.category,
            latitude: claimed.latitude,
            longitude: claimed.longitude,
            address: claimed.address.clone(),
            note,
            reported_at: claimed.received_at,
            picture,
        };
        Ok(Parcel { incident, shrunk: false })
    }

    async fn picture(&self, photo: Photo) -> Picture {
        // The configuration has been checked: a platform that takes links has them.
        match (self.partner.photos(), &self.links) {
            (Photos::Inline, _) => {
                Picture::Photo { content_type: photo.content_type, bytes: photo.bytes.into() }
            }
            (Photos::Linked, Some(links)) => Picture::Link(links.link(&photo.bytes, Utc::now()).await),
            (Photos::Linked, None) | (Photos::Unwanted, _) => Picture::None,
        }
    }

    /// It is claimed without its photo only when the time to wait for it is over. Then a person says whether it goes;
    /// unless it has come at the moment of the claim.
    async fn missing_photo(&self, claimed: &Claimed) -> Result<Option<Photo>, Ending> {
        let found = sqlx::query_file!("src/store/look_for_photo.sql", claimed.report_id)
            .fetch_optional(&self.ledger.pool)
            .await;
        match found {
            Ok(Some(row)) => match (row.content_type, row.bytes) {
                (Some(content_type), Some(bytes)) => Ok(Some(Photo { content_type, bytes })),
                _ if row.push_without_photo => Ok(None),
                _ => Err(Ending::unsent(Outcome::Review, "photo_missing")),
            },
            Ok(None) => Err(Ending::unsent(Outcome::Review, "photo_missing")),
            Err(error) => {
                tracing::warn!(report.id = %claimed.report_id, %error, "a report cannot be put together");
                Err(Ending::unsent(Outcome::Defer(SOON), "database_unavailable"))
            }
        }
    }
}
