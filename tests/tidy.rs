//! The shape of the source (docs/architecture.md): floors, forbidden words, lengths, documents.
//!
//! Must not know: what any room does.

use std::collections::BTreeMap;
use std::fs;

use crate::support::source;

mod code;

use code::{File, files};

/// Each room's floor. Arrows point down, or stay on the floor.
const FLOORS: [(&str, u8); 14] = [
    ("domain", 0),
    ("text", 0),
    ("ports", 1),
    ("adapters", 2),
    ("config", 2),
    ("daemon", 3),
    ("api", 4),
    ("http", 5),
    ("mcp", 5),
    ("app", 6),
    ("cli", 7),
    ("panel", 7),
    ("lib", 8),
    ("sim", 8),
];

/// What the code of a floor may not say: from floor, to floor, words.
const FORBIDDEN: [(u8, u8, &[&str]); 4] = [
    (0, 0, &["std::fs", "std::net", "std::process", "std::thread", "std::env", "std::io", "File", "Command::new"]),
    (
        0,
        0,
        &[
            "tokio",
            "tracing",
            "git2",
            "rustix",
            "Utc::now",
            "Local::now",
            "Local",
            "SystemTime",
            "Instant",
            "HashMap",
            "HashSet",
        ],
    ),
    (0, 2, &["ratatui", "axum", "clap"]),
    (3, 4, &["std::fs", "tokio::fs", "walkdir", "git2", "rusqlite"]),
];

/// The longest file and the longest function, in lines.
const LONGEST_FILE: usize = 500;
const LONGEST_FUNCTION: usize = 70;

/// Above this many lines a file should be asked whether it still knows what it is about...
const LONG_FILE: usize = 300;
/// ...and no more than this many may answer yes.
const LONG_FILES: usize = 8;

/// Fails with every complaint at once.
fn check(complaints: impl IntoIterator<Item = String>) {
    let complaints: Vec<_> = complaints.into_iter().collect();
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

fn floor(room: &str) -> Option<u8> {
    FLOORS.iter().find(|(name, _)| *name == room).map(|(_, floor)| *floor)
}

/// The product's own files, with their floors; the program's entry stands above all.
fn rooms() -> Vec<(File, u8)> {
    let rooms = files("src").into_iter().filter(|file| file.path != "src/main.rs");
    rooms
        .map(|file| (floor(file.room()).unwrap_or_else(|| panic!("{}: a room without a floor", file.path)), file))
        .map(|(floor, file)| (file, floor))
        .collect()
}

#[test]
fn arrows_point_down() {
    let mut complaints = Vec::new();
    for (file, floor) in rooms() {
        for (line, room) in file.imports() {
            match self::floor(&room) {
                None => complaints.push(format!("{}:{line}: `crate::{room}` is no room", file.path)),
                Some(other) if other > floor => {
                    complaints.push(format!("{}:{line}: floor {floor} uses `{room}` on floor {other}", file.path));
                }
                Some(_) => {}
            }
        }
    }
    check(complaints);
}

#[test]
fn floors_do_not_say_what_they_must_not_know() {
    let mut complaints = Vec::new();
    for (file, floor) in rooms() {
        for (from, to, words) in FORBIDDEN {
            if !(from..=to).contains(&floor) {
                continue;
            }
            for word in words {
                let lines = file.lines_with(word);
                complaints.extend(lines.map(|line| format!("{}:{line}: floor {floor} says `{word}`", file.path)));
            }
        }
    }
    check(complaints);
}

#[test]
fn files_and_functions_are_short() {
    let all: Vec<_> = files("src").into_iter().chain(files("tests")).collect();
    let too_long = all.iter().filter(|file| file.length() > LONGEST_FILE);
    let files = too_long.map(|file| format!("{}: {} lines, at most {LONGEST_FILE}", file.path, file.length()));
    let functions = all.iter().flat_map(|file| {
        let too_long = file.functions().into_iter().filter(|function| function.lines > LONGEST_FUNCTION);
        let text = |f: code::Function| {
            format!("{}:{}: `{}` has {} lines, at most {LONGEST_FUNCTION}", file.path, f.line, f.name, f.lines)
        };
        too_long.map(text).collect::<Vec<_>>()
    });
    check(files.chain(functions));
}

#[test]
fn few_files_are_long() {
    let product = files("src").into_iter().filter(|file| !file.is_test());
    let long: Vec<_> = product.filter(|file| file.length() > LONG_FILE).collect();
    let names = long.iter().map(|file| format!("{} ({} lines)", file.path, file.length()));
    let budget = format!("{} files over {LONG_FILE} lines, at most {LONG_FILES}; split one:", long.len());
    check((long.len() > LONG_FILES).then_some(budget).into_iter().chain(names).filter(|_| long.len() > LONG_FILES));
}

#[test]
fn every_file_says_what_it_is_and_every_public_item_what_it_means() {
    let mut complaints = Vec::new();
    for file in files("src").into_iter().chain(files("tests")) {
        if !file.text.starts_with("//! ") {
            complaints.push(format!("{}: does not begin with `//!` and what it is", file.path));
        }
        let undocumented = file.undocumented();
        complaints.extend(undocumented.map(|(line, item)| format!("{}:{line}: without a sentence: {item}", file.path)));
    }
    check(complaints);
}

#[test]
fn the_manifest_keeps_the_rules_that_the_compiler_checks() {
    let manifest = fs::read_to_string(source().join("Cargo.toml")).unwrap();
    let rules = [
        "unsafe_code = \"forbid\"",
        "missing_docs = \"warn\"",
        "unwrap_used = \"warn\"",
        "expect_used = \"warn\"",
        "panic = \"warn\"",
        "allow_attributes = \"warn\"",
    ];
    check(rules.iter().filter(|rule| !manifest.contains(**rule)).map(|rule| format!("Cargo.toml: lost `{rule}`")));
}

/// Every document that is made from the code: where it lies, and its text.
fn generated_documents() -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("docs/configuration.md", yoi::config::reference::markdown()),
        ("docs/schema.json", yoi::api::schema::text()),
    ])
}

#[test]
fn generated_documents_are_current() {
    let mut complaints = Vec::new();
    for (path, text) in generated_documents() {
        let file = source().join(path);
        if std::env::var_os("REGENERATE").is_some() {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &text).unwrap();
        }
        if fs::read_to_string(&file).unwrap_or_default() != text {
            complaints.push(format!("{path}: not what the code makes; `REGENERATE=1 cargo test generated` writes it"));
        }
    }
    check(complaints);
}
