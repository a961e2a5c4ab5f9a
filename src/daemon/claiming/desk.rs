//! What a verb works with while it does without the host.
//!
//! Must not know: what the verb is.

use std::sync::Arc;

use chrono::SubsecRound;

use crate::daemon::{Host, Ports};
use crate::domain::claim::{Challenge, Standing, Step, StepKind, Tip};
use crate::domain::facts::TimeDeltaSeconds;
use crate::domain::ticket::{TicketId, Timestamp};
use crate::ports::{Claims, Processes};

/// The outside, as far as claims need it.
#[derive(Clone)]
pub struct Desk {
    pub(super) claims: Arc<dyn Claims>,
    processes: Arc<dyn Processes>,
    clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
    nonce: Arc<dyn Fn() -> String + Send + Sync>,
    /// Beside a remote that says who has a claim.
    alone: bool,
}

impl Desk {
    /// For whoever has no host.
    pub fn new(
        claims: Arc<dyn Claims>,
        processes: Arc<dyn Processes>,
        clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
        nonce: Arc<dyn Fn() -> String + Send + Sync>,
    ) -> Self {
        Self { claims, processes, clock, nonce, alone: false }
    }
}

impl Host {
    /// `alone`: claims are moved for this machine alone, where somebody else says who has them.
    pub(super) fn desk(&self, alone: bool) -> Desk {
        let Ports { claims, processes, clock, nonce, .. } = &self.ports;
        let beside = claims.alone().filter(|_| alone);
        let (alone, claims) = (beside.is_some(), beside.unwrap_or_else(|| Arc::clone(claims)));
        Desk { claims, processes: Arc::clone(processes), clock: Arc::clone(clock), nonce: Arc::clone(nonce), alone }
    }
}

impl Desk {
    /// What whoever moved a claim by it has to know.
    pub(super) fn remark(&self) -> Option<String> {
        let text = "for this machine alone: the remote, which says who has it, hears of it when it can be asked, and if \
                    somebody else has claimed it there by then, that one has it";
        self.alone.then(|| text.to_owned())
    }

    pub(super) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    pub(super) fn machine(&self) -> Standing {
        self.processes.machine()
    }

    /// A step of a challenger's, after what is there.
    pub(super) fn first_step(
        &self,
        id: &TicketId,
        kind: StepKind,
        challenge: &Challenge,
        before: Option<&Tip>,
    ) -> Step {
        let known = before.map_or(0, |tip| tip.step.generation);
        let generation = if kind == StepKind::Claim { known + 1 } else { known };
        self.marked(Step {
            ticket: id.clone(),
            kind,
            worker: challenge.worker.clone(),
            role: challenge.role.clone(),
            at: self.now(),
            ttl: challenge.ttl,
            generation,
            nonce: String::new(),
            process: challenge.process.clone(),
            session: challenge.session.clone(),
            awake: None,
        })
    }

    /// A further step of the same claim.
    pub(super) fn next_step(&self, tip: &Tip, kind: StepKind) -> Step {
        self.marked(Step { kind, ..tip.step.clone() })
    }

    fn marked(&self, step: Step) -> Step {
        let machine = self.machine();
        let here = machine.boot_id == step.process.boot_id;
        let awake = here.then(|| TimeDeltaSeconds(machine.awake.num_seconds()));
        Step { at: self.now().trunc_subsecs(0), nonce: (self.nonce)(), awake, ..step }
    }
}
