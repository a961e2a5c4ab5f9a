//! The claim of a run, as its supervisor sees to it: looked at, renewed while the program shows life, and a reason to end it
//! when it is not its own any more.
//!
//! Must not know: git; when a claim is renewed or given up (`domain::claim::Upkeep` says so).

#[cfg(test)]
mod tests;

use std::time::{Duration, Instant};

use super::meter::Meter;
use crate::adapters::runs::files::RunFiles;
use crate::domain::claim::{CALLED_OFF, Duty, Hold, Life, Upkeep, WINDING_UP};
use crate::domain::facts::ProcessIdentity;
use crate::ports::Keeper;
use crate::ports::runs::How;

/// How soon it is looked again after a renewal.
const SOON: Duration = Duration::from_secs(1);

/// Sees to one claim.
pub(super) struct Guard {
    keeper: Box<dyn Keeper>,
    upkeep: Upkeep,
    files: RunFiles,
    program: Option<ProcessIdentity>,
    meter: Meter,
    worked: Duration,
    beat: Instant,
    /// The last renewal that failed since, and why.
    tried: Option<(Instant, String)>,
    /// The work is over: until when the program may go on, and why.
    over: Option<(Instant, String)>,
    is_own: bool,
}

impl Guard {
    pub(super) fn new(keeper: Box<dyn Keeper>, upkeep: Upkeep, files: RunFiles) -> Self {
        Self {
            keeper,
            upkeep,
            files,
            program: None,
            meter: Meter::default(),
            worked: Duration::ZERO,
            beat: Instant::now(),
            tried: None,
            over: None,
            is_own: true,
        }
    }

    /// The program has begun: from now on it is the one that holds the claim.
    pub(super) fn begin(&mut self, program: ProcessIdentity, now: Instant) {
        self.meter = Meter::of(program.pid);
        self.program = Some(program);
        // One that is not its own is found at the first look; one that could not be renewed is tried again when it is due.
        if let Some(Hold::Own) = self.renew(now) {
            self.renewed(now);
        }
    }

    /// How soon to look again; or how the run ends now. `quiet`: for how long nothing was printed.
    pub(super) fn look(&mut self, quiet: Duration, now: Instant) -> Result<Duration, How> {
        if let Some(hold) = self.keeper.look() {
            self.learn(hold, now)?;
        }
        if self.over.is_none()
            && let Some(why) = self.files.called_off()
        {
            self.over = Some((now + CALLED_OFF, why));
        }
        if let Some((until, why)) = &self.over {
            let left = until.saturating_duration_since(now);
            return if left.is_zero() { Err(How::Over(why.clone())) } else { Ok(left) };
        }
        self.worked += self.meter.used_since();
        let since = now.saturating_duration_since(self.beat);
        let life = Life { printed: quiet < since, worked: self.worked };
        let tried = self.tried.as_ref().map(|(at, _)| now.saturating_duration_since(*at));
        match self.upkeep.duty(since, tried, life) {
            Duty::Wait(span) => Ok(span),
            Duty::Renew => self.renew(now).map_or(Ok(()), |hold| self.learn(hold, now)).map(|()| SOON),
            Duty::Stop => Err(How::ClaimLost(self.why_it_ran_out())),
        }
    }

    fn why_it_ran_out(&self) -> String {
        let minutes = self.upkeep.ttl.as_secs() / 60;
        match &self.tried {
            Some((_, why)) => format!("its claim could not be renewed for {minutes} minutes: {why}"),
            None => format!("it showed no sign of life for {minutes} minutes, and its claim ran out"),
        }
    }

    fn renew(&mut self, now: Instant) -> Option<Hold> {
        let program = self.program.clone()?;
        match self.keeper.renew(&program) {
            Ok(hold) => Some(hold),
            Err(why) => {
                self.tried = Some((now, why));
                None
            }
        }
    }

    fn renewed(&mut self, now: Instant) {
        self.beat = now;
        self.worked = Duration::ZERO;
        self.tried = None;
    }

    fn learn(&mut self, hold: Hold, now: Instant) -> Result<(), How> {
        match hold {
            // Renewed by this one, or by the program itself.
            Hold::Own => self.renewed(now),
            Hold::Ended(why) => {
                self.is_own = false;
                self.over.get_or_insert((now + WINDING_UP, why));
            }
            Hold::Lost(why) => {
                self.is_own = false;
                return Err(How::ClaimLost(why));
            }
        }
        Ok(())
    }

    /// The run has ended: what is left of the claim is given up. A failure leaves it to the daemon, or to its own end.
    pub(super) fn give_up(mut self, why: &str) {
        if self.is_own {
            let _ = self.keeper.release(why);
        }
    }
}
