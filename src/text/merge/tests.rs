//! What becomes of an edit when something else than what was read comes out of the exchange.

use std::convert::Infallible;

use super::*;

fn ticket(state: &str, more: &str) -> String {
    format!("---\ntitle: x\nstate: {state}\n---\n{more}")
}

/// A file on which somebody else acts between our steps: `saves[n]` is there before the n-th exchange.
fn play(first: &str, saves: &[&str]) -> (String, Result<Swapped, Failure<Infallible>>) {
    let mut file = first.as_bytes().to_vec();
    let mut out = Vec::new();
    let mut saves = saves.iter();
    let mut exchange = Exchange::begin(file.clone());
    while let Step::Put(put) = exchange.next(&mut |_| Ok(vec![Change::text("state", "queued")])) {
        if let Some(text) = saves.next() {
            file = text.as_bytes().to_vec();
        }
        out = std::mem::replace(&mut file, put);
        let expected = out == exchange.expected();
        exchange.tell(if expected { CameOut::Expected } else { CameOut::Other(out.clone()) });
    }
    assert!(exchange.is_settled() || exchange.newest() == out, "the newest text is in the file, or came out last");
    (String::from_utf8(file).unwrap(), exchange.end())
}

fn check(first: &str, saves: &[&str], file: &str, outcome: &str) {
    let (text, result) = play(first, saves);
    let said = match result {
        Ok(swapped) => {
            assert_eq!(String::from_utf8(swapped.after).unwrap(), text);
            "done".to_owned()
        }
        Err(Failure::Conflict(clash)) => format!("{}: {} / {}", clash.key, clash.theirs, clash.ours),
        Err(Failure::Unsafe(_)) => "unsafe".to_owned(),
        Err(Failure::Busy) => "busy".to_owned(),
        Err(Failure::Refused(never)) => match never {},
    };
    assert_eq!((text.as_str(), said.as_str()), (file, outcome), "{saves:?}");
}

#[test]
fn what_comes_out_is_the_newest_and_is_edited_or_put_in_place() {
    let (ready, queued, done) = (|more| ticket("ready", more), |more| ticket("queued", more), |m| ticket("done", m));
    check(&ready(""), &[], &queued(""), "done");
    check(&queued(""), &[], &queued(""), "done");
    check(&ready(""), &[&ready("theirs\n")], &queued("theirs\n"), "done");
    check(&ready(""), &[&queued("theirs\n")], &queued("theirs\n"), "done");
    check(&ready(""), &[&ready("1\n"), &ready("2\n"), &ready("3\n")], &queued("3\n"), "done");
    check(&ready(""), &[&done("theirs\n")], &done("theirs\n"), "state: done / queued");
    // While theirs is put in place, somebody saves once more.
    check(&ready(""), &[&done("1\n"), &ready("2\n")], &ready("2\n"), "state: done / queued");
    check(&ready(""), &["half a t"], "half a t", "unsafe");
    check("none", &[], "none", "unsafe");
}

#[test]
fn a_writer_who_never_rests_ends_the_edit_with_his_text_in_the_file() {
    let texts: Vec<String> = (0..60).map(|n| ticket("ready", &format!("{n}\n"))).collect();
    let saves: Vec<&str> = texts.iter().map(String::as_str).collect();
    check(&ticket("ready", ""), &saves, &texts[59], "busy");
    let texts: Vec<String> = (0..200).map(|n| ticket("ready", &format!("{n}\n"))).collect();
    let saves: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(play(&ticket("ready", ""), &saves).1, Err(Failure::Busy));
}

#[test]
fn what_was_not_put_is_decided_again() {
    let mut exchange = Exchange::<Infallible>::begin(ticket("ready", "").into());
    let mut decide = |_: &[u8]| Ok(vec![Change::text("state", "queued")]);
    assert_eq!(exchange.next(&mut decide), Step::Put(ticket("queued", "").into()));
    exchange.tell(CameOut::NotPut(ticket("ready", "theirs\n").into()));
    assert_eq!(exchange.expected(), ticket("ready", "theirs\n").as_bytes());
    assert_eq!(exchange.next(&mut decide), Step::Put(ticket("queued", "theirs\n").into()));
    exchange.tell(CameOut::NotPut(ticket("done", "theirs\n").into()));
    assert_eq!(exchange.next(&mut decide), Step::End);
    assert!(matches!(exchange.end(), Err(Failure::Conflict(_))));
}

#[test]
fn edits_are_made_again_in_order_unless_a_key_was_set_by_both() {
    let base = ticket("ready", "b\n");
    let first = Edit::on(base.as_bytes(), vec![Change::text("state", "queued"), Change::text("k", "1")]);
    let then = replay(base.as_bytes(), [&first]).unwrap();
    let second = Edit::on(&then, vec![Change::text("k", "2"), Change::Add("labels".into(), "x".into())]);
    let again = |theirs: &str| match replay(theirs.as_bytes(), [&first, &second]) {
        Ok(text) => String::from_utf8(text).unwrap(),
        Err(NotReplayed::Conflict(clash)) => format!("{}: {} / {}", clash.key, clash.theirs, clash.ours),
        Err(NotReplayed::Unsafe(_)) => "unsafe".to_owned(),
    };
    let all = "---\ntitle: x\nstate: queued\nk: \"2\"\nlabels: [x]\n---\nmore\n";
    assert_eq!(again(&ticket("ready", "more\n")), all);
    assert_eq!(again(&ticket("queued", "more\n")), all);
    assert_eq!(again(&ticket("done", "more\n")), "state: done / queued");
    assert_eq!(again("---\ntitle: x\nstate: ready\nk: '2'\n---\n"), "k: \"2\" / \"1\"");
    assert_eq!(again("---\ntitle: x\nsta"), "unsafe");
    assert_eq!(again(""), "unsafe");
}

#[test]
fn a_text_holds_another_when_no_line_of_it_is_missing() {
    for (whole, part, holds) in [
        ("a\nb\n", "b\na\n", true),
        ("a\nb\n", "a\na\n", false),
        ("a\n", "a", true),
        ("", "", true),
        ("a\n", "\n\n", true),
        ("a\n", "b", false),
    ] {
        assert_eq!(holds_all_lines(whole.as_bytes(), part.as_bytes(), &[].into()), holds, "{whole:?} {part:?}");
    }
    assert!(holds_all_lines(b"k: 2\na\n", b"k: 1\na\n", &["k".into()].into()));
    assert!(!holds_all_lines(b"k: 2\na\n", b"k: 1\nl: 1\n", &["k".into()].into()));
}
