//! The service `ingest` as a process, and the webhooks that it takes.

use std::net::SocketAddr;

use anyhow::Context;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use uuid::Uuid;
use xtask::stack::{Options, Stack};
use xtask::tree::{STATE, binaries};

/// Opens nothing: it signs what this program sends to itself.
pub(crate) const SECRET: &str = "bench-app-secret";
const NUMBER: &str = "100000000000001";
/// Where webhooks go.
pub(crate) const PATH: &str = "/whatsapp/webhook";
/// Citizens who write.
const CITIZENS: usize = 5_000;

/// The running service.
pub(crate) struct Door {
    pub(crate) stack: Stack,
    pub(crate) address: SocketAddr,
}

impl Door {
    /// Starts it on a database that is migrated first.
    pub(crate) async fn open(database: &str, environment: &[(&str, &str)]) -> anyhow::Result<Self> {
        let mut options = Options::new(binaries().await?);
        options.services = vec!["ingest"];
        options.simulator = false;
        options.database = Some(database.to_owned());
        options.logs = STATE.join("bench-logs");
        let needed = [
            ("ABISU_META_APP_SECRET", SECRET),
            ("ABISU_META_VERIFY_TOKEN", "bench-verify-token"),
            ("ABISU_META_PHONE_NUMBER_ID", NUMBER),
        ];
        let all = needed.iter().chain(environment);
        options.environment.extend(all.map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        let stack = Stack::start(options).await?;
        let url = stack.urls.ingest.strip_prefix("http://").context("the service listens on HTTP")?;
        let address = url.parse()?;
        Ok(Self { stack, address })
    }

    pub(crate) fn pid(&self) -> anyhow::Result<u32> {
        self.stack.pid("ingest").context("ingest is down")
    }
}

/// An id as Meta gives one.
pub(crate) fn message_id() -> String {
    format!("wamid.{}", Uuid::now_v7().simple())
}

/// A webhook of Meta with a text of some citizen for each id.
pub(crate) fn webhook(ids: &[String]) -> String {
    let text = |id: &String| {
        let citizen = rand::random_range(0..CITIZENS);
        format!(
            r#"{{"from":"346{citizen:08}","id":"{id}","timestamp":"1764500000","type":"text","text":{{"body":"Hay botellas en la acera desde el domingo"}}}}"#
        )
    };
    let texts: Vec<String> = ids.iter().map(text).collect();
    format!(
        r#"{{"object":"whatsapp_business_account","entry":[{{"id":"900","changes":[{{"field":"messages","value":{{"messaging_product":"whatsapp","metadata":{{"display_phone_number":"34945000000","phone_number_id":"{NUMBER}"}},"messages":[{}]}}}}]}}]}}"#,
        texts.join(",")
    )
}

/// What stands in the header of a webhook with this body.
pub(crate) fn sign(body: &str) -> anyhow::Result<String> {
    let mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes())?.chain_update(body);
    Ok(format!("sha256={}", hex::encode(mac.finalize().into_bytes())))
}
