//! The contractor's category of a report, by the taxonomy that the citizen's form was made from.
//!
//! The taxonomy of the city's files needs no database. Every other version is read once from its release, which never
//! changes: an answer to an older form is mapped from that row alone, whatever the files say by now.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use flow_json::{PartnerCategory, Taxonomy};
use sqlx::PgPool;

use crate::error::Error;
use crate::store;

/// Taxonomies by version.
pub(crate) struct Taxonomies {
    current: Taxonomy,
    released: Mutex<HashMap<String, Arc<Taxonomy>>>,
}

impl Taxonomies {
    pub(crate) fn new(current: Taxonomy) -> Self {
        Self { current, released: Mutex::default() }
    }

    /// What the contractor is told for `route`. Without a version, the taxonomy of the city's files is meant. A version
    /// is a hash of what a taxonomy means, so the same version means the same in a file and in a row.
    pub(crate) async fn category(
        &self,
        pool: &PgPool,
        version: Option<&str>,
        route: &str,
    ) -> Result<PartnerCategory, Error> {
        match version.filter(|version| *version != self.current.version()) {
            None => category_in(&self.current, route),
            Some(version) => category_in(&*self.release(pool, version).await?, route),
        }
    }

    async fn release(&self, pool: &PgPool, version: &str) -> Result<Arc<Taxonomy>, Error> {
        let known = self.released.lock().unwrap_or_else(PoisonError::into_inner).get(version).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let compiled = store::compiled_taxonomy(pool, version)
            .await?
            .ok_or_else(|| Error::UnknownVersion(version.to_owned()))?;
        let taxonomy = Taxonomy::from_compiled(&compiled)
            .map_err(|source| Error::UnreadableRelease { version: version.to_owned(), source })?;
        let taxonomy = Arc::new(taxonomy);
        self.released
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(version.to_owned(), Arc::clone(&taxonomy));
        Ok(taxonomy)
    }
}

fn category_in(taxonomy: &Taxonomy, route: &str) -> Result<PartnerCategory, Error> {
    taxonomy
        .leaf(route)
        .and_then(|leaf| leaf.partner.clone())
        .ok_or_else(|| Error::Unmapped { version: taxonomy.version().to_owned(), route: route.to_owned() })
}
