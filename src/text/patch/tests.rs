//! What an edit writes, case by case: the frontmatter before, the change, the frontmatter after.

use super::*;

fn item(text: &str) -> Value {
    serde_yaml::from_str(text).unwrap()
}

fn set(key: &str, yaml: &str) -> Change {
    Change::Set(key.into(), item(yaml))
}

fn add(key: &str, yaml: &str) -> Change {
    Change::Add(key.into(), item(yaml))
}

fn remove(key: &str, yaml: &str) -> Change {
    Change::Remove(key.into(), item(yaml))
}

fn unset(key: &str) -> Change {
    Change::Unset(key.into())
}

fn patched(yaml: &str, change: &Change) -> Result<String, PatchError> {
    let frame = |yaml: &str| format!("---\n{yaml}---\nBody: x\n---\nstate: body\n");
    let after = String::from_utf8(patch(frame(yaml).as_bytes(), std::slice::from_ref(change))?).unwrap();
    let tail = "---\nBody: x\n---\nstate: body\n";
    Ok(after.strip_prefix("---\n").unwrap().strip_suffix(tail).unwrap().to_owned())
}

fn check(before: &str, change: &Change, after: &str) {
    assert_eq!(patched(before, change).as_deref(), Ok(after), "{change:?} on {before:?}");
    assert_eq!(patched(after, change).as_deref(), Ok(after), "a second time, on {after:?}");
}

fn refused(before: &str, change: &Change, words: &str) {
    let error = patched(before, change).unwrap_err().to_string();
    assert!(error.contains(words), "{error}");
}

#[test]
fn a_scalar_is_replaced_in_its_own_style() {
    let queued = set("state", "queued");
    check("state: ready\n", &queued, "state: queued\n");
    check("a: 1\nstate:   ready   # why\nb: 2\n", &queued, "a: 1\nstate:   queued   # why\nb: 2\n");
    check("state: 'ready'\n", &queued, "state: 'queued'\n");
    check("\"state\": \"ready\" # x\n", &queued, "\"state\": \"queued\" # x\n");
    check("state :\tready\n", &queued, "state :\tqueued\n");
    check("state:\nowner: me\n", &queued, "state: queued\nowner: me\n");
    check("state: # none yet\nowner: me\n", &queued, "state: queued # none yet\nowner: me\n");
    check("state: ~\n", &queued, "state: queued\n");
    check("state:\n  ready\nb: 1\n", &queued, "state:\n  queued\nb: 1\n");
    check("  state: ready\n  b: 1\n", &queued, "  state: queued\n  b: 1\n");
    check("? state\n: ready\nb: 1\n", &queued, "? state\n: queued\nb: 1\n");
    check("{a: 1, state: ready}\n", &queued, "{a: 1, state: queued}\n");
    check("state: it's\n", &set("state", "\"a: b\""), "state: \"a: b\"\n");
    check("state: 'x'\n", &set("state", "\"it's $1 & \\\\1\""), "state: 'it''s $1 & \\1'\n");
    check("state: x\n", &set("state", "\"two\\nlines\""), "state: \"two\\nlines\"\n");
}

#[test]
fn values_of_several_lines_belong_to_their_key() {
    let short = set("d", "short");
    check("d: one\n  two\nb: 1\n", &short, "d: short\nb: 1\n");
    check("d: 'one\n\n  two'  # c\nb: 1\n", &short, "d: 'short'  # c\nb: 1\n");
    check("d: |\n  state: ready\n  # text\n\nb: 1\n", &short, "d: short\nb: 1\n");
    check("d: >- # c\n  one\n  two\nb: 1\n", &short, "d: short # c\nb: 1\n");
    check("d: |#c\n  one\nb: 1\n", &short, "d: short #c\nb: 1\n");
    check("b: 1\nd: |+\n  one\n\n", &short, "b: 1\nd: short\n");
    check("d: {a: 1,\n  b: 2}\nb: 1\n", &short, "d: short\nb: 1\n");
    check("d: # c\n  - a\n  # in it\n  - b\n# after\nb: 1\n", &short, "d: short # c\n# after\nb: 1\n");
    check("d:\n- a\n- b\nb: 1\n", &short, "d: short\nb: 1\n");
    check("d:\n  x:\n    y: 1\nb: 1\n", &short, "d: short\nb: 1\n");
    let lines = set("d", "\"one\\ntwo\\n\"");
    check("d: |\n    old\nb: 1\n", &lines, "d: |\n    one\n    two\nb: 1\n");
    check("d: >-\n  old\nb: 1\n", &set("d", "\"one\\n\\ntwo\""), "d: |-\n  one\n\n  two\nb: 1\n");
}

