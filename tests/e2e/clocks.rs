//! Thresholds and stamps are the same in every time zone and over a change of the clocks; odd and future timestamps are
//! read or named (FAULTS kind 7).

use chrono::{DateTime, Datelike, TimeDelta, Utc};

use crate::support::stage::{BOUND, Stage, ticket_text};
use crate::support::wait::until;

const ZONES: [&str; 4] = ["UTC", "Asia/Tokyo", "America/St_Johns", "Pacific/Apia"];

/// Tickets whose times are written in every way, around changes of the clocks and far away.
fn timed(stage: &Stage) {
    let times = [
        ("utc", "\"2026-03-08T06:00:00Z\""),
        ("before-dst", "\"2026-03-08T01:59:59-03:30\""),
        ("after-dst", "\"2026-03-08T03:00:00-02:30\""),
        ("twice-in-autumn", "\"2026-11-01T01:30:00-02:30\""),
        ("twice-in-autumn-later", "\"2026-11-01T01:30:00-03:30\""),
        ("tokyo", "2026-03-08T15:00:00+09:00"),
        ("fraction", "\"2026-03-08T06:00:00.123456789Z\""),
        ("future", "\"2999-01-01T00:00:00Z\""),
        ("ancient", "\"0001-01-01T00:00:00Z\""),
        ("date-alone", "2026-03-08"),
        ("no-zone", "\"2026-03-08T06:00:00\""),
        ("words", "yesterday"),
        ("no-day", "\"2026-02-30T00:00:00Z\""),
        ("leap-second", "\"2016-12-31T23:59:60Z\""),
        ("number", "1772949600"),
    ];
    for (id, time) in times {
        stage.ticket(id, "queued", &format!("queued_at: {time}\ncreated_at: {time}"));
    }
}

#[test]
fn what_is_shown_is_the_same_everywhere() {
    let mut stage = Stage::new();
    timed(&stage);
    let mut said = Vec::new();
    for zone in ZONES {
        stage.bench.set("TZ", zone);
        let mut lines: Vec<_> =
            ["list --all --json", "list", "why before-dst", "why future --json", "show tokyo --json"]
                .iter()
                .map(|line| stage.yoi(line).to_string())
                .collect();
        // The remark about a future time says when it was said.
        lines.push(stage.yoi("doctor --json").to_string());
        said.push((zone, lines));
    }
    for (zone, lines) in &said[1..] {
        assert_eq!(*lines, said[0].1, "{zone}");
    }
    let list = stage.json("list --all");
    let of = |id: &str| list["tickets"].as_array().unwrap().iter().find(|ticket| ticket["id"] == id).unwrap();
    for (id, at) in [
        ("before-dst", "2026-03-08T05:29:59Z"),
        ("after-dst", "2026-03-08T05:30:00Z"),
        ("tokyo", "2026-03-08T06:00:00Z"),
        ("twice-in-autumn", "2026-11-01T04:00:00Z"),
        ("twice-in-autumn-later", "2026-11-01T05:00:00Z"),
        ("future", "2999-01-01T00:00:00Z"),
    ] {
        assert_eq!(of(id)["queued_at"], at, "{id}");
    }
    for id in ["words", "no-day", "number"] {
        assert!(!of(id)["problems"].as_array().unwrap().is_empty(), "{id} is named: {}", of(id));
    }
}

#[test]
fn stamps_are_utc_and_now_everywhere() {
    for zone in ZONES {
        let mut stage = Stage::new();
        stage.bench.set("TZ", zone);
        for id in ["direct", "requested", "edited"] {
            stage.ticket(id, "ready", "");
        }
        let utc = || {
            let mut date = stage.bench.program("date", "work");
            stage.bench.run(date.args(["-u", "+%Y-%m-%dT%H:%M:%SZ"])).stdout.trim().to_owned()
        };
        let before = utc();
        stage.done("move direct queued");
        stage.start();
        stage.done("move requested queued");
        let mark = stage.mark();
        stage.save("edited", "state: ready", "state: queued");
        stage.event(mark, "the entry", |event| event["ticket"] == "edited");
        stage.rest();
        stage.done("accept edited");
        let after = utc();
        for (id, key) in
            [("direct", "queued_at"), ("requested", "queued_at"), ("edited", "queued_at"), ("edited", "accepted_at")]
        {
            let text = stage.text(id);
            let line = text.lines().find_map(|line| line.strip_prefix(&format!("{key}: ")));
            let stamp = line.unwrap_or_else(|| panic!("{zone}: no {key} in {text}")).trim_matches('"');
            assert!(before.as_str() <= stamp && stamp <= after.as_str(), "{zone}: {before} {stamp} {after}");
        }
        let due = stage.order("await edited --step review --for 2h");
        assert_eq!(due.code, 0, "{due}");
        let set = stage.json("work-set");
        let due = set["entries"][0]["awaited"]["due"].as_str().unwrap().to_owned();
        let in_two_hours = |from: &str| {
            let mut date = stage.bench.program("date", "work");
            let ago = format!("{from} + 2 hours");
            stage.bench.run(date.args(["-u", "-d", &ago, "+%Y-%m-%dT%H:%M:%SZ"])).stdout.trim().to_owned()
        };
        assert!(in_two_hours(&before) <= due && due <= in_two_hours(&utc()), "{zone}: {due}");
        stage.stop();
    }
}

