//! The claim of a run, as its supervisor sees to it: looked at, renewed while the program shows life, and a reason to end it
//! when it is not its own any more.
//!
//! Must not know: git; when a claim is renewed or given up (`domain::claim::Upkeep` says so).

use std::fs;
use std::time::{Duration, Instant};

use super::meter::Meter;
use crate::adapters::runs::files::RunFiles;
use crate::domain::claim::{CALLED_OFF, Duty, Hold, Life, Upkeep, WINDING_UP};
use crate::domain::facts::ProcessIdentity;
use crate::ports::Keeper;
use crate::ports::runs::How;

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
    pub(super) fn begin(&mut self, program: ProcessIdentity) {
        self.meter = Meter::of(program.pid);
        self.program = Some(program);
        // What comes of it is found at the first look, or tried again when it is due.
        self.renew();
    }

    /// How soon to look again; or how the run ends now. `quiet`: for how long nothing was printed.
    pub(super) fn look(&mut self, quiet: Duration) -> Result<Duration, How> {
        if let Some(hold) = self.keeper.look() {
            self.learn(hold)?;
        }
        if self.over.is_none()
            && let Ok(why) = fs::read_to_string(self.files.off_path())
        {
            self.over = Some((Instant::now() + CALLED_OFF, why));
        }
        if let Some((until, why)) = &self.over {
            let left = until.saturating_duration_since(Instant::now());
            return if left.is_zero() { Err(How::Over(why.clone())) } else { Ok(left) };
        }
        self.worked += self.meter.used_since();
        let since = self.beat.elapsed();
        let life = Life { printed: quiet < since, worked: self.worked };
        let tried = self.tried.as_ref().map(|(at, _)| at.elapsed());
        match self.upkeep.duty(since, tried, life) {
            Duty::Wait(span) => Ok(span),
            Duty::Renew => {
                let soon = Duration::from_secs(1);
                self.renew().map_or(Ok(soon), |hold| self.learn(hold).map(|()| soon))
            }
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

    fn renew(&mut self) -> Option<Hold> {
        let program = self.program.clone()?;
        match self.keeper.renew(&program) {
            Ok(hold) => Some(hold),
            Err(why) => {
                self.tried = Some((Instant::now(), why));
                None
            }
        }
    }

    fn learn(&mut self, hold: Hold) -> Result<(), How> {
        match hold {
            Hold::Own => {
                // Renewed by this one, or by the program itself.
                self.beat = Instant::now();
                self.worked = Duration::ZERO;
                self.tried = None;
                Ok(())
            }
            Hold::Ended(why) => {
                self.is_own = false;
                self.over.get_or_insert((Instant::now() + WINDING_UP, why));
                Ok(())
            }
            Hold::Lost(why) => {
                self.is_own = false;
                Err(How::ClaimLost(why))
            }
        }
    }

    /// The run has ended: what is left of the claim is given up. A failure leaves it to the daemon, or to its end.
    pub(super) fn give_up(mut self, why: &str) {
        if self.is_own {
            let _ = self.keeper.release(why);
        }
    }
}