#[test]
fn only_the_key_itself_is_the_key() {
    let queued = set("state", "queued");
    check("m:\n  state: ready\nstate: ready\n", &queued, "m:\n  state: ready\nstate: queued\n");
    check("d: |\n  state: ready\nstate: ready\n", &queued, "d: |\n  state: ready\nstate: queued\n");
    check("m: {state: ready}\n", &queued, "m: {state: ready}\nstate: queued\n");
    check("# state: ready\nstatement: ready\n", &queued, "# state: ready\nstatement: ready\nstate: queued\n");
    check("d: \"\n  state: ready\"\nstate: ready\n", &queued, "d: \"\n  state: ready\"\nstate: queued\n");
}

#[test]
fn a_new_key_is_really_inserted() {
    let pr = set("pr", "\"#42\"");
    check("a: 1\n", &pr, "a: 1\npr: \"#42\"\n");
    check("", &pr, "pr: \"#42\"\n");
    check("# only a comment\n", &pr, "# only a comment\npr: \"#42\"\n");
    check("a: 1\n\n", &pr, "a: 1\npr: \"#42\"\n\n");
    check("a: 1\n# end\n", &pr, "a: 1\n# end\npr: \"#42\"\n");
    check("a: |+\n  x\n\n", &pr, "a: |+\n  x\n\npr: \"#42\"\n");
    check("  a: 1\n", &pr, "  a: 1\n  pr: \"#42\"\n");
    check("{a: 1}\n", &pr, "{a: 1, pr: \"#42\"}\n");
    check("{}\n", &pr, "{pr: \"#42\"}\n");
    check("{a: 1,}\n", &pr, "{a: 1, pr: \"#42\"}\n");
    check("a: 1\n", &set("@x/y", "minor"), "a: 1\n\"@x/y\": minor\n");
    check("a: 1\n", &set("l", "[x, 'y, z', 5]"), "a: 1\nl: [x, \"y, z\", 5]\n");
    check("a: 1\n", &set("at", "\"2026-11-30T08:00:00Z\""), "a: 1\nat: \"2026-11-30T08:00:00Z\"\n");
}

#[test]
fn a_flow_list_stays_flow_and_a_block_list_block() {
    let orphan = add("labels", "orphan");
    check("labels: [a, b] # c\n", &orphan, "labels: [a, b, orphan] # c\n");
    check("labels: [ a, b ]\n", &orphan, "labels: [ a, b, orphan ]\n");
    check("labels: []\n", &orphan, "labels: [orphan]\n");
    check("labels: [a, b,]\n", &orphan, "labels: [a, b, orphan]\n");
    check("labels: [\"a\", \"b\"]\n", &orphan, "labels: [\"a\", \"b\", \"orphan\"]\n");
    check("labels: ['a', b]\n", &orphan, "labels: ['a', b, orphan]\n");
    check("labels: [\n  a, # one\n  b  # two\n]\n", &orphan, "labels: [\n  a, # one\n  b,  # two\n  orphan\n]\n");
    check("labels: [\n  a,\n  b,\n]\n", &orphan, "labels: [\n  a,\n  b,\n  orphan,\n]\n");
    check("labels: [\n  a,\n  b]\n", &orphan, "labels: [\n  a,\n  b,\n  orphan]\n");
    check("labels:\n  - a\n  - b # c\nx: 1\n", &orphan, "labels:\n  - a\n  - b # c\n  - orphan\nx: 1\n");
    check("labels:\n- a\n- b\nx: 1\n", &orphan, "labels:\n- a\n- b\n- orphan\nx: 1\n");
    check("labels:\n  -   'a'\n\n# x\nx: 1\n", &orphan, "labels:\n  -   'a'\n  -   'orphan'\n\n# x\nx: 1\n");
    check("labels:\nx: 1\n", &orphan, "labels: [orphan]\nx: 1\n");
    check("x: 1\n", &orphan, "x: 1\nlabels: [orphan]\n");
    check("labels: bug\n", &orphan, "labels: [bug, orphan]\n");
    check("labels: bug, ui\n", &orphan, "labels: [bug, ui, orphan]\n");
    check("labels: [orphan, a]\n", &orphan, "labels: [orphan, a]\n");
    check("labels: [a]\n", &add("labels", "\"x, y\""), "labels: [a, \"x, y\"]\n");
    check("labels: [0010, 2024]\n", &add("labels", "\"2024\""), "labels: [0010, 2024]\n");
    check("base: &b [a]\nlabels: *b\n", &orphan, "base: &b [a]\nlabels: [a, orphan]\n");
    refused("labels: {a: b}\n", &orphan, "`labels` (line 2): it holds a mapping, not a list");
}

