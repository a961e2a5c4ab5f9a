//! Fault points: places where a test can have this process killed as by `kill -9`, to see that nothing is lost there.
//! They are in debug builds only.
//!
//! Must not know: what happens at a place.

/// `YOI_FAULT=PLACE:WHAT` kills the process when it comes to that point for the first time, `PLACE:WHAT#3` at the third.
#[cfg(debug_assertions)]
pub fn point(place: &str, what: &str) {
    use std::collections::BTreeMap;
    use std::sync::{Mutex, PoisonError};

    static REACHED: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());
    let Ok(wanted) = std::env::var("YOI_FAULT") else { return };
    let (wanted, count) = wanted.split_once('#').unwrap_or((&wanted, "1"));
    if wanted.split_once(':') != Some((place, what)) {
        return;
    }
    let mut reached = REACHED.lock().unwrap_or_else(PoisonError::into_inner);
    let times = reached.entry(wanted.to_owned()).or_default();
    *times += 1;
    if times.to_string() == count {
        let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL);
        // The signal comes before anything else happens.
        loop {
            std::thread::park();
        }
    }
}

/// Nothing: this is a release build.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn point(_place: &str, _what: &str) {}