#[test]
fn a_ticket_from_the_future_is_no_instant_anything() {
    let stage = Stage::new();
    stage
        .bench
        .write("work/tickets/future.md", &ticket_text("future", "queued", "queued_at: \"2999-01-01T00:00:00Z\""));
    stage.start();
    stage.rest();
    assert_eq!(stage.json("show future")["ticket"]["class"], "new_queued");
    let said = stage.yoi("doctor");
    assert!(said.stdout.contains("future"), "{said}");
    let why = stage.yoi("why future");
    assert!(!why.stdout.contains('-') || !why.stdout.contains("for -"), "no negative age: {why}");
    assert_eq!(stage.kicks(), 1);
}

/// A time zone whose clocks change by an hour at this moment.
fn changing(at: DateTime<Utc>, forward: bool) -> String {
    let (day, time) = (at.ordinal0(), at.format("%H:%M:%S"));
    let other = if day < 180 { 364 } else { 0 };
    // Before the change its clocks show what UTC's do.
    if forward { format!("STD0DST-1,{day}/{time},{other}/0") } else { format!("STD1DST0,{other}/0,{day}/{time}") }
}

/// A daemon runs over a change of the clocks of its own zone: what was due after it is due after as long as was said,
/// and stamps go on.
fn runs_over_a_change(forward: bool) {
    let mut stage = Stage::new();
    for id in ["awaited", "before", "after"] {
        stage.ticket(id, "ready", "");
    }
    let change = Utc::now() + TimeDelta::seconds(4);
    stage.bench.set("TZ", changing(change, forward));
    let offset = |at: DateTime<Utc>| {
        let mut date = stage.bench.program("date", "work");
        stage.bench.run(date.args(["-d", &format!("@{}", at.timestamp()), "+%z"])).stdout.trim().to_owned()
    };
    let offsets = (offset(change - TimeDelta::seconds(2)), offset(change + TimeDelta::seconds(2)));
    let expected = if forward { ("+0000", "+0100") } else { ("+0000", "-0100") };
    assert_eq!((offsets.0.as_str(), offsets.1.as_str()), expected);
    stage.start();
    stage.done("move awaited queued");
    stage.done("accept awaited");
    stage.rest();
    let begun = Utc::now();
    stage.done("move before queued");
    let answer = stage.order("await awaited --step review --for 5s");
    assert_eq!(answer.code, 0, "{answer}");
    let stamp = |id: &str| -> DateTime<Utc> {
        stage.json(&format!("show {id}"))["ticket"]["queued_at"].as_str().unwrap().parse().unwrap()
    };
    let due: DateTime<Utc> = stage.json("work-set")["entries"][0]["awaited"]["due"].as_str().unwrap().parse().unwrap();
    assert!(due >= begun + TimeDelta::seconds(4) && due <= Utc::now() + TimeDelta::seconds(5), "{begun} {due}");
    until("the change", BOUND, || (Utc::now() > change).then_some(()), String::new);
    let class = || stage.json("show awaited")["ticket"]["class"].clone();
    until("what is overdue", BOUND, || (class() == "actionable_inprogress").then_some(()), || stage.story());
    let over = Utc::now();
    assert!(over >= due, "{over} {due}");
    stage.done("move after queued");
    let (before, after) = (stamp("before"), stamp("after"));
    assert!(begun - TimeDelta::seconds(1) <= before && before <= after, "{begun} {before} {after}");
    assert!(over - TimeDelta::seconds(1) <= after && after <= Utc::now(), "{over} {after}");
    let history: Vec<String> = stage.events().iter().map(|event| event["at"].as_str().unwrap().to_owned()).collect();
    assert!(history.is_sorted(), "{history:?}");
}

#[test]
fn a_daemon_runs_over_a_change_to_summer_time() {
    runs_over_a_change(true);
}

#[test]
fn a_daemon_runs_over_a_change_to_winter_time() {
    runs_over_a_change(false);
}
