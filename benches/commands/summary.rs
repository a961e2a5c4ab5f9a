//! All that was measured, with what was aimed at: one table, for docs/performance.md.
//!
//! Must not know: how anything was measured.

/// The rows, in the order in which they came.
#[derive(Default)]
pub struct Summary(Vec<[String; 5]>);

impl Summary {
    /// A row: its number in the table of targets, what was done, with which backlog, what came out, what was aimed at.
    pub fn row(&mut self, number: &str, what: &str, backlog: &str, measured: String, target: &str) {
        self.0.push([number.to_owned(), what.to_owned(), backlog.to_owned(), measured, target.to_owned()]);
    }

    /// By number; what has one number stays in its order.
    pub fn print(mut self) {
        self.0.sort_by_key(|[number, ..]| number[1..].parse::<u32>().unwrap_or_default());
        println!("\n## All of it\n\n| # | what | backlog | measured | target |\n|---|---|---|---|---|");
        for [number, what, backlog, measured, target] in self.0 {
            println!("| {number} | {what} | {backlog} | {measured} | {target} |");
        }
    }
}
