//! `yoi init --agents-block`.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Stdio;
use std::time::Duration;

use crate::support::Bench;
use crate::support::terminal::Terminal;
use crate::support::wait::until;

const BEGIN: &str = "<!-- yoi:begin -->";
const END: &str = "<!-- yoi:end -->";

/// A text with the block, as its parts before, in and after it.
fn parts(text: &str) -> (&str, &str, &str) {
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (block, after) = rest.split_once(END).unwrap();
    (before, block, after)
}

#[test]
fn with_the_workspace_and_in_one_that_is_there() {
    let bench = Bench::with_git();
    insta::assert_snapshot!(bench.yoi("work", "init --agents-block"), @r"
    Made the workspace [BENCH]/work
      .yoi/config.toml   pull mode
      .yoi/.gitignore    what must not be tracked of it
      tickets/           the tickets
    In pull mode workers take what is queued by `yoi next --claim`, and yoi kicks nobody; `mode` in .yoi/config.toml changes that.
    Go on with `yoi new TITLE` (a ticket), `yoi up` (the daemon) and `yoi status` (what it does).
    AGENTS.md: made, with the block for agents
    (exit 0)
    ");
    let made = bench.read("work/AGENTS.md");
    let (before, block, after) = parts(&made);
    assert_eq!((before, after), ("", "\n"));
    assert!(block.contains("yoi next --claim --json") && block.contains("Decompose") && block.lines().count() < 35);
    insta::assert_snapshot!(bench.yoi("work", "init --agents-block"), @r"
    AGENTS.md: has the block for agents already
    (exit 0)
    ");
    assert_eq!(bench.read("work/AGENTS.md"), made);
    // Both are there: both have it; what stands around it stays, and an old block is brought up to date.
    bench.write("work/CLAUDE.md", "# Mine\r\nno end");
    bench.write("work/AGENTS.md", &format!("\u{feff}mine\n{BEGIN}\nold\n{END}\nbelow"));
    fs::set_permissions(bench.path("work/AGENTS.md"), Permissions::from_mode(0o604)).unwrap();
    bench.folder("work/sub");
    let config = bench.read("work/.yoi/config.toml");
    insta::assert_snapshot!(bench.yoi("work/sub", "init --agents-block"), @r"
    AGENTS.md: has the block for agents now; nothing else in it was touched
    CLAUDE.md: has the block for agents now; nothing else in it was touched
    (exit 0)
    ");
    assert_eq!(bench.read("work/AGENTS.md"), format!("\u{feff}mine\n{BEGIN}{block}{END}\nbelow"));
    assert_eq!(fs::metadata(bench.path("work/AGENTS.md")).unwrap().permissions().mode() & 0o777, 0o604);
    let crlf = block.replace('\n', "\r\n");
    assert_eq!(bench.read("work/CLAUDE.md"), format!("# Mine\r\nno end\r\n\r\n{BEGIN}{crlf}{END}\r\n"));
    assert_eq!(bench.read("work/.yoi/config.toml"), config);
    let left: Vec<_> = bench.tree("work").into_iter().filter(|name| name.starts_with(".guide")).collect();
    assert!(left.is_empty(), "{left:?}");
    let other = bench.yoi("work", "init --agents-block --mode pull");
    assert!(other.code == 3 && other.stderr.contains("never overwritten"), "{other}");
}

#[test]
fn links() {
    let bench = Bench::with_git();
    bench.write("work/docs/guide.md", "mine\n");
    symlink("docs/guide.md", bench.path("work/AGENTS.md")).unwrap();
    symlink("AGENTS.md", bench.path("work/CLAUDE.md")).unwrap();
    assert_eq!(bench.yoi("work", "init --agents-block").code, 0);
    assert!(bench.path("work/AGENTS.md").is_symlink() && bench.path("work/CLAUDE.md").is_symlink());
    let text = bench.read("work/docs/guide.md");
    assert_eq!((parts(&text).0, text.matches(BEGIN).count()), ("mine\n\n", 1), "{text}");
    let bench = Bench::with_git();
    bench.write("outside.md", "theirs\n");
    symlink("../outside.md", bench.path("work/CLAUDE.md")).unwrap();
    insta::assert_snapshot!(bench.yoi("work", "init --agents-block"), @r"
    ! yoi: [BENCH]/work/CLAUDE.md leads out of the workspace through a symlink; yoi writes nothing there
    (exit 3)
    ");
    assert_eq!(bench.read("outside.md"), "theirs\n");
    assert!(!bench.path("work/.yoi").exists() && !bench.path("work/AGENTS.md").exists(), "nothing was made");
}

#[test]
fn what_cannot_take_the_block_makes_nothing() {
    let bench = Bench::with_git();
    bench.write("work/AGENTS.md", "fine\n");
    bench.write("work/CLAUDE.md", &format!("a\n{BEGIN}\nb\n"));
    insta::assert_snapshot!(bench.yoi("work", "init --agents-block"), @r"
    ! yoi: [BENCH]/work/CLAUDE.md: line 2: `<!-- yoi:begin -->` without its other half
    !   hint: one <!-- yoi:begin --> and one <!-- yoi:end --> below it, or neither; then say it again
    (exit 3)
    ");
    bench.write("work/CLAUDE.md", &format!("{BEGIN}\n{END}\n{BEGIN}\n{END}\n"));
    insta::assert_snapshot!(bench.yoi("work", "init --agents-block"), @r"
    ! yoi: [BENCH]/work/CLAUDE.md: line 3: a second block begins; the first is on line 1
    !   hint: one <!-- yoi:begin --> and one <!-- yoi:end --> below it, or neither; then say it again
    (exit 3)
    ");
    fs::remove_file(bench.path("work/CLAUDE.md")).unwrap();
    bench.folder("work/CLAUDE.md");
    insta::assert_snapshot!(bench.yoi("work", "init --agents-block"), @r"
    ! yoi: [BENCH]/work/CLAUDE.md is no file that yoi can put a block into: it is no regular file
    (exit 3)
    ");
    assert_eq!(bench.read("work/AGENTS.md"), "fine\n");
    assert!(!bench.path("work/.yoi").exists());
}

#[test]
fn it_is_asked_on_a_terminal() {
    let bench = Bench::with_git();
    let mut command = bench.command("work");
    command.args(["init", "--mode", "pull", "--tickets", "tickets"]);
    let mut terminal = Terminal::new(command);
    terminal.shows("yes or no [no]: ");
    terminal.types("yes\r");
    terminal.ends();
    assert!(bench.read("work/AGENTS.md").starts_with(BEGIN));
}

/// Saved between the last look and the exchange: what the user saved is the file.
#[test]
fn the_users_edit_in_the_very_moment_stays() {
    let bench = Bench::with_git();
    bench.write("work/AGENTS.md", "mine\n");
    let mut command = bench.command("work");
    command.args(["init", "--agents-block"]).env("YOI_DELAY", "before-guide:1500");
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let beside = || bench.tree("work").into_iter().any(|name| name.contains(".guide."));
    until("the text beside the file", Duration::from_secs(10), || beside().then_some(()), String::new);
    bench.write("work/AGENTS.md", "mine, and more\n");
    assert_eq!(running.wait().unwrap().code(), Some(3));
    assert_eq!(bench.read("work/AGENTS.md"), "mine, and more\n");
    assert!(!beside());
}

#[test]
fn odd_files() {
    let bench = Bench::with_git();
    symlink("nowhere.md", bench.path("work/AGENTS.md")).unwrap();
    insta::assert_snapshot!(bench.yoi("work", "init --agents-block"), @r"
    ! yoi: [BENCH]/work/AGENTS.md is no file that yoi can put a block into: it is a symlink, and nothing is where it leads
    (exit 3)
    ");
    fs::remove_file(bench.path("work/AGENTS.md")).unwrap();
    fs::write(bench.path("work/AGENTS.md"), b"\xff\xfem\0i\0\n\0").unwrap();
    insta::assert_snapshot!(bench.yoi("work", "init --agents-block"), @r"
    ! yoi: [BENCH]/work/AGENTS.md is no file that yoi can put a block into: it is no UTF-8 text
    (exit 3)
    ");
    // Long, and no UTF-8 in places: all of it stays.
    let long = [b"\xe9t\xe9\r\n".repeat(400_000), b"no end".to_vec()].concat();
    fs::write(bench.path("work/AGENTS.md"), &long).unwrap();
    assert_eq!(bench.yoi("work", "init --agents-block").code, 0);
    let after = fs::read(bench.path("work/AGENTS.md")).unwrap();
    assert!(after.starts_with(&long) && after.len() < long.len() + 4096);
}
