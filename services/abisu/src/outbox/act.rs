//! What a person does to the outbox. Each act is kept in `report.push_act` with who, when and why.

use std::fmt::Write;

use bus::operate::Act;
use bus::outbox::operate::{self, Acted};
use runtime::config::DatabaseArgs;

use super::args::ChannelArgs;
use crate::Failure;
use crate::connect::connect;
use crate::operator::WhyArgs;

/// What a person found out about a report.
pub(crate) enum Decision {
    /// The contractor has it, under this id.
    Sent(String),
    /// The contractor does not have it.
    Resend { without_photo: bool },
}

pub(crate) async fn switch(
    paused: bool,
    channel: ChannelArgs,
    why: WhyArgs,
    database: DatabaseArgs,
) -> Result<String, Failure> {
    let (channel, by, because) = (channel.channel, why.by.who()?, why.because);
    let mut on = connect(database).await?;
    let switched = sqlx::query_file!("src/outbox/store/switch_gate.sql", channel, paused, by, because)
        .fetch_one(&mut on)
        .await?;
    let mut text = match (switched.switched, paused) {
        (true, true) => {
            format!("channel {channel} is paused: nothing more goes out until `abisu outbox resume`\n")
        }
        (true, false) => {
            format!("channel {channel} is no longer paused; reports go where ABISU_PARTNER_ENABLED is on\n")
        }
        (false, true) => format!("channel {channel} was paused already: nothing changed\n"),
        (false, false) if switched.hurried => format!("channel {channel} was not paused\n"),
        (false, false) => format!("channel {channel} was not paused: nothing changed\n"),
    };
    if switched.hurried {
        text.push_str("the contractor was failing: it is tried again now, with one report\n");
    }
    // Writing to a String cannot fail.
    if paused && switched.under_way > 0 {
        let _ =
            writeln!(text, "{} requests may have left already; they end as they would", switched.under_way);
    }
    if !switched.known {
        let _ = writeln!(text, "no report of this channel is known yet");
    }
    Ok(text)
}

pub(crate) async fn discard(
    references: Vec<String>,
    why: WhyArgs,
    database: DatabaseArgs,
) -> Result<String, Failure> {
    let by = why.by.who()?;
    let mut on = connect(database).await?;
    let (mut text, mut refused) = (String::new(), Vec::new());
    for reference in references {
        let reference = reference.trim().to_uppercase();
        let act = Act { by: &by, because: &why.because };
        let found = operate::discard(&mut on, &reference, act).await?;
        match found {
            Some(Acted { done: true, .. }) => {
                let _ = writeln!(text, "{reference} is discarded: it is dead and will not be sent");
            }
            found => refused.push(refusal(&reference, found.as_ref(), "it cannot be discarded")),
        }
    }
    if refused.is_empty() {
        return Ok(text);
    }
    // What was done is said all the same, on the one line that there is.
    let done = text.lines().collect::<Vec<_>>().join("; ");
    let refused = refused.join("; ");
    let all = if done.is_empty() { refused } else { format!("{refused}; but {done}") };
    Err(Failure::Failed(anyhow::Error::msg(all)))
}

pub(crate) async fn resolve(
    reference: &str,
    decision: Decision,
    force: bool,
    why: WhyArgs,
    database: DatabaseArgs,
) -> Result<String, Failure> {
    let reference = reference.trim().to_uppercase();
    let by = why.by.who()?;
    let mut on = connect(database).await?;
    let act = Act { by: &by, because: &why.because };
    let found = match &decision {
        Decision::Sent(id) => operate::resolve_as_sent(&mut on, &reference, id, force, act).await?,
        Decision::Resend { without_photo } => {
            operate::resend(&mut on, &reference, *without_photo, force, act).await?
        }
    };
    match (&found, &decision) {
        (Some(Acted { done: true, .. }), Decision::Sent(id)) => {
            Ok(format!("{reference} is sent, as {id} at the contractor\n"))
        }
        (Some(Acted { done: true, push_state, .. }), Decision::Resend { .. }) => {
            let risk = if push_state == "sent" { "; the contractor may now have it twice" } else { "" };
            Ok(format!("{reference} is pending again and goes out as soon as sending is possible{risk}\n"))
        }
        (Some(Acted { push_state, under_way: false, .. }), _) if push_state == "sent" => {
            Err(Failure::Failed(anyhow::anyhow!(
                "{reference} counts as sent: the contractor has it, and sending it again can send a second crew; \
                 if you are sure, add --force"
            )))
        }
        (found, Decision::Sent(_) | Decision::Resend { .. }) => {
            let problem = refusal(&reference, found.as_ref(), "there is nothing to resolve");
            Err(Failure::Failed(anyhow::Error::msg(problem)))
        }
    }
}

fn refusal(reference: &str, found: Option<&Acted>, otherwise: &str) -> String {
    match found {
        None => format!("no report has the reference {reference}"),
        Some(found) if found.under_way => format!(
            "{reference} is with a worker, or its last request may still be on its way: try again in two minutes"
        ),
        Some(found) => format!("{reference} is {}: {otherwise}", found.push_state),
    }
}
