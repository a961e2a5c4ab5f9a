//! Fault points: places where a test can have this process killed as by `kill -9`, to see that nothing is lost there, and
//! places where it can be held for a moment, so that others come in between, or where the system refuses something. They
//! are in debug builds only.
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

/// `YOI_DELAY=PLACE:MILLISECONDS` holds the process at this place each time; several are parted by commas.
#[cfg(debug_assertions)]
pub fn delay(place: &str) {
    #[cfg(test)]
    hook::at(place);
    let Ok(wanted) = std::env::var("YOI_DELAY") else { return };
    for wanted in wanted.split(',') {
        let for_this_place = wanted.split_once(':').filter(|(wanted, _)| *wanted == place);
        if let Some(milliseconds) = for_this_place.and_then(|(_, milliseconds)| milliseconds.parse().ok()) {
            std::thread::sleep(std::time::Duration::from_millis(milliseconds));
        }
    }
}

/// Nothing: this is a release build.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn delay(_place: &str) {}

/// `YOI_REFUSE=PLACE:ERRNO` has the system refuse what is asked of it at this place, with this error.
#[cfg(debug_assertions)]
pub fn refuses(place: &str) -> Result<(), rustix::io::Errno> {
    #[cfg(test)]
    if let Some(errno) = hook::refusal(place) {
        return Err(errno);
    }
    let Ok(wanted) = std::env::var("YOI_REFUSE") else { return Ok(()) };
    let of_this_place = wanted.split_once(':').filter(|(wanted, _)| *wanted == place);
    match of_this_place.and_then(|(_, errno)| errno.parse().ok()) {
        Some(errno) => Err(rustix::io::Errno::from_raw_os_error(errno)),
        None => Ok(()),
    }
}

/// Nothing: this is a release build.
#[cfg(not(debug_assertions))]
#[inline(always)]
pub fn refuses(_place: &str) -> Result<(), rustix::io::Errno> {
    Ok(())
}

/// What a unit test does at a place, in its own thread.
#[cfg(test)]
pub mod hook {
    use std::cell::RefCell;

    use rustix::io::Errno;

    type Act = Box<dyn FnMut()>;

    thread_local! {
        static REFUSED: RefCell<Vec<(&'static str, Errno)>> = const { RefCell::new(Vec::new()) };
        static WANTED: RefCell<Option<(&'static str, Act)>> = const { RefCell::new(None) };
    }

    /// Does this whenever this thread comes to that place, from now on.
    pub fn set(place: &'static str, act: impl FnMut() + 'static) {
        WANTED.with_borrow_mut(|wanted| *wanted = Some((place, Box::new(act))));
    }

    /// Has the system refuse what this thread asks of it at that place, from now on.
    pub fn refuse(place: &'static str, errno: Errno) {
        REFUSED.with_borrow_mut(|refused| refused.push((place, errno)));
    }

    /// Nothing is refused any more.
    pub fn allow() {
        REFUSED.with_borrow_mut(Vec::clear);
    }

    pub(super) fn refusal(place: &str) -> Option<Errno> {
        REFUSED.with_borrow(|refused| refused.iter().find(|(wanted, _)| *wanted == place).map(|(_, errno)| *errno))
    }

    pub(super) fn at(place: &str) {
        WANTED.with_borrow_mut(|wanted| {
            if let Some((_, act)) = wanted.as_mut().filter(|(wanted, _)| *wanted == place) {
                act();
            }
        });
    }
}
