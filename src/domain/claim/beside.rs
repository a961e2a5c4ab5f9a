//! A chain that went on beside the remote which arbitrates (`--local`), against what that has by now.
//!
//! Must not know: git; how the remote is asked.

use super::step::{StepKind, Tip};

/// What the remote's newest step is to such a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// The chain goes on from there: it was pushed up to there already.
    GoesOn,
    /// It is a later beat of the very claim that the chain ends with.
    Ahead,
    /// Somebody else was first.
    Lost,
}

impl Beside {
    /// `chain`: the steps that the remote was not known to have, the newest first.
    pub fn of(chain: &[Tip], newest: &Tip) -> Self {
        if chain.iter().any(|tip| tip.revision == newest.revision) {
            return Beside::GoesOn;
        }
        if newest.step.kind != StepKind::Heartbeat {
            return Beside::Lost;
        }
        let is_same = |tip: &Tip| {
            let (one, other) = (&tip.step, &newest.step);
            one.worker == other.worker && one.generation == other.generation
        };
        // A beat is replaced by the step after it, so it is no ancestor of that: both follow the same step.
        let follows = |tip: &Tip| {
            let is_holders = matches!(tip.step.kind, StepKind::Heartbeat | StepKind::Release { .. });
            is_holders && is_same(tip) && tip.parent == newest.parent
        };
        if chain.iter().any(follows) {
            return Beside::GoesOn;
        }
        let is_ahead = |tip: &Tip| is_same(tip) && newest.parent.as_ref() == Some(&tip.revision);
        if chain.first().is_some_and(is_ahead) { Beside::Ahead } else { Beside::Lost }
    }
}
