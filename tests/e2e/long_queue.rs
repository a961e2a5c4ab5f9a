//! A long queue is handed over ten at a time, with a count, and worked through (DESIGN.md section 5).

use std::collections::BTreeSet;

use crate::support::stage::Stage;

#[test]
fn five_hundred_tickets_are_ten_items_and_a_count() {
    let stage = Stage::new();
    for number in 0..500 {
        stage.ticket(&format!("t{number:03}"), "queued", "");
    }
    stage.start();
    stage.rest();
    let turns = stage.turns();
    // An Orchestrator that does nothing: each time the next ten, and after three in vain nothing more.
    assert_eq!(turns.len(), 3, "{}", stage.story());
    let handed: BTreeSet<_> = turns.iter().flat_map(|turn| turn.items()).map(str::to_owned).collect();
    assert_eq!(handed.len(), 30);
    for turn in &turns {
        assert_eq!((turn.items().len(), turn.kick["left_out"].as_u64()), (10, Some(490)));
        assert!(turn.list.contains("\n490 more were left out; they come when these have moved.\n"), "{}", turn.list);
    }
    let last = stage.events().into_iter().rfind(|event| event["kind"] == "KICK_SUPPRESSED").unwrap();
    assert_eq!((&last["data"]["why"], &last["data"]["row"]), (&"ignored".into(), &6.into()));
    let status = stage.json("status");
    let alert = status["attention"].as_array().unwrap().last().unwrap();
    assert!(alert["data"]["what"].as_str().unwrap().starts_with("three kicks in a row led to nothing"), "{alert}");
    // By name it goes on where it was.
    stage.done("kick");
    let items: Vec<_> = stage.nth_turn(4).items().into_iter().map(str::to_owned).collect();
    assert!(items.iter().all(|id| !handed.contains(id)), "{items:?}");
    assert_eq!(stage.json("list --class new_queued")["tickets"].as_array().unwrap().len(), 500);
}
