//! The variables that all processes of a stack share.
//!
//! What the environment sets wins over the defaults here, also when it is set through its `…_FILE`; set to nothing
//! counts as not set. Listen addresses and database URLs are made per service and never inherited.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, bail};

use super::Urls;

/// Secrets of a stack that talks to simulators. They open nothing.
const FAKE_SECRETS: [(&str, &str); 5] = [
    ("ABISU_META_APP_SECRET", "fake-app-secret"),
    ("ABISU_META_VERIFY_TOKEN", "fake-verify-token"),
    ("ABISU_META_ACCESS_TOKEN", "fake-access-token"),
    ("ABISU_PARTNER_PASSWORD", "fake-password"),
    ("ABISU_MEDIA_SECRET", "fake-media-secret"),
];

/// The rest. Draining without the pause for load balancers: none is here.
const DEFAULTS: [(&str, &str); 5] = [
    ("ABISU_PARTNER_USER", "abisu"),
    ("ABISU_META_PHONE_NUMBER_ID", "100000000000001"),
    ("ABISU_META_WABA_ID", "200000000000002"),
    ("ABISU_PARTNER_ENABLED", "true"),
    ("ABISU_DRAIN_DELAY_MS", "0"),
];

/// Never inherited by a process of the stack.
const PER_PROCESS: [&str; 3] = ["ABISU_LISTEN", "ABISU_ADMIN_LISTEN", "ABISU_DATABASE_URL"];

/// The environment of a stack.
pub struct Settings {
    /// Over the environment of this process.
    over: BTreeMap<String, String>,
    defaults: BTreeMap<String, String>,
}

impl Settings {
    /// The environment of this process with `over` laid over it.
    pub(super) fn new(over: BTreeMap<String, String>) -> Self {
        Self { over, defaults: BTreeMap::new() }
    }

    /// What the environment says; nothing for a variable set to nothing.
    pub(super) fn environment(&self, name: &str) -> Option<String> {
        let value = self.over.get(name).cloned().or_else(|| std::env::var(name).ok());
        value.filter(|value| !value.is_empty())
    }

    /// What the environment says, directly or in a file.
    pub(super) fn resolve(&self, name: &str) -> anyhow::Result<Option<String>> {
        let file_name = format!("{name}_FILE");
        match (self.environment(name), self.environment(&file_name)) {
            (Some(_), Some(_)) => bail!("{name} and {file_name} are both set; keep one of them"),
            (Some(value), None) => Ok(Some(value)),
            (None, Some(path)) => {
                let text = std::fs::read_to_string(&path)
                    .with_context(|| format!("{file_name}: cannot read {path}"))?;
                Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
            }
            (None, None) => Ok(None),
        }
    }

    /// Refuses a stack whose services would have nobody to talk to.
    pub(super) fn check(&self, simulator: bool, services: &[&str]) -> anyhow::Result<()> {
        for (service, name) in
            [("conversation", "ABISU_META_GRAPH_URL"), ("partner-push", "ABISU_PARTNER_URL")]
        {
            if !simulator && services.contains(&service) && self.environment(name).is_none() {
                bail!("{name} is not set; without the simulators, set it to the base URL of your own server");
            }
        }
        Ok(())
    }

    /// Sets the defaults of everything that the environment leaves open.
    pub(super) fn fill(&mut self, urls: &Urls) -> anyhow::Result<()> {
        for (name, value) in FAKE_SECRETS.into_iter().chain(DEFAULTS) {
            self.default(name, value.to_owned())?;
        }
        self.default("ABISU_GEOCODE_URL", urls.geocode.clone())?;
        self.default("ABISU_MEDIA_URL", urls.ingest.clone())?;
        if let Some(simulator) = &urls.simulator {
            self.default("ABISU_META_GRAPH_URL", format!("{simulator}/meta"))?;
            self.default("ABISU_CARTOCIUDAD_URL", format!("{simulator}/cartociudad"))?;
            self.default("ABISU_PARTNER_URL", format!("{simulator}/partner"))?;
        }
        Ok(())
    }

