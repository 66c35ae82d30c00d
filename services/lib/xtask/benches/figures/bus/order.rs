//! Whether events were handled in order and once, judged from what the handlers noted: the same for ours and for peers.

/// An event as its handler noted it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Handled {
    pub(super) chat: u128,
    pub(super) seq: i64,
    /// Nanoseconds of one monotonic clock.
    pub(super) start: u64,
    pub(super) end: u64,
}

/// What is wrong; nothing, in a queue that keeps its word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Verdict {
    /// Events that were handled before one that stands before them in their chat.
    pub(super) out_of_order: usize,
    /// Events whose handling began before that of another of their chat had ended.
    pub(super) overlapping: usize,
    /// Events that were handled again.
    pub(super) repeated: usize,
}

impl Verdict {
    pub(super) fn is_clean(self) -> bool {
        self == Self::default()
    }
}

/// Judges what was noted, in any order. A chat may begin with any number, and nothing may be left out from there.
pub(super) fn judge(noted: &mut [Handled]) -> Verdict {
    noted.sort_unstable_by_key(|one| (one.chat, one.start, one.seq));
    let mut verdict = Verdict::default();
    for chat in noted.chunk_by(|a, b| a.chat == b.chat) {
        let mut seqs: Vec<i64> = chat.iter().map(|one| one.seq).collect();
        seqs.sort_unstable();
        verdict.repeated += seqs.windows(2).filter(|pair| pair[0] == pair[1]).count();
        // Where the order is kept, each is one more than the one before, and the first is the least.
        let first = usize::from(seqs.first() != chat.first().map(|one| &one.seq));
        verdict.out_of_order += first + chat.windows(2).filter(|pair| pair[1].seq != pair[0].seq + 1).count();
        verdict.overlapping += chat.windows(2).filter(|pair| pair[1].start < pair[0].end).count();
    }
    verdict
}
