//! What git takes for a name of its own.
//!
//! Must not know: git; what has the name.

/// Whether this can be the name of a remote, and nothing a program would take for an option, a path or an address. Stricter
/// than git in what nobody uses.
pub fn is_remote_name(name: &str) -> bool {
    let plain = |c: char| c.is_alphanumeric() || "._-/".contains(c);
    let part = |part: &str| !part.is_empty() && !part.starts_with('.') && !part.ends_with('.') && !ends_as_lock(part);
    name.starts_with(char::is_alphanumeric)
        && name.chars().all(plain)
        && !name.contains("..")
        && name.split('/').all(part)
}

fn ends_as_lock(part: &str) -> bool {
    part.rsplit_once('.').is_some_and(|(_, end)| end.eq_ignore_ascii_case("lock"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_remotes() {
        for name in ["origin", "up.stream", "team/one", "größe", "a-b_c", "0"] {
            assert!(is_remote_name(name), "{name}");
        }
        let others = [
            "",
            "-d",
            "--upload-pack=x",
            "a b",
            "../x",
            "/tmp/x.git",
            "a..b",
            "a/",
            "x.lock",
            "x.LOCK/y",
            "https://x",
            ".",
            "a\n",
            "a./b",
            "_x",
        ];
        for name in others {
            assert!(!is_remote_name(name), "{name}");
        }
    }
}
