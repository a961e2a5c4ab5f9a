//! Pages of docs/: their commands are run in their order, and print what stands there. Times, names of objects and of
//! processes differ. `REGENERATE=1 cargo test workers_page` writes the pages' output anew.
//!
//! Must not know: what a page is about.

use std::fs;

use crate::support::{Bench, source};

/// Each command in the shell that the one before it has left: its folder, its variables.
const SHELL: &str = r#"
if test -f "$HOME/variables"; then . "$HOME/variables"; fi; cd "${PLACE:-.}"
eval "$1"; code=$?
PLACE=$PWD; export PLACE; export -p > "$HOME/variables"
exit $code
"#;

/// Runs a command of the page. Returns what a person sees, with the exit code where it is none of success.
fn run(bench: &Bench, command: &str) -> String {
    let binary = std::path::Path::new(env!("CARGO_BIN_EXE_yoi")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = bench.program("sh", "work");
    let home = bench.path("").display().to_string().trim_end_matches('/').to_owned();
    let answer = bench.run(
        shell
            .args(["-c", &format!("exec 2>&1\n{SHELL}"), "sh", &command.replace("/home/ana", &home)])
            .env("PATH", path),
    );
    let code = if answer.code == 0 { String::new() } else { format!("(exit {})\n", answer.code) };
    answer.stdout.replace("[BENCH]", "/home/ana") + &code
}

/// Without what differs from run to run: times, the names of objects, of Pods and of processes.
fn masked(text: &str) -> String {
    let lines = text.lines().map(|line| {
        let line = masked_line(line);
        // A table is as wide as its longest number.
        if line.contains("POD") { line.split_whitespace().collect::<Vec<_>>().join(" ") } else { line }
    });
    lines.fold(String::new(), |all, line| all + &line + "\n")
}

fn masked_line(text: &str) -> String {
    let masked = |word: &str| {
        // A sentence may end with one.
        let time = word.trim_end_matches('.');
        let is_time = time.len() == 20 && time.as_bytes()[10] == b'T' && time.ends_with('Z');
        let is_name = word.len() >= 7
            && word.chars().all(|c| c.is_ascii_hexdigit())
            && word.contains(|c: char| c.is_ascii_digit());
        if is_time {
            word.replace(time, "TIME")
        } else if is_name {
            "NAME".to_owned()
        } else if word.starts_with("pod-") || word.contains("/pod-") {
            "POD".to_owned()
        } else if word.len() >= 3 && word.chars().all(|c| c.is_ascii_digit()) {
            "N".to_owned()
        } else {
            word.to_owned()
        }
    };
    let is_end = |c: char| c.is_whitespace() || "\"'`=,;()".contains(c);
    text.split_inclusive(is_end)
        .map(|piece| {
            // A time may be a sentence's last word.
            let word = piece.trim_end_matches(|c| is_end(c) || c == '.');
            masked(word) + &piece[word.len()..]
        })
        .collect()
}

/// The page with the output of its commands as it is now.
fn played(page: &str, bench: &Bench) -> String {
    let mut out = String::new();
    let mut playing = false;
    for line in page.lines() {
        if line.starts_with("```") {
            playing = line == "```console";
        }
        match line.strip_prefix("$ ").filter(|_| playing) {
            Some(command) => out.extend([line, "\n", &run(bench, command)]),
            None if playing && !line.starts_with("```") => {}
            None => out.extend([line, "\n"]),
        }
    }
    out
}

fn check(name: &str) {
    let file = source().join(name);
    let page = fs::read_to_string(&file).unwrap();
    let played = played(&page, &Bench::with_git());
    let current = masked(&played) == masked(&page);
    if !current && std::env::var_os("REGENERATE").is_some() {
        fs::write(&file, played).unwrap();
        return;
    }
    let differs = masked(&played)
        .lines()
        .zip(masked(&page).lines())
        .find(|(now, page)| now != page)
        .map(|(now, page)| format!("it says    {page}\nit is now  {now}"));
    assert!(current, "{name}: REGENERATE=1 cargo test workers_page writes it\n{}", differs.unwrap_or_default());
}

#[test]
fn the_commands_of_the_workers_page_print_what_stands_there() {
    check("docs/workers.md");
}

#[test]
fn the_commands_of_the_roles_page_print_what_stands_there() {
    check("docs/roles.md");
}
