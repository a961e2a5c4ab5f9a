//! A ticket's name where git, or the file system, has rules: in a ref, a branch, a folder. Any file name has one.
//!
//! Must not know: where the name is put.

use std::fmt::Write as _;

use crate::domain::ticket::TicketId;

/// The most bytes of a name; a longer one is cut and told apart by its fingerprint.
const MOST_BYTES: usize = 200;
/// How much of a longer one is kept.
const KEPT_BYTES: usize = 120;

/// The name of a ticket as one component of a ref and of a path. Letters and digits of any script stay, so that a person
/// can read it. Different ids have different names.
pub fn of(id: &TicketId) -> String {
    let name = encoded(id.as_str());
    if name.len() <= MOST_BYTES {
        return name;
    }
    let kept = &name[..name.floor_char_boundary(KEPT_BYTES)];
    // No encoded byte begins with an `h`.
    format!("{}%h{}", without_half(kept), fingerprint(id.as_str()))
}

/// The id that has this name; None where the name was cut, or is none of [`of`]'s.
pub fn id_of(name: &str) -> Option<TicketId> {
    let mut bytes = Vec::new();
    let mut rest = name;
    while let Some((plain, after)) = rest.split_once('%') {
        bytes.extend_from_slice(plain.as_bytes());
        let Some(encoded) = after.get(..2) else {
            // The empty id's name is a lone sign.
            return (name == "%").then(|| TicketId::new(""));
        };
        bytes.push(u8::from_str_radix(encoded, 16).ok()?);
        rest = &after[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    let id = TicketId::new(String::from_utf8(bytes).ok()?);
    (of(&id) == name).then_some(id)
}

/// 128 bits: two starts of the same fingerprint.
fn fingerprint(text: &str) -> String {
    use crate::domain::ticket::Digest;
    let (one, two) = (Digest::of(text.as_bytes()), Digest::of(b"\0").and(text.as_bytes()));
    format!("{:016x}{:016x}", one.0, two.0)
}

/// A cut must not go through an encoded byte.
fn without_half(name: &str) -> &str {
    match name.rfind('%') {
        Some(at) if name.len() - at < 3 => &name[..at],
        _ => name,
    }
}

fn encoded(id: &str) -> String {
    let mut name = String::new();
    for (at, c) in id.char_indices() {
        if is_plain(id, at, c) {
            name.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                let _ = write!(name, "%{byte:02X}");
            }
        }
    }
    if name.is_empty() { "%".into() } else { name }
}

/// Dots are plain where git's rules have nothing against them: not at the ends, not two of them, not before `lock`. So is a
/// hyphen, except at the beginning, where a program would take it for an option.
fn is_plain(id: &str, at: usize, c: char) -> bool {
    match c {
        '.' => {
            let (before, after) = (&id[..at], &id[at + 1..]);
            !before.is_empty()
                && !after.is_empty()
                && !before.ends_with('.')
                && !after.starts_with('.')
                && after != "lock"
        }
        '-' => at > 0,
        '_' => true,
        c => c.is_alphanumeric(),
    }
}
