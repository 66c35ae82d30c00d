//! The services with two channels from a file, and a simulator that was there before them: the file names its address.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::json;
use tokio::process::{Child, Command};
use xtask::citizen::Simulator;
use xtask::stack::{Options, Stack};
use xtask::tree::{STATE, binaries};

use super::crowd::{CHANNEL, serve};

const NUMBER: &str = "100000000000001";
const WABA: &str = "200000000000002";
/// They open nothing.
const SECRETS: [(&str, &str); 4] = [
    ("BENCH_APP_SECRET", "bench-app-secret"),
    ("BENCH_VERIFY_TOKEN", "bench-verify-token"),
    ("BENCH_ACCESS_TOKEN", "bench-access-token"),
    ("BENCH_WEBHOOK_SECRET", "bench-webhook-secret"),
];
/// How long the simulator may take to start.
const PATIENCE: Duration = Duration::from_secs(10);

/// All of it, until it is dropped.
pub(super) struct Stage {
    _stack: Stack,
    _simulator: Child,
    url: String,
}

impl Stage {
    /// Starts everything on a database.
    pub(super) async fn set(database: &str) -> anyhow::Result<Self> {
        let folder = STATE.join("bench-logs");
        std::fs::create_dir_all(&folder)?;
        let address = format!("127.0.0.1:{}", xtask::ports::free()?);
        let url = format!("http://{address}");
        let simulator = Command::new(binaries().await?.join("simulator"))
            .env("SIMULATOR_LISTEN", &address)
            .env("ABISU_META_APP_SECRET", SECRETS[0].1)
            .env("ABISU_META_VERIFY_TOKEN", SECRETS[1].1)
            .env("ABISU_META_ACCESS_TOKEN", SECRETS[2].1)
            .env("ABISU_META_PHONE_NUMBER_ID", NUMBER)
            .env("ABISU_META_WABA_ID", WABA)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(folder.join("simulator.log"))?)
            .kill_on_drop(true)
            .spawn()
            .context("cannot start the simulator")?;
        let control = Simulator::new(&url)?;
        awake(&control).await?;
        let file = folder.join("channels.yaml");
        std::fs::write(&file, channels(&url, &serve()?))?;
        let mut options = Options::new(binaries().await?);
        options.simulator = false;
        options.database = Some(database.to_owned());
        options.logs.clone_from(&folder);
        let set = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        options.environment.extend(SECRETS.map(|(name, value)| set(name, value)));
        // The file has the channels; what the environment would say of one is set to nothing.
        let nothing = ["APP_SECRET", "VERIFY_TOKEN", "ACCESS_TOKEN", "PHONE_NUMBER_ID", "WABA_ID"];
        options.environment.extend(nothing.map(|name| set(&format!("ABISU_META_{name}"), "")));
        options.environment.extend([
            set("ABISU_CHANNELS_FILE", &file.to_string_lossy()),
            set("ABISU_META_GRAPH_URL", &format!("{url}/meta")),
            set("ABISU_CARTOCIUDAD_URL", &format!("{url}/cartociudad")),
            set("ABISU_PARTNER_URL", &format!("{url}/partner")),
            set("ABISU_PARTNER_ENABLED", "false"),
        ]);
        let stack = Stack::start(options).await?;
        let webhook = json!({"url": format!("{}/whatsapp/webhook", stack.urls.ingest)});
        control.post("/control/webhook", &webhook).await?;
        Ok(Self { _stack: stack, _simulator: simulator, url })
    }

    pub(super) fn simulator(&self) -> anyhow::Result<Simulator> {
        Simulator::new(&self.url)
    }
}

fn channels(simulator: &str, app: &str) -> String {
    format!(
        "channels:
  - id: whatsapp
    kind: whatsapp_meta
    default: true
    phone_number_id: \"{NUMBER}\"
    waba_id: \"{WABA}\"
    graph_url: \"{simulator}/meta\"
    app_secrets: [{{env: BENCH_APP_SECRET}}]
    verify_token: {{env: BENCH_VERIFY_TOKEN}}
    access_token: {{env: BENCH_ACCESS_TOKEN}}
  - id: {CHANNEL}
    kind: webhook
    url: \"{app}/\"
    secrets: [{{env: BENCH_WEBHOOK_SECRET}}]
"
    )
}

/// Waits until the simulator answers.
async fn awake(simulator: &Simulator) -> anyhow::Result<()> {
    let answers = async {
        while simulator.get("/control/health").await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    match tokio::time::timeout(PATIENCE, answers).await {
        Ok(()) => Ok(()),
        Err(_) => bail!("the simulator does not start; see its log"),
    }
}
