//! What is saved of a worktree comes back byte for byte: whatever its files are called, whatever filters would do to them, and
//! whatever git was in the middle of.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::{A, Grove};

/// Every entry below a folder but its `.git`: mode, and bytes, or target.
fn contents(folder: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let walk = walkdir::WalkDir::new(folder).min_depth(1).into_iter();
    let walk = walk.filter_entry(|entry| entry.file_name() != ".git").map(Result::unwrap);
    let entry = |entry: walkdir::DirEntry| {
        let kind = entry.file_type();
        let bytes = match () {
            () if kind.is_symlink() => fs::read_link(entry.path()).unwrap().as_os_str().as_bytes().to_vec(),
            () if kind.is_file() => fs::read(entry.path()).unwrap(),
            () => Vec::new(),
        };
        let mode = entry.path().symlink_metadata().unwrap().permissions().mode();
        (entry.path().strip_prefix(folder).unwrap().to_owned(), (mode, bytes))
    };
    walk.map(entry).collect()
}

/// What git says of the worktree.
fn state(grove: &Grove) -> String {
    let commands: [&[&str]; 5] = [
        &["status", "--porcelain=v2", "--branch", "--ignored", "--untracked-files=all"],
        &["ls-files", "--stage"],
        &["ls-files", "-v"],
        &["rev-parse", "HEAD"],
        &["for-each-ref", "refs/heads", "refs/stash", "refs/worktree"],
    ];
    commands.iter().map(|arguments| grove.bench.git(A, arguments)).collect::<Vec<_>>().join("--\n")
}

/// Removes it by force, brings it back, and compares everything.
fn there_and_back(grove: &Grove, what: &str) {
    let before = (contents(&grove.bench.path(A)), state(grove));
    let removed = grove.yoi("worktree remove a --force");
    assert_eq!(removed.code, 0, "{what}: {removed}");
    assert!(!grove.bench.path(A).exists(), "{what}");
    let answer = grove.yoi("worktree restore a");
    assert_eq!(answer.code, 0, "{what}: {answer}");
    let after = (contents(&grove.bench.path(A)), state(grove));
    assert_eq!(before.1, after.1, "{what}");
    assert!(before.0 == after.0, "{what}: {:?}\n{:?}", before.0.keys(), after.0.keys());
}

