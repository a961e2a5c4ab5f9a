//! Which folder is the workspace (DESIGN.md 6.6), on layouts that git itself made.

use std::os::unix::fs::symlink;

use crate::support::Bench;

/// Workspace and state folder as found from `folder`, or what is said instead.
fn check(bench: &Bench, folder: &str, options: &str) -> String {
    let answer = bench.yoi(folder, &format!("{options} config --json"));
    if answer.code != 0 {
        return answer.to_string();
    }
    let view = answer.json();
    format!("{} {}", view["workspace"].as_str().unwrap(), view["state_dir"].as_str().unwrap())
}

fn with_workspace() -> Bench {
    let bench = Bench::with_git();
    bench.write("work/.yoi/config.toml", "");
    bench
}

#[test]
fn the_same_workspace_from_everywhere_in_the_repository() {
    let bench = with_workspace();
    bench.folder("work/a/b");
    bench.git("work", &["add", "."]);
    bench.git("work", &["commit", "--quiet", "--message=workspace"]);
    bench.git("work", &["worktree", "add", "--quiet", "../linked"]);
    bench.git("work", &["worktree", "add", "--quiet", ".yoi/worktrees/inside"]);
    bench.folder("linked/only/here");
    symlink(bench.path("work/a"), bench.path("link")).unwrap();
    symlink(bench.path("linked"), bench.path("link-to-linked")).unwrap();
    let expected = "[BENCH]/work [BENCH]/work/.git/yoi";
    for folder in [
        "work",
        "work/a/b",
        "work/.yoi",
        "work/.git",
        "work/.git/refs",
        "linked",
        "linked/only/here",
        "link",
        "link-to-linked",
        "work/.yoi/worktrees/inside",
    ] {
        assert_eq!(check(&bench, folder, ""), expected, "{folder}");
        assert_eq!(check(&bench, "", &format!("-C {folder}")), expected, "-C {folder}");
    }
    assert!(bench.path("linked/.yoi").is_dir(), "the linked worktree has a copy, which is not read");
}

#[test]
fn relative_links_between_worktrees() {
    let bench = with_workspace();
    bench.git("work", &["worktree", "add", "--quiet", "../linked"]);
    bench.write("linked/.git", "gitdir: ../work/.git/worktrees/linked\n");
    bench.write("work/.git/worktrees/linked/gitdir", "../../../../linked/.git\n");
    assert_eq!(check(&bench, "linked", ""), "[BENCH]/work [BENCH]/work/.git/yoi");
}

