//! `abisu channels list` and `resume`.

use serde_json::Value;
use sqlx::Executor;

use crate::abisu;

const ROWS: &str = "
insert into chat.channel_state (channel, paused_at, pause_reason, probe_at)
values ('whatsapp', now(), 'the Graph API refused, code 131042', now() + interval '5 minutes'), ('app', null, null, null);
insert into chat.sender (id, channel, ready_at) values (gen_random_uuid(), 'whatsapp', now());
";

#[tokio::test]
async fn a_paused_channel_is_listed_with_its_reason_and_goes_on_by_hand_once_with_who_and_why() {
    let database = testkit::database().await;
    let run = async |args: &[&str]| {
        let args: Vec<&str> = ["channels"].iter().chain(args).copied().collect();
        abisu(Some(&database.url), &[("ABISU_OPERATOR", "ane")], &args).await
    };
    assert_eq!(run(&["list"]).await.out, "nothing was sent on any channel yet\n");
    database.pool.execute(ROWS).await.unwrap();
    let listed = run(&["list"]).await.out;
    assert!(listed.contains("whatsapp: paused since") && listed.contains("code 131042"), "{listed}");
    assert!(listed.contains("app: sends"), "{listed}");

    let resumed = run(&["resume", "whatsapp", "--because", "the invoice is paid"]).await;
    assert!(resumed.out.starts_with("channel whatsapp goes on; 0 replies wait"), "{}", resumed.out);
    let again = run(&["resume", "whatsapp"]).await;
    assert_eq!(again.out, "channel whatsapp was not paused: nothing changed\n");
    let unknown = run(&["resume", "other", "--because", "a slip"]).await;
    assert!(unknown.out.contains("nothing was ever sent on it"), "{}", unknown.out);

    let listed: Value = serde_json::from_str(&run(&["list", "--json"]).await.out).unwrap();
    assert_eq!(listed[1]["channel"], "whatsapp");
    assert!(listed[1]["paused_at"].is_null() && listed[1]["waiting"] == 1);
    assert_eq!((&listed[1]["by"], &listed[1]["because"]), (&"ane".into(), &"the invoice is paid".into()));
    let noted: i64 =
        sqlx::query_scalar("select count(*) from inbound.operation where act = 'channel_resume'")
            .fetch_one(&database.pool)
            .await
            .unwrap();
    assert_eq!(noted, 1);
}