#[test]
fn items_are_taken_out_and_nothing_else() {
    let b = remove("labels", "b");
    check("labels: [a, b, c]\n", &b, "labels: [a, c]\n");
    check("labels: [b, c]\n", &b, "labels: [c]\n");
    check("labels: [a, b] # c\n", &b, "labels: [a] # c\n");
    check("labels: [b]\n", &b, "labels: []\n");
    check("labels: [b, a, b, c, b, b]\n", &b, "labels: [a, c]\n");
    check("labels: [\n  a,\n  b,\n]\n", &b, "labels: [\n  a,\n]\n");
    check("labels:\n  - a # x\n  - b # y\n  # z\n  - c\n", &b, "labels:\n  - a # x\n  # z\n  - c\n");
    check("labels:\n  - a\n  # about b\n  - b\n# x\n", &b, "labels:\n  - a\n# x\n");
    check("labels:\n- b\nx: 1\n", &b, "labels: []\nx: 1\n");
    check("labels: a, b\n", &b, "labels: [a]\n");
    check("labels: [a]\n", &b, "labels: [a]\n");
    check("x: 1\n", &b, "x: 1\n");
}

#[test]
fn a_list_is_set_in_the_style_it_has() {
    check("l: [a, b]\n", &set("l", "[a, b, c]"), "l: [a, b, c]\n");
    check("l: [a, b, c]\n", &set("l", "[a, c]"), "l: [a, c]\n");
    check("l:\n  - a # x\n  - b\n", &set("l", "[a, c]"), "l:\n  - a\n  - c\n");
    check("l:\n  - a # x\n  - b\n", &set("l", "[a, b, c]"), "l:\n  - a # x\n  - b\n  - c\n");
    check("l:\n  - a\n", &set("l", "[]"), "l: []\n");
    check("l: x\n", &set("l", "[a, {b: c}]"), "l: [a, {b: c}]\n");
}

#[test]
fn a_key_goes_with_its_lines() {
    check("a: 1\nb: 2 # c\nc: 3\n", &unset("b"), "a: 1\nc: 3\n");
    check("a: 1\nb:\n- x\n- y\n# c\nc: 3\n", &unset("b"), "a: 1\n# c\nc: 3\n");
    check("b: |\n  x\n\nc: 3\n", &unset("b"), "c: 3\n");
    check("b: 1\n", &unset("b"), "");
    check("{a: 1, b: 2, c: 3}\n", &unset("b"), "{a: 1, c: 3}\n");
    check("{a: 1, b: 2}\n", &unset("b"), "{a: 1}\n");
    check("{b: 2}\n", &unset("b"), "{}\n");
    check("a: 1\n", &unset("b"), "a: 1\n");
}

#[test]
fn anchors_and_tags_stay_or_the_edit_is_refused() {
    check("a: &x 1\nb: *x\n", &set("b", "2"), "a: &x 1\nb: 2\n");
    check("a: &x open\nb: 1\n", &set("a", "done"), "a: &x done\nb: 1\n");
    check("a: !!str open\n", &set("a", "done"), "a: !!str done\n");
    check("a: !!int 5\n", &set("a", "done"), "a: done\n");
    check("a: !mine open\n", &set("a", "done"), "a: done\n");
    check("a: &x\nb: 1\n", &set("a", "done"), "a: &x done\nb: 1\n");
    refused("a: &x open\nb: *x\n", &set("a", "done"), "`a` (line 2): its value is used elsewhere as `*x`");
    refused("a: &x [1]\nb: *x\n", &add("a", "2"), "used elsewhere as `*x`");
    refused("a: &x 1\nb: *x\n", &unset("a"), "used elsewhere as `*x`");
}

#[test]
fn what_cannot_be_read_is_not_edited() {
    refused("a: 1\na: 2\n", &set("b", "1"), "line 3, column 1: the key `a` stands twice, on lines 2 and 3");
    refused("a:\n\t- b\n", &set("b", "1"), "a tab as indentation");
    refused("- a\n", &set("b", "1"), "a list, not a mapping");
    let plain = |bytes: &[u8]| patch(bytes, &[set("a", "1")]).unwrap_err().to_string();
    assert_eq!(plain(b"# Title\n"), "the file has no frontmatter");
    assert!(plain(b"+++\na = 1\n+++\n").contains("TOML"));
    assert!(plain(b"---\na: 1\n").contains("no closing line"));
}

