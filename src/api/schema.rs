//! The schema of every `--json` answer, by command; `docs/schema.json` is compared with it, and the tests check real
//! answers against it.
//!
//! Must not know: any answer's content.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use super::failure::Failure;
use super::inspect::Inspection;
use super::settings::{ConfigView, TrustView};
use super::view::{
    BeatView, ClaimView, DoctorView, DoneView, DownView, EndView, EventView, HookView, KickView, ListView, MoveView,
    NewView, NextView, PodsView, RestoredView, SetView, ShowView, StartView, StatusView, UpView, WhyView, WorkSetView,
    WorktreeRemovedView, WorktreesView,
};

/// All schemas in one document: `commands` names each command's, `$defs` holds them.
pub fn document() -> Value {
    let mut generator = SchemaGenerator::default();
    let mut commands = serde_json::Map::new();
    let mut add = |names: &[&str], schema: Schema| {
        for name in names {
            commands.insert((*name).to_owned(), schema.clone().to_value());
        }
    };
    add(&["config"], of::<ConfigView>(&mut generator));
    add(&["trust"], of::<TrustView>(&mut generator));
    add(&["inspect"], of::<Inspection>(&mut generator));
    add(&["list"], of::<ListView>(&mut generator));
    add(&["show"], of::<ShowView>(&mut generator));
    add(&["why"], of::<WhyView>(&mut generator));
    add(&["new"], of::<NewView>(&mut generator));
    add(&["move", "accept", "offer", "release"], of::<MoveView>(&mut generator));
    add(&["claim"], of::<ClaimView>(&mut generator));
    add(&["next"], of::<NextView>(&mut generator));
    add(&["start"], of::<StartView>(&mut generator));
    add(&["heartbeat"], of::<BeatView>(&mut generator));
    add(&["worktree list"], of::<WorktreesView>(&mut generator));
    add(&["worktree remove"], of::<WorktreeRemovedView>(&mut generator));
    add(&["worktree restore"], of::<RestoredView>(&mut generator));
    add(&["block", "decompose", "close"], of::<EndView>(&mut generator));
    add(&["set"], of::<SetView>(&mut generator));
    add(&["work-set"], of::<WorkSetView>(&mut generator));
    add(
        &["plan", "wait", "await", "pause", "resume", "orchestrator attach", "orchestrator reset"],
        of::<DoneView>(&mut generator),
    );
    add(&["hook"], of::<HookView>(&mut generator));
    add(&["pod list"], of::<PodsView>(&mut generator));
    add(&["kick"], of::<KickView>(&mut generator));
    add(&["status"], of::<StatusView>(&mut generator));
    add(&["events"], of::<EventView>(&mut generator));
    add(&["doctor"], of::<DoctorView>(&mut generator));
    add(&["up"], of::<UpView>(&mut generator));
    add(&["down"], of::<DownView>(&mut generator));
    add(&["(failure, over HTTP)"], of::<Failure>(&mut generator));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Answers of yoi, version 1",
        "description": "`inspect` and `events` print one object a line; every other command one object.",
        "commands": commands,
        "$defs": generator.take_definitions(true),
    })
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// The document as it stands in `docs/schema.json`.
pub fn text() -> String {
    serde_json::to_string_pretty(&document()).unwrap_or_default() + "\n"
}
