//! The words of a ticket: states, priorities, digests.

use super::*;
use crate::domain::sample::{queued, sealed, texts, with};

#[test]
fn the_six_states_by_name() {
    let names: Vec<_> = State::ALL.iter().map(|s| s.as_str()).collect();
    assert_eq!(names, ["planning", "ready", "queued", "inprogress", "done", "closed"]);
    for state in State::ALL {
        assert_eq!(state.as_str().parse(), Ok(state));
        assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
        assert_eq!(format!("{state:>12}").len(), 12, "names can be aligned");
    }
    for odd in ["", "Queued", "in_progress", "open", " queued"] {
        assert!(odd.parse::<State>().unwrap_err().contains("planning, ready, queued"), "{odd}");
    }
}

#[test]
fn priorities_are_p0_to_p4() {
    for (text, expected) in [("P0", Some("P0")), ("p3", Some("P3")), ("P4", Some("P4"))] {
        assert_eq!(text.parse::<Priority>().ok().map(|p| p.to_string()).as_deref(), expected);
    }
    for odd in ["P5", "P-1", "P", "2", "high", "P 1", "P256", ""] {
        assert!(odd.parse::<Priority>().is_err(), "{odd}");
    }
    assert_eq!(Priority::default().to_string(), "P2");
    assert!(Priority::new(0) < Priority::new(4), "P0 is the highest and comes first");
    assert_eq!(serde_json::from_str::<Priority>("\"P1\"").unwrap(), Priority::new(1).unwrap());
    assert!(serde_json::from_str::<Priority>("\"P9\"").is_err());
}

#[test]
fn the_builder_of_these_tests_keeps_stamps_out_of_the_meaning() {
    let it = sealed(queued("a"), "body");
    let stamped = sealed(with(it.clone(), |t| t.labels = texts(&["orphan", "claimed"])), "body");
    assert_eq!(it.meaning, stamped.meaning);
    assert_ne!(it.content, stamped.content);
    assert_ne!(sealed(it.clone(), "other").meaning, it.meaning);
}