#[test]
fn line_ends_byte_order_mark_and_body_stay() {
    let both = |before: &[u8], after: &[u8]| {
        let changes = [set("state", "queued"), add("labels", "x"), set("new", "1")];
        assert_eq!(patch(before, &changes).unwrap(), after, "{:?}", String::from_utf8_lossy(before));
    };
    both(
        b"\xef\xbb\xbf---\r\nstate: ready\r\nlabels:\r\n  - a\r\n---\r\nb\nc\r\n",
        b"\xef\xbb\xbf---\r\nstate: queued\r\nlabels:\r\n  - a\r\n  - x\r\nnew: 1\r\n---\r\nb\nc\r\n",
    );
    both(b"---\r\nstate: ready\nlabels: [a]\r\n---", b"---\r\nstate: queued\r\nlabels: [a, x]\r\nnew: 1\r\n---");
    both(b"---\nlabels: [a]\n...\n\xe9\xff", b"---\nlabels: [a, x]\nstate: queued\nnew: 1\n...\n\xe9\xff".as_slice());
    both(b"---\n---", b"---\nstate: queued\nlabels: [x]\nnew: 1\n---");
}

#[test]
fn forms_of_nothing_and_of_numbers_stay() {
    let before = "a: null\nb: ~\nc: Null\nd:\ne: 1.10\nf: 0010\n";
    check(before, &set("g", "x"), &format!("{before}g: x\n"));
    check("f: 0010\n", &set("f", "'0010'"), "f: \"0010\"\n");
    let written = |text: &str| Change::Written("e".into(), item(text), text.into());
    check("e: 1.1\n", &written("1.10"), "e: 1.10\n");
    check("e: 1.10 # c\n", &written("1.10"), "e: 1.10 # c\n");
    check("x: 1\n", &written("~"), "x: 1\ne: ~\n");
    let wrong = Change::Written("e".into(), item("1"), "2".into());
    refused("e: 1\n", &wrong, "does not read as the value");
}

fn framed(yaml: &str) -> Vec<u8> {
    format!("---\n{yaml}---\nbody\n").into_bytes()
}

/// What the oracle says of this text, after `state: queued` was to be written.
fn judged(before: &str, after: &[u8]) -> Result<(), String> {
    let before = framed(before);
    let read = Read::of(editable(&before).unwrap(), &before);
    let change = set("state", "queued");
    let edit = Edit::new(&read.document, &change).unwrap();
    let intended = intent::intended(&read.document, &change).unwrap().unwrap();
    oracle::judge(&read, &edit, after, &intended).map(|_| ())
}

/// Whatever way of writing is tried: these are not let pass.
#[test]
fn the_oracle_refuses_what_was_not_intended() {
    let before = "a: 1\nstate: ready\nb: 2\n";
    assert_eq!(judged(before, &framed("a: 1\nstate: queued\nb: 2\n")), Ok(()));
    for (after, why) in [
        ("a: 1\nstate: done\nb: 2\n", "would not read as intended"),
        ("b: 2\na: 1\nstate: queued\n", "would not read as intended"),
        ("a:  1\nstate: queued\nb: 2\n", "lines of other keys"),
        ("a: 1\nstate: queued\r\nb: 2\n", "the line ends"),
        ("a: 1\nstate:\tqueued\nb: 2\n", "another YAML reader"),
        ("a: 1\nstate: [queued\nb: 2\n", "would be broken"),
    ] {
        let error = judged(before, &framed(after)).unwrap_err();
        assert!(error.contains(why), "{after:?}: {error}");
    }
    // Whole, and as intended, but with a key that is written as an alias.
    let error = judged("a: state\nstate: ready\n", &framed("a: &k state\n*k : queued\n")).unwrap_err();
    assert!(error.contains("could not edit the file any more"), "{error}");
}

#[test]
fn the_oracle_refuses_what_moves_the_body() {
    let before = "a: 1\nstate: ready\nb: 2\n";
    let moved = judged(before, b"---\na: 1\nstate: queued\nb: 2\n---\nbody \n").unwrap_err();
    assert!(moved.contains("the body would move"), "{moved}");
    let lost = judged(before, b"a: 1\nstate: queued\nb: 2\n---\nbody\n").unwrap_err();
    assert!(lost.contains("would be lost"), "{lost}");
}
