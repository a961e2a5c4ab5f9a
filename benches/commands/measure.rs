//! Several things measured in turns, so that a machine that is busy for a while is busy for all of them.
//!
//! Must not know: what is measured.

use std::process::Command;
use std::time::{Duration, Instant};

/// One thing that is measured: it runs once and says how long it took, or why it cannot be.
pub struct Row<'b> {
    name: String,
    run: Box<dyn FnMut() -> Result<Duration, String> + 'b>,
    times: Vec<Duration>,
    failed: Option<String>,
}

impl<'b> Row<'b> {
    /// A row of that name.
    pub fn new(name: impl Into<String>, run: impl FnMut() -> Result<Duration, String> + 'b) -> Self {
        Self { name: name.into(), run: Box::new(run), times: Vec::new(), failed: None }
    }

    /// A row whose time is that of a whole process. `command` is asked anew each time, outside of what is measured.
    pub fn process(name: impl Into<String>, mut command: impl FnMut() -> Command + 'b) -> Self {
        Self::new(name, move || whole_process(&mut command()))
    }

    fn median(&mut self) -> Option<Duration> {
        self.times.sort();
        self.times.get(self.times.len() / 2).copied()
    }
}

/// From before the start of a process to its end.
pub fn whole_process(command: &mut Command) -> Result<Duration, String> {
    let begun = Instant::now();
    let status = command.status().map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    let took = begun.elapsed();
    if status.success() { Ok(took) } else { Err(format!("{} ended with {status}", command.get_program().display())) }
}

/// Runs all rows once to warm up, then `rounds` times in turns, and prints a Markdown table. The ratio is to the row that
/// is named so.
pub fn side_by_side(title: &str, rounds: usize, reference: &str, mut rows: Vec<Row<'_>>) -> Medians {
    for round in 0..=rounds {
        for row in rows.iter_mut().filter(|row| row.failed.is_none()) {
            match (row.run)() {
                Ok(took) if round > 0 => row.times.push(took),
                Ok(_) => {}
                Err(why) => row.failed = Some(why),
            }
        }
    }
    let unit = rows.iter_mut().find(|row| row.name == reference).and_then(Row::median);
    println!("\n| {title} | median ms | least ms | of `{reference}` |\n|---|---|---|---|");
    for row in &mut rows {
        match row.median() {
            _ if row.failed.is_some() => println!("| {} | {} | | |", row.name, row.failed.as_deref().unwrap_or("")),
            Some(median) => {
                let ratio =
                    unit.map_or_else(String::new, |unit| format!("{:.2}", median.as_secs_f64() / unit.as_secs_f64()));
                println!("| {} | {} | {} | {ratio} |", row.name, ms(median), ms(row.times[0]));
            }
            None => println!("| {} | | | |", row.name),
        }
    }
    Medians(rows.iter_mut().filter_map(|row| Some((row.name.clone(), row.median()?))).collect())
}

/// What came out, by the rows' names.
pub struct Medians(Vec<(String, Duration)>);

impl Medians {
    /// One row's.
    pub fn of(&self, name: &str) -> Option<Duration> {
        self.0.iter().find(|(row, _)| row == name).map(|(_, median)| *median)
    }

    /// How many times the second one's the first is.
    pub fn ratio(&self, name: &str, reference: &str) -> Option<f64> {
        Some(self.of(name)?.as_secs_f64() / self.of(reference)?.as_secs_f64())
    }
}

/// The median, or the longest where there are too few.
pub fn median(times: &mut [Duration]) -> Duration {
    times.sort();
    times.get(times.len() / 2).or(times.last()).copied().unwrap_or_default()
}

/// Median and 99th percentile of what was measured one after another.
pub fn spread(mut times: Vec<Duration>) -> String {
    times.sort();
    let at = |percent: usize| times.get(times.len() * percent / 100).or(times.last()).copied().unwrap_or_default();
    format!("{} / {}", ms(at(50)), ms(at(99)))
}

/// In milliseconds, with three digits that say something.
pub fn ms(time: Duration) -> String {
    let ms = time.as_secs_f64() * 1000.0;
    match ms {
        ms if ms < 10.0 => format!("{ms:.2}"),
        ms if ms < 100.0 => format!("{ms:.1}"),
        ms => format!("{ms:.0}"),
    }
}