#[test]
fn the_option_beats_the_variable_beats_the_folder() {
    let mut bench = with_workspace();
    for other in ["plain", "third"] {
        bench.folder(&format!("{other}/.yoi"));
    }
    bench.set("YOI_WORKSPACE", bench.path("plain").to_str().unwrap());
    assert_eq!(check(&bench, "third", ""), "[BENCH]/plain [BENCH]/plain/.yoi/run");
    assert_eq!(check(&bench, "third", "-C ../work"), "[BENCH]/work [BENCH]/work/.git/yoi");
    bench.set("YOI_WORKSPACE", "");
    assert_eq!(check(&bench, "third", ""), "[BENCH]/third [BENCH]/third/.yoi/run", "empty is unset");
    bench.set("YOI_WORKSPACE", "../nowhere");
    insta::assert_snapshot!(check(&bench, "third", ""), @r"
    ! yoi: ../nowhere (given by YOI_WORKSPACE): No such file or directory (os error 2)
    (exit 1)
    ");
}

#[test]
fn a_submodule_belongs_to_the_workspace_around_it_unless_it_is_one() {
    let bench = with_workspace();
    bench.repository("library");
    bench.git("work", &["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../library", "sub"]);
    assert_eq!(check(&bench, "work/sub", ""), "[BENCH]/work [BENCH]/work/.git/yoi");
    bench.git("work/sub", &["worktree", "add", "--quiet", "../../sub-linked"]);
    assert_eq!(check(&bench, "sub-linked", ""), "[BENCH]/work [BENCH]/work/.git/yoi", "by way of its main worktree");
    assert_eq!(bench.yoi("work/sub", "init").code, 0, "a repository of its own may be one of its own");
    assert_eq!(check(&bench, "work/sub", ""), "[BENCH]/work/sub [BENCH]/work/.git/modules/sub/yoi");
    assert_eq!(check(&bench, "sub-linked", ""), "[BENCH]/work/sub [BENCH]/work/.git/modules/sub/yoi");
}

#[test]
fn a_folder_inside_a_checkout_has_its_own_state() {
    let bench = with_workspace();
    bench.folder("work/team/.yoi");
    let found = check(&bench, "work/team", "");
    let (root, state) = found.split_once(' ').unwrap();
    assert_eq!(root, "[BENCH]/work/team");
    let name = state.strip_prefix("[BENCH]/work/.git/yoi/").unwrap();
    assert!(name.len() == 16 && name.chars().all(|c| c.is_ascii_hexdigit()), "{state}");
}

#[test]
fn beside_a_bare_repository() {
    let bench = Bench::with_git();
    bench.git("", &["clone", "--quiet", "--bare", "work", "project/.bare"]);
    bench.write("project/.git", "gitdir: ./.bare\n");
    for worktree in ["one", "two"] {
        bench.git("project", &["worktree", "add", "--quiet", "-b", worktree, worktree]);
    }
    insta::assert_snapshot!(check(&bench, "project", ""), @r"
    ! yoi: no workspace: there is no `.yoi` folder in [BENCH]/project or above it
    !   hint: `yoi init` makes one in this repository or folder
    (exit 1)
    ");
    insta::assert_snapshot!(check(&bench, "project/two", ""), @r"
    ! yoi: no workspace: there is no `.yoi` folder in [BENCH]/project/two or above it
    !   hint: `yoi init` makes one in this repository or folder
    (exit 1)
    ");
    bench.write("project/one/.yoi/config.toml", "");
    let one = check(&bench, "project/one", "");
    assert!(one.starts_with("[BENCH]/project/one [BENCH]/project/.bare/yoi/"), "{one}");
    for folder in ["project", "project/two", "project/.bare"] {
        assert_eq!(check(&bench, folder, ""), one, "{folder}");
    }
    bench.git("project/two", &["sparse-checkout", "init"]);
    let moved = bench.read("project/.bare/config.worktree");
    assert!(moved.contains("bare = true"), "git moves the setting to its second file: {moved}");
    assert_eq!(check(&bench, "project/two", ""), one);
    let answer = bench.yoi("project/two", "init");
    assert!(answer.code == 3 && answer.stderr.contains("project/one"), "{answer}");

    bench.write("project/two/.yoi/config.toml", "");
    bench.git("project", &["worktree", "add", "--quiet", "three"]);
    insta::assert_snapshot!(check(&bench, "project/one", ""), @r"
    ! yoi: several worktrees of the bare repository [BENCH]/project/.bare hold a `.yoi` folder
    !   - [BENCH]/project/one
    !   - [BENCH]/project/two
    !   hint: choose one with `-C DIR` or YOI_WORKSPACE
    (exit 1)
    ");
    insta::assert_snapshot!(check(&bench, "", "-C project/three"), @r"
    ! yoi: several worktrees of the bare repository [BENCH]/project/.bare hold a `.yoi` folder
    !   - [BENCH]/project/one
    !   - [BENCH]/project/two
    !   hint: choose one with `-C DIR` or YOI_WORKSPACE
    (exit 1)
    ");
    assert_eq!(check(&bench, "project/two", "-C ../one"), one, "the same state as before the second");
    let two = check(&bench, "project/two", "-C .");
    assert!(two.starts_with("[BENCH]/project/two ") && two.split(' ').nth(1) != one.split(' ').nth(1), "{two}");
}

#[test]
fn a_workspace_around_a_repository() {
    let bench = Bench::new();
    bench.folder("outer/.yoi");
    bench.repository("outer/repository");
    bench.git("outer/repository", &["worktree", "add", "--quiet", "../../linked"]);
    for folder in ["outer/repository", "linked"] {
        assert_eq!(check(&bench, folder, ""), "[BENCH]/outer [BENCH]/outer/.yoi/run", "{folder}");
    }
}

#[test]
fn where_there_is_none() {
    let bench = Bench::with_git();
    insta::assert_snapshot!(check(&bench, "home", ""), @r"
    ! yoi: no workspace: there is no `.yoi` folder in [BENCH]/home or above it
    !   hint: `yoi init` makes one in this repository or folder
    (exit 1)
    ");
    bench.git("work", &["worktree", "add", "--quiet", "../linked"]);
    bench.folder("linked/.yoi");
    insta::assert_snapshot!(check(&bench, "linked", ""), @r"
    ! yoi: no workspace: [BENCH]/linked lies in a linked worktree, so the tickets of the main one count, and [BENCH]/work has no `.yoi` folder
    !   hint: `yoi -C [BENCH]/work init` makes one
    (exit 1)
    ");
    bench.write("moved/.git", "gitdir: ../gone/.git/worktrees/moved\n");
    insta::assert_snapshot!(check(&bench, "moved", ""), @r"
    ! yoi: [BENCH]/moved/.git leads to [BENCH]/moved/../gone/.git/worktrees/moved, which is not there
    !   hint: if the repository was moved, `git worktree repair` there mends the link
    (exit 1)
    ");
    bench.write("file/.yoi", "");
    insta::assert_snapshot!(check(&bench, "file", ""), @r"
    ! yoi: no workspace: there is no `.yoi` folder in [BENCH]/file or above it
    !   hint: `yoi init` makes one in this repository or folder
    (exit 1)
    ");
    insta::assert_snapshot!(check(&bench, "", "-C file/.yoi"), @r"
    ! yoi: file/.yoi (given by -C): not a directory
    (exit 1)
    ");
}

#[test]
fn a_repository_whose_git_folder_lies_elsewhere() {
    let bench = Bench::new();
    bench.folder("apart");
    bench.git("apart", &["init", "--quiet", "--initial-branch=main", "--separate-git-dir=../gitdir"]);
    bench.git("apart", &["commit", "--quiet", "--allow-empty", "--message=first"]);
    bench.folder("apart/.yoi");
    assert_eq!(check(&bench, "apart", ""), "[BENCH]/apart [BENCH]/gitdir/yoi");
    bench.git("apart", &["worktree", "add", "--quiet", "../linked"]);
    insta::assert_snapshot!(check(&bench, "linked", ""), @r"
    ! yoi: [BENCH]/linked is a linked worktree, and [BENCH]/gitdir does not record where the main one is
    !   hint: name it with `-C DIR` or YOI_WORKSPACE
    (exit 1)
    ");
    assert_eq!(check(&bench, "linked", "-C ../apart"), "[BENCH]/apart [BENCH]/gitdir/yoi");
}