    fn default(&mut self, name: &str, value: String) -> anyhow::Result<()> {
        if self.resolve(name)?.is_none() {
            self.defaults.insert(name.to_owned(), value);
        }
        Ok(())
    }

    /// Name and value of every secret, wherever it comes from.
    pub(super) fn secrets(&self) -> anyhow::Result<Vec<(&'static str, String)>> {
        let mut secrets = Vec::new();
        for (name, _) in FAKE_SECRETS {
            if let Some(value) = self.resolve(name)? {
                secrets.push((name, value));
            }
        }
        Ok(secrets)
    }

    /// Gives a process its environment.
    pub(super) fn apply(&self, command: &mut Command) {
        for name in PER_PROCESS {
            command.env_remove(name);
        }
        let over = self.over.iter().filter(|(name, _)| !PER_PROCESS.contains(&name.as_str()));
        command.envs(&self.defaults).envs(over);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn urls() -> Urls {
        Urls {
            ingest: "http://i".into(),
            geocode: "http://g".into(),
            database: "postgres://d".into(),
            simulator: Some("http://s".into()),
            admin: BTreeMap::new(),
        }
    }

    fn environment(of: &Settings) -> BTreeMap<String, Option<String>> {
        let mut command = Command::new("true");
        of.apply(&mut command);
        let text = |text: &std::ffi::OsStr| text.to_string_lossy().into_owned();
        command.get_envs().map(|(name, value)| (text(name), value.map(text))).collect()
    }

    #[test]
    fn what_is_set_wins_and_what_is_set_to_nothing_is_not_set() {
        let over = BTreeMap::from([
            ("ABISU_PARTNER_URL".to_owned(), "http://mine".to_owned()),
            ("ABISU_META_WABA_ID".to_owned(), String::new()),
            ("ABISU_LISTEN".to_owned(), "0.0.0.0:1".to_owned()),
        ]);
        let mut settings = Settings::new(over);
        settings.fill(&urls()).unwrap();
        assert_eq!(settings.environment("ABISU_PARTNER_URL").as_deref(), Some("http://mine"));
        let environment = environment(&settings);
        assert_eq!(environment["ABISU_PARTNER_URL"].as_deref(), Some("http://mine"));
        assert_eq!(environment["ABISU_META_GRAPH_URL"].as_deref(), Some("http://s/meta"));
        assert_eq!(environment["ABISU_LISTEN"], None, "listen addresses are never inherited");
        assert_eq!(settings.defaults["ABISU_META_WABA_ID"], "200000000000002");
    }

    #[test]
    fn a_secret_in_a_file_is_not_given_twice() {
        let file = std::env::temp_dir().join(format!("abisu-settings-{}", std::process::id()));
        std::fs::write(&file, "s3cret\n").unwrap();
        let over = BTreeMap::from([("ABISU_META_APP_SECRET_FILE".to_owned(), file.display().to_string())]);
        let mut settings = Settings::new(over);
        settings.fill(&urls()).unwrap();
        let secrets = settings.secrets().unwrap();
        std::fs::remove_file(file).unwrap();
        assert!(!environment(&settings).contains_key("ABISU_META_APP_SECRET"));
        assert!(secrets.contains(&("ABISU_META_APP_SECRET", "s3cret".to_owned())));
    }

    #[test]
    fn without_simulators_the_other_side_must_be_named() {
        let error =
            Settings::new(BTreeMap::new()).check(false, &super::super::SERVICES).unwrap_err().to_string();
        assert!(error.starts_with("ABISU_META_GRAPH_URL is not set"), "{error}");
        assert!(Settings::new(BTreeMap::new()).check(false, &["ingest"]).is_ok(), "it talks to nobody");
    }
}
