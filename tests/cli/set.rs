//! `yoi set --file`: a bare edit of one file, anywhere.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::support::{Answer, Bench};

const TICKET: &str = "---\ntitle: x # c\nstate: ready\nlabels: [a]\n---\nBody\n";

fn set(bench: &Bench, arguments: &[&str]) -> Answer {
    bench.run(bench.command("").args(["set", "--file", "t.md"]).args(arguments))
}

/// The frontmatter after these arguments.
fn check(arguments: &[&str], after: &str) {
    let bench = Bench::new();
    bench.write("t.md", TICKET);
    let answer = set(&bench, arguments);
    assert_eq!(answer.code, 0, "{arguments:?}: {answer}");
    assert_eq!(bench.read("t.md"), format!("---\n{after}---\nBody\n"), "{arguments:?}");
    assert_eq!(bench.tree(""), ["home/", "runtime/", "t.md", "tmp/"], "{arguments:?}");
}

#[test]
fn values_are_yaml_and_the_rest_is_text() {
    let with = |key: &str| format!("title: x # c\nstate: ready\nlabels: [a]\n{key}\n");
    check(&["state=queued"], "title: x # c\nstate: queued\nlabels: [a]\n");
    check(&["state=queued", "--add", "labels=orphan", "--unset", "title"], "state: queued\nlabels: [a, orphan]\n");
    check(&["--remove", "labels=a"], "title: x # c\nstate: ready\nlabels: []\n");
    check(&["labels=[b, 'c, d']"], "title: x # c\nstate: ready\nlabels: [b, \"c, d\"]\n");
    check(&["k=see #12"], &with("k: \"see #12\""));
    check(&["k=#12"], &with("k: \"#12\""));
    check(&["k=Fix: the thing"], &with("k: \"Fix: the thing\""));
    check(&["k=@me"], &with("k: \"@me\""));
    check(&["k=- not a list"], &with("k: \"- not a list\""));
    check(&["k=$1 & \\1"], &with("k: $1 & \\1"));
    check(&["k=1.10"], &with("k: 1.10"));
    check(&["k=\"1.10\""], &with("k: \"1.10\""));
    check(&["k=0010"], &with("k: \"0010\""));
    check(&["k=NO"], &with("k: \"NO\""));
    check(&["k=2016-12-15"], &with("k: \"2016-12-15\""));
    check(&["k=true"], &with("k: true"));
    check(&["k=~"], &with("k: ~"));
    check(&["k="], &with("k: \"\""));
    check(&["k={a: 1}"], &with("k: {a: 1}"));
    check(&["k=a=b"], &with("k: a=b"));
    check(&["--add", "labels=1.10"], "title: x # c\nstate: ready\nlabels: [a, \"1.10\"]\n");
}

#[test]
fn nothing_to_change_writes_nothing() {
    let bench = Bench::new();
    bench.write("t.md", TICKET);
    fs::set_permissions(bench.path("t.md"), Permissions::from_mode(0o444)).unwrap();
    let answer = set(&bench, &["state=ready", "--add", "labels=a", "--unset", "none"]);
    assert_eq!((answer.code, bench.read("t.md").as_str()), (0, TICKET), "{answer}");
}

#[test]
fn what_cannot_be_edited_is_said_and_left() {
    let bench = Bench::new();
    let refused = |text: &str, arguments: &[&str]| {
        bench.write("t.md", text);
        let answer = set(&bench, arguments);
        assert_eq!(bench.read("t.md"), text);
        answer.to_string()
    };
    insta::assert_snapshot!(refused("---\na: 1\na: 2\n---\n", &["b=1"]), @r#"
    ! yoi: t.md: line 3, column 1: the key `a` stands twice, on lines 2 and 3: remove one
    (exit 1)
    "#);
    insta::assert_snapshot!(refused("# Title\n", &["b=1"]), @r#"
    ! yoi: t.md: the file has no frontmatter
    (exit 1)
    "#);
    insta::assert_snapshot!(refused("---\na: &x 1\nb: *x\n---\n", &["a=2"]), @r#"
    ! yoi: t.md: `a` (line 2): its value is used elsewhere as `*x`, which would change too; edit it by hand; nothing was written
    (exit 1)
    "#);
    insta::assert_snapshot!(refused("---\na: {b: 1}\n---\n", &["--add", "a=2"]), @r#"
    ! yoi: t.md: `a` (line 2): it holds a mapping, not a list; nothing was written
    (exit 1)
    "#);
    insta::assert_snapshot!(refused(TICKET, &[]), @r#"
    ! yoi: nothing to set
    !   hint: give KEY=VALUE, --unset KEY, --add KEY=ITEM or --remove KEY=ITEM
    (exit 2)
    "#);
    insta::assert_snapshot!(refused(TICKET, &["state"]), @r#"
    ! yoi: `state` is not KEY=VALUE
    !   hint: write KEY=VALUE; --unset KEY takes a key out
    (exit 2)
    "#);
    insta::assert_snapshot!(bench.yoi("", "set --file gone.md a=1"), @r#"
    ! yoi: gone.md: there is no such file
    (exit 1)
    "#);
}

#[test]
fn mode_and_symlink_stay() {
    let bench = Bench::new();
    bench.write("real/r.md", TICKET);
    fs::set_permissions(bench.path("real/r.md"), Permissions::from_mode(0o640)).unwrap();
    symlink("real/r.md", bench.path("t.md")).unwrap();
    assert_eq!(set(&bench, &["state=queued"]).code, 0);
    assert!(bench.path("t.md").is_symlink());
    assert_eq!(bench.read("real/r.md"), TICKET.replace("ready", "queued"));
    assert_eq!(fs::metadata(bench.path("real/r.md")).unwrap().permissions().mode() & 0o777, 0o640);
}

/// Twelve processes at once, each with a key and a label of its own: every one that said done is in the file.
#[test]
fn many_processes_lose_nothing() {
    let bench = Bench::new();
    bench.write("t.md", TICKET);
    let arguments = |n: usize| [format!("k{n}=v{n}"), "--add".into(), format!("labels=l{n}")];
    let spawn = |n| bench.command("").args(["set", "--file", "t.md"]).args(arguments(n)).spawn().unwrap();
    let children: Vec<_> = (0..12).map(spawn).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let text = bench.read("t.md");
    for n in 0..12 {
        assert!(text.contains(&format!("\nk{n}: v{n}\n")) && text.contains(&format!("l{n}")), "{n}: {text}");
    }
}
