//! Which channels there are: one from the environment, or those of a file, and beside either the synthetic one. A file and
//! a channel from the environment together would leave open which of them a number belongs to, so that refuses to start.

use std::path::PathBuf;

use channel::config::{Account, ChannelsFile, Loaded, Meta, Provider, Purpose, SYNTHETIC, SecretRef};
use channel::config::{Source, Webhook};
use runtime::ConfigError;
use runtime::config::{optional_secret, required_secret};

use super::CHANNEL;

const CHANNELS_FILE: &str = "ABISU_CHANNELS_FILE";
const ACCESS_TOKEN: &str = "ABISU_META_ACCESS_TOKEN";
const NUMBER_ID: &str = "ABISU_META_PHONE_NUMBER_ID";

/// What flags and environment say about channels.
#[derive(Default)]
pub(super) struct Given {
    pub(super) file: Option<PathBuf>,
    pub(super) graph_url: String,
    pub(super) graph_version: String,
    pub(super) phone_number_id: Option<String>,
    pub(super) access_token: Option<String>,
    pub(super) access_token_file: Option<PathBuf>,
    pub(super) test_numbers: Vec<String>,
    pub(super) synthetic_secret: Option<String>,
    pub(super) synthetic_secret_file: Option<PathBuf>,
}

/// The channels, with what they send with.
///
/// # Errors
/// What is missing, wrong or said twice.
pub(super) fn load(given: Given) -> Result<Loaded, ConfigError> {
    let synthetic = optional_secret(
        SYNTHETIC_SECRET,
        given.synthetic_secret.clone(),
        given.synthetic_secret_file.clone(),
    )?;
    let loaded = match given.file.clone().filter(|path| !path.as_os_str().is_empty()) {
        Some(path) => {
            if let Some(name) = given.of_environment() {
                let problem = format!("is set, and so is {name}; list that channel in the file");
                return Err(ConfigError::invalid(CHANNELS_FILE, problem));
            }
            Loaded::read(&path, Purpose::Send, |name| std::env::var(name).ok())
                .map_err(|problem| ConfigError::invalid(CHANNELS_FILE, problem))?
        }
        None => from_environment(given)?,
    };
    // Here its secret only says that it is switched on: nothing that is sent to it leaves.
    if synthetic.is_none() {
        return Ok(loaded);
    }
    let provider = Provider::Webhook(Webhook {
        secrets: Vec::new(),
        url: None,
        media_hosts: Vec::new(),
        synthetic: true,
    });
    loaded.with(Account { id: SYNTHETIC.to_owned(), provider }).ok_or_else(|| {
        ConfigError::invalid(SYNTHETIC_SECRET, "is set, and the file of channels lists that channel too")
    })
}

const SYNTHETIC_SECRET: &str = "ABISU_SYNTHETIC_CHANNEL_SECRET";

fn from_environment(given: Given) -> Result<Loaded, ConfigError> {
    let phone_number_id = given
        .phone_number_id
        .filter(|id| !id.trim().is_empty())
        .ok_or_else(|| ConfigError::invalid(NUMBER_ID, "not set; it is in the app's dashboard"))?;
    // Read once here for what is wrong with it; from its file it is read again later.
    required_secret(ACCESS_TOKEN, given.access_token.clone(), given.access_token_file.clone())?;
    let at = |source| SecretRef { source, line: 0, field: "access_token" };
    let token = match given.access_token_file.filter(|path| !path.as_os_str().is_empty()) {
        Some(path) => at(Source::File(path)),
        None => at(Source::Env(ACCESS_TOKEN.to_owned())),
    };
    let mut test_numbers = Vec::new();
    for number in given.test_numbers.iter().map(|number| number.trim()).filter(|number| !number.is_empty()) {
        let digits = number.strip_prefix('+').unwrap_or(number);
        if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(ConfigError::invalid("ABISU_META_TEST_NUMBERS", "must be numbers, digits"));
        }
        test_numbers.push(digits.to_owned());
    }
    let meta = Meta {
        default: true,
        phone_number_id: phone_number_id.trim().to_owned(),
        waba_id: None,
        graph_url: given.graph_url,
        graph_version: given.graph_version,
        // What proves a provider's calls is ingest's alone.
        app_secrets: Vec::new(),
        verify_token: at(Source::Env("ABISU_META_VERIFY_TOKEN".to_owned())),
        access_token: Some(token),
        test_numbers,
    };
    let account = Account { id: CHANNEL.to_owned(), provider: Provider::Meta(meta) };
    let value = given.access_token;
    Loaded::of(ChannelsFile::of(account), Purpose::Send, |_| value.clone())
        .map_err(|error| ConfigError::invalid(ACCESS_TOKEN, error.to_string()))
}

