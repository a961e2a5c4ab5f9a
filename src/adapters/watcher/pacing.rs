//! How soon an overflow of the kernel's queue is answered by a look at everything: the first at once, one that follows on
//! it a second later. Where reading is reported (see `narrowing`) the look itself may be what filled the queue; then the
//! distances grow, or one overflow would lead to the next for ever.
//!
//! Must not know: what an overflow is, the current time.

use std::time::{Duration, Instant};

/// The distance after the first answer.
const FIRST: Duration = Duration::from_secs(1);
/// The longest distance.
const MOST: Duration = Duration::from_mins(5);
/// An overflow that comes this many distances after the last one has nothing to do with it.
const APART: u32 = 4;

/// The answers given lately, and the one that is owed.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// When an overflow was last reported, and how far the next answer is from the last.
    last: Option<(Instant, Duration)>,
    answered: Option<Instant>,
    owed: bool,
}

impl Pace {
    /// The queue overflowed.
    pub(super) fn overflowed(&mut self, now: Instant) {
        self.owed = true;
        let apart = |(at, distance): (Instant, Duration)| now.saturating_duration_since(at) > distance * APART;
        let distance = match self.last {
            Some((_, distance)) if !self.last.is_some_and(apart) => distance,
            _ => Duration::ZERO,
        };
        self.last = Some((now, distance));
    }

    /// Whether the answer is due; if it is, it is taken for given. `looks_count`: the look itself is reported.
    pub(super) fn take(&mut self, now: Instant, looks_count: bool) -> bool {
        let most = if looks_count { MOST } else { FIRST };
        let due = self.due().is_some_and(|due| due <= now);
        if due {
            self.owed = false;
            self.answered = Some(now);
            self.last = self.last.map(|(at, distance)| (at, (distance * 2).clamp(FIRST, most)));
        }
        due
    }

    /// When the answer that is owed is due.
    pub(super) fn due(&self) -> Option<Instant> {
        let (at, distance) = self.last.filter(|_| self.owed)?;
        Some(self.answered.map_or(at, |answered| (answered + distance).max(at)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Overflows at these milliseconds are answered at those.
    fn check(looks_count: bool, overflows: &[u64], answers: &[u64]) {
        let begin = Instant::now();
        let mut pace = Pace::default();
        let mut given = Vec::new();
        for at in 0..=overflows.last().copied().unwrap_or_default() + 10_000 {
            let now = begin + Duration::from_millis(at);
            if overflows.contains(&at) {
                pace.overflowed(now);
            }
            if pace.take(now, looks_count) {
                given.push(at);
            }
        }
        assert_eq!(given, answers, "{overflows:?}");
    }

    #[test]
    fn the_first_is_answered_at_once_and_what_follows_at_a_distance() {
        for looks_count in [false, true] {
            check(looks_count, &[], &[]);
            check(looks_count, &[5], &[5]);
            check(looks_count, &[5, 6, 7, 900], &[5, 1005]);
            check(looks_count, &[0, 1500], &[0, 1500]);
            check(looks_count, &[0, 200, 20_000, 20_100], &[0, 1000, 20_000, 21_000]);
        }
        // Another one during each look.
        check(true, &[0, 200, 1200, 3200], &[0, 1000, 3000, 7000]);
        check(false, &[0, 200, 1200, 3200], &[0, 1000, 2000, 3200]);
    }

    #[test]
    fn looks_that_fill_the_queue_themselves_become_rare() {
        let begin = Instant::now();
        let (mut pace, mut now, mut looks) = (Pace::default(), begin, 0);
        pace.overflowed(now);
        while now < begin + Duration::from_hours(1) {
            if let Some(due) = pace.due() {
                now = now.max(due);
            }
            assert!(pace.take(now, true));
            looks += 1;
            now += Duration::from_millis(300);
            pace.overflowed(now);
        }
        assert!((8..=25).contains(&looks), "{looks}");
    }
}
