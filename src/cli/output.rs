//! Text for people and JSON for programs: failures on standard error, control characters made harmless.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Outcome;
use super::terminal::{self, Colour};
use crate::api::failure::Failure;
use crate::api::view::DoneView;
pub use crate::domain::harmless::harmless;
use crate::domain::harmless::is_plain;

/// Prints a failure to standard error.
pub fn failure(failure: &Failure) {
    let text = failure.to_string().lines().map(harmless).collect::<Vec<_>>().join("\n");
    aside(&format!("{} {text}", terminal::paint_error(Colour::Red, "yoi:")));
}

/// Prints a line to standard error. Where that cannot be written to there is no other place to say it.
pub fn aside(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Prints a value as JSON, for programs.
pub fn json(value: &impl Serialize) -> Result<(), Failure> {
    print(&as_json(value)?)
}

/// A value as JSON, for programs.
pub fn as_json(value: &impl Serialize) -> Result<String, Failure> {
    serde_json::to_string_pretty(value).map_err(|error| Failure::failed(format!("JSON: {error}")))
}

/// Prints an answer: as it is for programs, as `text` has it for people.
pub fn answer<T: DeserializeOwned>(
    answer: Value,
    as_json: bool,
    text: impl FnOnce(&T) -> Result<(), Failure>,
) -> Outcome {
    if as_json {
        json(&answer)?;
    } else {
        text(&view(answer)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the answer to what was only to be done.
pub fn done(done: Value, as_json: bool) -> Outcome {
    answer(done, as_json, |view: &DoneView| {
        print(&harmless(&view.done))?;
        remarks(&view.remarks)
    })
}

/// Prints what else is to be said, below what was done.
pub fn remarks(remarks: &[String]) -> Result<(), Failure> {
    remark_lines(remarks).iter().try_for_each(|line| print(line))
}

/// The same as lines.
pub fn remark_lines(remarks: &[String]) -> Vec<String> {
    remarks.iter().map(|remark| harmless(&format!("  {remark}"))).collect()
}

/// One JSON object on one line.
pub fn json_line<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default() + "\n"
}

/// Prints text and ends its last line.
pub fn print(text: &str) -> Result<(), Failure> {
    verbatim(&format!("{text}\n"))
}

/// Prints exactly this text. A reader that went away (`yoi list | head`) is no failure.
pub fn verbatim(text: &str) -> Result<(), Failure> {
    offer(text).map(drop)
}

/// Prints lines that somebody has to read: nobody there to do that is a failure, too.
pub fn deliver(lines: &[String]) -> Result<(), Failure> {
    let text = lines.iter().fold(String::new(), |all, line| all + line + "\n");
    if offer(&text)? { Ok(()) } else { Err(Failure::failed("standard output: nobody reads it any more")) }
}

/// Prints exactly this text; false where nobody reads any more.
pub fn offer(text: &str) -> Result<bool, Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(Failure::failed(format!("standard output: {error}"))),
    }
}

/// Adds the text in this colour, made harmless.
pub fn add(to: &mut String, colour: Colour, text: &str) {
    if is_plain(text) {
        terminal::add(to, colour, text);
    } else {
        terminal::add(to, colour, &harmless(text));
    }
}

/// Rows with aligned columns, a line each; `colour` says how to set off the cell of a row and a column.
pub fn aligned<const N: usize>(rows: &[[String; N]], colour: impl Fn(usize, usize) -> Colour) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| terminal::columns(&row[column])).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |(number, row): (usize, &[String; N])| {
        let cell = |(column, (cell, width)): (usize, (&String, usize))| {
            let cell = harmless(cell);
            let filling = terminal::filled(&cell, width).split_off(cell.len());
            terminal::paint(colour(number, column), &cell) + &filling
        };
        row.iter().zip(widths).enumerate().map(cell).collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().enumerate().map(line).collect()
}

/// Prints rows with aligned columns.
pub fn table<const N: usize>(rows: &[[String; N]], colour: impl Fn(usize, usize) -> Colour) -> Result<(), Failure> {
    print(&aligned(rows, colour).join("\n"))
}

/// How to set off a table's head.
pub fn head(row: usize, _column: usize) -> Colour {
    if row == 0 { Colour::Dim } else { Colour::Plain }
}

/// How to set off the names in the first column.
pub fn names(_row: usize, column: usize) -> Colour {
    if column == 0 { Colour::Dim } else { Colour::Plain }
}

/// How to set off a state, or a class.
pub fn state_colour(state: &str) -> Colour {
    match state {
        "active_inprogress" => Colour::Green,
        "actionable_inprogress" | "inprogress" => Colour::Yellow,
        "new_queued" | "planned_queued" | "queued" => Colour::Cyan,
        "done" | "closed" => Colour::Dim,
        "?" => Colour::Red,
        _ => Colour::Plain,
    }
}

/// An argument list on one line, each argument in quotes, so that nobody takes two for one.
pub fn command(arguments: &[String]) -> String {
    harmless(&format!("{arguments:?}"))
}

/// Reads an answer as the view it is.
pub fn view<T: DeserializeOwned>(answer: Value) -> Result<T, Failure> {
    serde_json::from_value(answer).map_err(|error| {
        Failure::failed(format!("the daemon's answer is not what this yoi expects: {error}"))
            .hint("is the daemon of another version? restart it with `yoi down` and `yoi up`")
    })
}

/// A ticket's title, or that it has none.
pub fn title(title: &str) -> &str {
    if title.is_empty() { "(no title)" } else { title }
}

/// `path:line:column`, as far as there is a line and a column.
pub fn place(path: &str, line: usize, column: usize) -> String {
    match (line, column) {
        (0, _) => path.to_owned(),
        (line, 0) => format!("{path}:{line}"),
        (line, column) => format!("{path}:{line}:{column}"),
    }
}

/// `1 file`, `2 files`.
pub fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// As [`harmless`], with tabs kept: for the text of a file.
pub fn harmless_line(text: &str) -> String {
    text.split('\t').map(harmless).collect::<Vec<_>>().join("\t")
}
