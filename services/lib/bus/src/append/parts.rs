//! A list that is stored in parts, because the database may refuse one of its items for what it says.

/// What is still to be stored, in order.
///
/// The parts are handed out strictly from the front and one at a time: a part that is split stands before all that
/// follow it, so no item is stored before an earlier one is stored or rejected.
pub(super) struct Parts<'a, T> {
    /// The earliest last.
    waiting: Vec<&'a [T]>,
}

impl<'a, T> Parts<'a, T> {
    pub(super) fn of(items: &'a [T]) -> Self {
        Self { waiting: if items.is_empty() { Vec::new() } else { vec![items] } }
    }

    /// The next part to store. Never empty.
    pub(super) fn next(&mut self) -> Option<&'a [T]> {
        self.waiting.pop()
    }

    /// Takes back a part that was refused, in halves. Gives the item back if it stands alone: that is the poison.
    pub(super) fn split(&mut self, refused: &'a [T]) -> Option<&'a T> {
        if let [poison] = refused {
            return Some(poison);
        }
        let (first, second) = refused.split_at(refused.len() / 2);
        self.waiting.push(second);
        self.waiting.push(first);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::Parts;

    #[test]
    fn every_item_is_stored_or_singled_out_in_its_order() {
        let items: Vec<u32> = (0..97).collect();
        let poison = [0, 13, 14, 96];
        let mut parts = Parts::of(&items);
        let (mut settled, mut rejected) = (Vec::new(), Vec::new());
        while let Some(part) = parts.next() {
            if !part.iter().any(|item| poison.contains(item)) {
                settled.extend_from_slice(part);
            } else if let Some(&alone) = parts.split(part) {
                settled.push(alone);
                rejected.push(alone);
            }
        }
        assert_eq!(settled, items);
        assert_eq!(rejected, poison);
    }

    #[test]
    fn nothing_to_store_is_no_part() {
        assert!(Parts::<u32>::of(&[]).next().is_none());
    }
}
