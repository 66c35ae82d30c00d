//! Reports that were received and wait to be pushed.

use uuid::Uuid;

use super::{CHANNEL, World};

impl World {
    /// A received report without a photo. Returns its id.
    pub(crate) async fn received(&self, reference: &str) -> Uuid {
        let id = Uuid::now_v7();
        sqlx::query(
            "insert into report.report (id, channel, chat_id, state, reference, language, point, area_id, \
             area_version, route, received_at) \
             values ($1, $2, $3, 'received', $4, 'es', public.st_setsrid(public.st_makepoint(-2.67, 42.85), 4326), \
             '01059', 1, 'container/overflowing/glass', now())",
        )
        .bind(id)
        .bind(CHANNEL)
        .bind(Uuid::now_v7())
        .bind(reference)
        .execute(&self.pool)
        .await
        .expect("the report is valid");
        id
    }

    /// Push state, attempts and the partner's id of a report.
    pub(crate) async fn push_of(&self, report: Uuid) -> (String, i32, Option<String>) {
        sqlx::query_as("select push_state, push_attempts, partner_id from report.report where id = $1")
            .bind(report)
            .fetch_one(&self.pool)
            .await
            .expect("the report exists")
    }
}
