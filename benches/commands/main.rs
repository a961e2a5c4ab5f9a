//! Whole commands and a daemon measured side by side with ripgrep and with what the system itself takes:
//! docs/performance.md says how to run this and what came out.
//!
//!     cargo bench --bench commands -- [--sizes 1000,10000] [--rounds 15] [--rest 60] [--floor PROGRAM]
//!     ... [--yoi PROGRAM] measures another build.
//!
//! Must not know: what yoi does inside.

mod backlog;
mod burst;
mod direct;
mod measure;
mod resident;
mod served;
mod summary;

use std::path::PathBuf;
use std::time::Duration;

use backlog::{Backlog, Layout, MOST, NEAR};
use resident::Fallible;
use summary::Summary;

/// The program under test, where no other is named.
const THIS: &str = env!("CARGO_BIN_EXE_yoi");

struct Options {
    yoi: PathBuf,
    sizes: Vec<usize>,
    rounds: usize,
    /// How long all daemons are left alone.
    rest: Duration,
    /// A program that only walks, stats and reads: `PROGRAM stat DIR`, `PROGRAM state DIR THREADS`.
    floor: Option<PathBuf>,
}

/// One backlog that is measured.
struct Place {
    backlog: Backlog,
    layout: Layout,
    /// As tables name it.
    name: String,
    rounds: usize,
    /// Whether git tracks the tickets, and has branches to check out.
    tracked: Result<(), String>,
}

fn options() -> Options {
    let rest = Duration::from_mins(1);
    let mut options = Options { yoi: THIS.into(), sizes: vec![1000, 10_000], rounds: 15, rest, floor: None };
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    while let Some(argument) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        match argument.as_str() {
            "--sizes" => options.sizes = value.split(',').filter_map(|size| size.parse().ok()).collect(),
            "--rounds" => options.rounds = value.parse().unwrap_or(options.rounds),
            "--rest" => options.rest = value.parse().map_or(rest, Duration::from_secs),
            "--floor" => options.floor = Some(value.into()),
            "--yoi" => options.yoi = value.into(),
            other => {
                eprintln!("unknown: {other}; it takes --sizes, --rounds, --rest, --floor and --yoi, each with a value");
                std::process::exit(2);
            }
        }
    }
    options
}

fn main() -> Fallible<()> {
    let options = options();
    println!("Needs nothing but yoi itself; git, ripgrep and a floor program add rows where they are there.");
    let mut summary = Summary::default();
    let mut places = Vec::new();
    for &size in &options.sizes {
        // One round of the largest takes seconds.
        let rounds = if size > 20_000 { options.rounds.div_ceil(3) } else { options.rounds };
        for layout in [Layout::Flat, Layout::Folders] {
            let file = if layout == Layout::Flat { "<id>.md" } else { "<id>/item.md" };
            let name = format!("{size}, `{file}`");
            let backlog = Backlog::new(size, layout)?;
            let tracked =
                if size == MOST { backlog.branches(&[NEAR, MOST]) } else { Err("too many, or too few".into()) };
            places.push(Place { backlog, layout, name, rounds, tracked });
        }
    }
    for place in &places {
        direct::lists(place, &options, &mut summary);
        if place.layout == Layout::Flat {
            direct::single(place, &options.yoi, &mut summary);
        }
        served::commands(place, &options.yoi, &mut summary)?;
    }
    served::at_rest(&places, &options.yoi, options.rest, &mut summary)?;
    summary.print();
    Ok(())
}