#[test]
fn every_byte_of_every_kind_of_file_comes_back() {
    let grove = Grove::new();
    let file = |name: &[u8], bytes: &[u8]| fs::write(grove.a("").join(OsStr::from_bytes(name)), bytes).unwrap();
    file(b"with a blank", b"1");
    file(b"new\nline\ttab\"quote\\back", b"2");
    file(b"not \xff\xfe utf-8", b"3");
    file("\u{65e5}\u{672c}\u{8a9e}".as_bytes(), b"4");
    file(b"-rf", b"5");
    file(b":(glob)*", b"6");
    file(b"empty", b"");
    file(b"CRLF", b"a\r\nb\n\r\n\0\xff$Id$");
    file(b"no-newline.o", b"ignored");
    file(b"big", &vec![b'x'; 3_000_000]);
    fs::create_dir_all(grove.a("deep/er/empty")).unwrap();
    fs::write(grove.a("deep/script"), "#!/bin/sh\n").unwrap();
    for (path, mode) in [("deep/script", 0o750), ("empty", 0o600), ("other", 0o444), ("deep/er", 0o700)] {
        fs::set_permissions(grove.a(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    symlink("other", grove.a("link")).unwrap();
    symlink("/no/such\nplace", grove.a("dangling")).unwrap();
    symlink("..", grove.a("deep/up")).unwrap();
    // Staged in one way, and further changed in another; and one that is staged as gone, and there again.
    fs::write(grove.a("src/main"), "staged\n").unwrap();
    grove.bench.git(A, &["add", "src/main"]);
    fs::write(grove.a("src/main"), "and changed\n").unwrap();
    grove.bench.git(A, &["rm", "--quiet", "--cached", "other"]);
    grove.bench.git(A, &["add", "--intent-to-add", "empty"]);
    there_and_back(&grove, "every kind");
    // And once more, with what was restored.
    there_and_back(&grove, "once more");
}

#[test]
fn no_filter_attribute_or_setting_changes_a_byte() {
    let grove = Grove::new();
    let attributes = "*.crlf text eol=crlf\n*.id ident\n*.up filter=up\n*.utf16 text working-tree-encoding=UTF-16LE\n";
    grove.bench.write("work/.gitattributes", attributes);
    grove.bench.git("work", &["config", "filter.up.clean", "tr a-z A-Z"]);
    grove.bench.git("work", &["config", "filter.up.smudge", "tr A-Z a-z"]);
    grove.bench.git("work", &["config", "core.autocrlf", "true"]);
    grove.commit("work", "attributes");
    grove.bench.git(A, &["merge", "--quiet", "--ff-only", "main"]);
    for (name, bytes) in [
        ("a.crlf", &b"one\r\ntwo\nthree\r\n"[..]),
        ("a.id", b"$Id: not git's$\n"),
        ("a.up", b"Mixed Case\n"),
        ("a.utf16", b"t\0e\0x\0t\0\n\0"),
        ("plain", b"one\r\ntwo\r\n"),
    ] {
        fs::write(grove.a(name), bytes).unwrap();
        if name != "plain" {
            grove.bench.run(grove.bench.program("git", A).args(["add", name]));
        }
    }
    there_and_back(&grove, "filters");
}

#[test]
fn what_git_was_in_the_middle_of_goes_on() {
    for (command, go_on) in [
        (&["merge", "main"][..], &["commit", "--quiet", "--no-edit"][..]),
        (&["rebase", "main"], &["-c", "core.editor=true", "rebase", "--continue"]),
        (&["cherry-pick", "main"], &["-c", "core.editor=true", "cherry-pick", "--continue"]),
    ] {
        let grove = Grove::new();
        fs::write(grove.a("src/main"), "here\n").unwrap();
        grove.commit(A, "here");
        grove.bench.write("work/src/main", "there\n");
        grove.commit("work", "there");
        grove.bench.run(grove.bench.program("git", A).args(command));
        there_and_back(&grove, command[0]);
        assert!(grove.bench.read(&format!("{A}/src/main")).contains("<<<<<<<"), "{command:?}");
        fs::write(grove.a("src/main"), "both\n").unwrap();
        grove.bench.git(A, &["add", "src/main"]);
        grove.bench.git(A, go_on);
        assert_eq!(grove.bench.git(A, &["status", "--porcelain"]), "", "{command:?}");
        assert_eq!(grove.bench.git(A, &["symbolic-ref", "HEAD"]), "refs/heads/yoi/a\n", "{command:?}");
    }
}

#[test]
fn branch_and_head_come_back_also_where_the_branch_is_gone_or_has_moved() {
    let grove = Grove::new();
    fs::write(grove.a("new"), "new\n").unwrap();
    grove.commit(A, "mine");
    fs::write(grove.a("new"), "newer\n").unwrap();
    let head = grove.bench.git(A, &["rev-parse", "HEAD"]);
    let remove = || assert_eq!(grove.yoi("worktree remove a --force").code, 0);
    let restore = || {
        let view = grove.yoi("worktree restore a --json").json();
        assert_eq!(grove.bench.git(A, &["rev-parse", "HEAD"]), head);
        assert_eq!(grove.bench.read(&format!("{A}/new")), "newer\n");
        view
    };
    remove();
    grove.bench.git("work", &["branch", "--quiet", "-D", "yoi/a"]);
    assert_eq!(restore()["branch"], "yoi/a", "made anew");
    remove();
    grove.bench.git("work", &["branch", "--quiet", "--force", "yoi/a", "main"]);
    let view = restore();
    assert!(view["branch"].is_null() && view["remarks"].to_string().contains("is at"), "{view}");
    // Without a commit of any branch that is left: the saved one alone holds it.
    remove();
    assert_eq!(grove.bench.git("work", &["for-each-ref", "refs/heads/yoi"]), "", "the moved one was merged");
    grove.bench.git("work", &["reflog", "expire", "--expire=now", "--all"]);
    grove.bench.git("work", &["gc", "--quiet", "--prune=now"]);
    assert!(restore()["branch"].is_null(), "it was detached when it was saved");
}

#[test]
fn a_branch_without_a_commit_comes_back_too() {
    let grove = Grove::new();
    assert_eq!(grove.yoi("worktree remove a").code, 0);
    let orphan = grove.bench.program("git", "work").args(["worktree", "add", "-h"]).output().unwrap();
    if !String::from_utf8_lossy(&[orphan.stdout, orphan.stderr].concat()).contains("--orphan") {
        eprintln!("skipped: this git makes no worktree without a commit");
        return;
    }
    grove.bench.git("work", &["worktree", "add", "--quiet", "--orphan", "-b", "yoi/a", ".yoi/worktrees/a"]);
    fs::write(grove.a("staged"), "staged\n").unwrap();
    grove.bench.git(A, &["add", "staged"]);
    fs::write(grove.a("new"), "new\n").unwrap();
    let look = || (contents(&grove.bench.path(A)), grove.bench.git(A, &["status", "--porcelain=v2", "--branch"]));
    let before = look();
    assert_eq!(grove.yoi("worktree remove a --force").code, 0);
    let answer = grove.yoi("worktree restore a");
    assert_eq!(answer.code, 0, "{answer}");
    assert!(before == look());
}

#[test]
fn which_of_several_is_brought_back_and_what_is_in_the_way_stays() {
    let grove = Grove::new();
    for text in ["one", "two"] {
        if !grove.bench.path(A).exists() {
            grove.bench.git("work", &["worktree", "add", "--quiet", ".yoi/worktrees/a", "-B", "yoi/a"]);
        }
        fs::write(grove.a("new"), text).unwrap();
        assert_eq!(grove.yoi("worktree remove a --force").code, 0);
    }
    let refs = grove.bench.git("work", &["for-each-ref", "--format=%(refname)", "refs/yoi/salvage/a"]);
    let refs: Vec<_> = refs.lines().collect();
    assert_eq!(refs.len(), 2);
    grove.bench.write(&format!("{A}/precious"), "somebody's\n");
    let answer = grove.yoi("worktree restore a");
    assert!(answer.code == 3 && answer.stderr.contains("is there already"), "{answer}");
    assert_eq!(grove.bench.read(&format!("{A}/precious")), "somebody's\n");
    fs::remove_dir_all(grove.bench.path(A)).unwrap();
    let answer = grove.yoi("worktree restore a --from 2001");
    assert!(answer.code == 3 && answer.stderr.contains(refs[0]), "{answer}");
    assert_eq!(grove.yoi(&format!("worktree restore a --from {}", refs[0])).code, 0);
    assert_eq!(grove.bench.read(&format!("{A}/new")), "one");
    let answer = grove.yoi("worktree restore a");
    assert!(answer.code == 3 && answer.stderr.contains("the ticket has a worktree"), "{answer}");
}