impl Given {
    /// The first variable of a channel from the environment that is set.
    fn of_environment(&self) -> Option<&'static str> {
        let text = |value: &Option<String>| value.as_ref().is_some_and(|value| !value.is_empty());
        let path = |value: &Option<PathBuf>| value.as_ref().is_some_and(|path| !path.as_os_str().is_empty());
        let all = [
            (NUMBER_ID, text(&self.phone_number_id)),
            (ACCESS_TOKEN, text(&self.access_token)),
            ("ABISU_META_ACCESS_TOKEN_FILE", path(&self.access_token_file)),
            ("ABISU_META_TEST_NUMBERS", self.test_numbers.iter().any(|number| !number.is_empty())),
        ];
        all.into_iter().find_map(|(name, given)| given.then_some(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment() -> Given {
        Given {
            graph_url: "https://graph.example".to_owned(),
            graph_version: "v26.0".to_owned(),
            phone_number_id: Some("1".to_owned()),
            access_token: Some("s3cret".to_owned()),
            ..Given::default()
        }
    }

    fn refused(given: Given) -> String {
        load(given).unwrap_err().to_string()
    }

    fn file(name: &str, text: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("abisu-conv-channels-{name}-{}", std::process::id()));
        std::fs::write(&path, text).unwrap();
        path
    }

    #[test]
    fn one_channel_comes_from_the_environment_and_the_synthetic_one_beside_it() {
        let loaded = load(environment()).unwrap();
        let [account] = &loaded.accounts()[..] else { panic!("one channel") };
        assert_eq!((account.id.as_str(), account.lacks()), ("whatsapp", None));
        assert!(!format!("{loaded:?}").contains("s3cret"), "secrets are not shown");
        let loaded = load(Given { synthetic_secret: Some("s".to_owned()), ..environment() }).unwrap();
        let ids: Vec<String> = loaded.accounts().into_iter().map(|account| account.id).collect();
        assert_eq!(ids, ["whatsapp", "synthetic"]);
    }

    #[test]
    fn what_is_missing_or_said_twice_refuses_by_name() {
        let none = Given { phone_number_id: None, ..environment() };
        assert!(refused(none).starts_with("ABISU_META_PHONE_NUMBER_ID: not set"));
        assert!(
            refused(Given { access_token: None, ..environment() }).starts_with("ABISU_META_ACCESS_TOKEN")
        );
        let numbers = Given { test_numbers: vec!["Ane".to_owned()], ..environment() };
        assert!(refused(numbers).starts_with("ABISU_META_TEST_NUMBERS:"));
        let both = Given { file: Some("/nowhere".into()), ..environment() };
        let error = refused(both);
        assert!(error.starts_with("ABISU_CHANNELS_FILE: is set, and so is ABISU_META_"), "{error}");
    }

    #[test]
    fn a_file_must_say_what_each_channel_sends_with_and_need_not_show_what_proves_calls() {
        let text = "channels:\n  - id: a\n    kind: whatsapp_meta\n    default: true\n    phone_number_id: 1\n    \
                    app_secrets: [{file: /nowhere}]\n    verify_token: {file: /nowhere}\n";
        let path = file("bare", text);
        let error = refused(Given { file: Some(path.clone()), ..Given::default() });
        assert!(error.contains("line 2, access_token: is missing; the channel a has nothing"), "{error}");
        std::fs::write(&path, format!("{text}    access_token: {{file: {}}}\n", path.display())).unwrap();
        let loaded = load(Given { file: Some(path.clone()), ..Given::default() }).unwrap();
        assert_eq!(loaded.accounts().len(), 1);
        std::fs::remove_file(path).unwrap();

        let synthetic = "channels: [{id: synthetic, kind: synthetic, secrets: [{env: X}]}]";
        let path = file("synthetic", synthetic);
        let twice =
            Given { file: Some(path.clone()), synthetic_secret: Some("s".to_owned()), ..Given::default() };
        assert!(refused(twice).starts_with("ABISU_SYNTHETIC_CHANNEL_SECRET: is set, and the file"));
        std::fs::remove_file(path).unwrap();
    }
}
