//! A delivery, taken apart by whom its messages are from, and a batch, taken apart when it was refused.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use uuid::Uuid;

use super::ticket::{Item, Ticket, What};
use super::{Delivery, NewEvent};

/// Memory of an item beside what it says.
const OVERHEAD: usize = 1024;
/// Memory of what a body says, in bodies: itself, and its messages, normalised, as trees.
const COPIES: usize = 4;

/// The rows of a delivery, at least its own.
pub(super) fn count(delivery: &Delivery) -> usize {
    (delivery.events.len() + delivery.receipts.len()).max(1)
}

/// About how much memory its pieces take. The messages are no longer than the body they were in, normalised.
pub(super) fn bytes(delivery: &Delivery) -> usize {
    COPIES * delivery.body.len() + OVERHEAD * count(delivery)
}

/// Ids of its events, in its order.
pub(super) fn ids(delivery: &Delivery) -> Vec<Uuid> {
    delivery.events.iter().map(|event| event.activity_id).collect()
}

/// Takes a delivery apart, in its order. `bytes` is what each piece is weighed as.
pub(super) fn items(delivery: Delivery, bytes: usize, ticket: &Arc<Ticket>) -> Vec<Item> {
    let own = hash(&(&delivery.channel, "delivery", delivery.delivery_id));
    let item = |group, what| Item { ticket: Arc::clone(ticket), group, bytes, what };
    let groups = groups(&delivery);
    let events = groups.into_iter().zip(delivery.events);
    let mut items: Vec<Item> = events.map(|(group, event)| item(group, What::Event(event))).collect();
    items.extend(delivery.receipts.into_iter().map(|receipt| item(own, What::Receipt(receipt))));
    if items.is_empty() {
        items.push(item(own, What::Nothing));
    }
    items
}

/// Whom each event is from. Events that share any identity are one group, whose name is the first business-scoped id
/// in it, else the first phone: so a person meets in one group within a delivery, and nearly always across them.
fn groups(delivery: &Delivery) -> Vec<u64> {
    let mut parent: Vec<usize> = (0..delivery.events.len()).collect();
    let mut seen: HashMap<(&str, &str), usize> = HashMap::new();
    for (at, event) in delivery.events.iter().enumerate() {
        for identity in identities(event) {
            let other = *seen.entry(identity).or_insert(at);
            let (a, b) = (root(&parent, at), root(&parent, other));
            parent[a.max(b)] = a.min(b);
        }
    }
    let mut names: HashMap<usize, u64> = HashMap::new();
    for kind in ["user_id", "phone"] {
        for (at, event) in delivery.events.iter().enumerate() {
            for identity in identities(event).filter(|identity| identity.0 == kind) {
                names.entry(root(&parent, at)).or_insert_with(|| hash(&(&delivery.channel, identity)));
            }
        }
    }
    // Who names nobody is refused by the database, alone.
    let name =
        |at| names.get(&root(&parent, at)).copied().unwrap_or_else(|| hash(&delivery.events[at].activity_id));
    (0..delivery.events.len()).map(name).collect()
}

fn identities(event: &NewEvent) -> impl Iterator<Item = (&'static str, &str)> {
    let user_id = event.user_id.as_deref().map(|user_id| ("user_id", user_id));
    user_id.into_iter().chain(event.phone.as_deref().map(|phone| ("phone", phone)))
}

fn root(parent: &[usize], mut at: usize) -> usize {
    while parent[at] != at {
        at = parent[at];
    }
    at
}

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Anything that belongs to a group.
pub(super) trait Grouped {
    fn group(&self) -> u64;
}

impl Grouped for Item {
    fn group(&self) -> u64 {
        self.group
    }
}

/// Whether all of it belongs to one group.
pub(super) fn is_one_group(items: &[impl Grouped]) -> bool {
    items.windows(2).all(|two| two[0].group() == two[1].group())
}

/// Halves a list that was refused, each half in the old order. Groups stay whole as long as there are several, so that
/// what becomes of one half never reorders a chat of the other; a single group is cut in the middle, and its first half
/// must be dealt with before its second.
///
/// The list must have two items.
pub(super) fn halve<T: Grouped>(items: Vec<T>) -> (Vec<T>, Vec<T>) {
    let mut groups: Vec<u64> = Vec::new();
    for item in &items {
        if !groups.contains(&item.group()) {
            groups.push(item.group());
        }
    }
    if groups.len() > 1 {
        let first = &groups[..groups.len() / 2];
        return items.into_iter().partition(|item| first.contains(&item.group()));
    }
    let mut first = items;
    let second = first.split_off(first.len() / 2);
    (first, second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    #[derive(Debug, Clone, PartialEq)]
    struct Thing(u64, u32);

    impl Grouped for Thing {
        fn group(&self) -> u64 {
            self.0
        }
    }

    #[test]
    fn every_item_is_stored_or_singled_out_and_each_group_in_its_order() {
        let items: Vec<Thing> = (0..97).map(|n| Thing(u64::from(n % 7), n)).collect();
        let poison = [0, 13, 14, 96];
        let mut parts = vec![items.clone()];
        let (mut settled, mut rejected) = (Vec::new(), Vec::new());
        while let Some(part) = parts.pop() {
            if !part.iter().any(|item| poison.contains(&item.1)) {
                settled.extend(part);
            } else if let [alone] = &part[..] {
                settled.push(alone.clone());
                rejected.push(alone.1);
            } else {
                let (first, second) = halve(part);
                assert!(!first.is_empty() && !second.is_empty());
                parts.extend([second, first]);
            }
        }
        rejected.sort_unstable();
        assert_eq!(rejected, poison);
        assert_eq!(settled.len(), items.len());
        for group in 0..7 {
            let order: Vec<u32> = settled.iter().filter(|item| item.0 == group).map(|item| item.1).collect();
            assert!(order.is_sorted(), "{order:?}");
        }
    }

    fn event(user_id: Option<&str>, phone: Option<&str>) -> NewEvent {
        NewEvent {
            activity_id: Uuid::now_v7(),
            message_id: String::new(),
            kind: "text".to_owned(),
            user_id: user_id.map(str::to_owned),
            phone: phone.map(str::to_owned),
            payload: serde_json::Value::Null,
            sent_at: None,
        }
    }

    fn groups_of(events: Vec<NewEvent>) -> Vec<u64> {
        groups(&Delivery {
            channel: "whatsapp".to_owned(),
            delivery_id: Uuid::now_v7(),
            body: Vec::new(),
            trace_context: None,
            events,
            rejections: Vec::new(),
            receipts: Vec::new(),
        })
    }

    #[test]
    fn who_shares_an_identity_is_one_group_with_one_name_everywhere() {
        let groups = groups_of(vec![
            event(None, Some("1")),
            event(Some("A"), None),
            event(None, Some("2")),
            event(Some("A"), Some("1")),
            event(None, None),
            event(None, None),
        ]);
        assert!(groups[0] == groups[1] && groups[1] == groups[3]);
        assert!(groups[0] != groups[2] && groups[4] != groups[5]);
        let again = groups_of(vec![event(Some("A"), Some("3")), event(None, Some("2"))]);
        assert_eq!(again, [groups[1], groups[2]]);
    }
}
