//! The program from outside, one file per command or subject.

mod agents_block;
mod config;
mod decompose;
mod doctor;
mod evidence;
mod hostile;
mod init;
mod inspect;
mod lifecycle;
mod listing;
mod next;
mod set;
mod tickets;
mod trust;
mod words;
mod workspace;

/// Takes times of day and the drawn letters of ids out of a text.
fn timeless(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("20").filter(|_| rest.len() >= 20) {
        let candidate = rest.get(at..at + 20).unwrap_or_default();
        let is_time = candidate.len() == 20 && candidate.as_bytes()[10] == b'T' && candidate.ends_with('Z');
        let kept = if is_time { at } else { at + 2 };
        out.push_str(&rest[..kept]);
        if is_time {
            out.push_str("[TIME]");
        }
        rest = &rest[if is_time { at + 20 } else { kept }..];
    }
    out + rest
}
