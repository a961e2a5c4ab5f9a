//! `yoi decompose`.
//!
//! Must not know: what is demanded; whatever is missing is named by the answer.

use std::fs;
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::ending::Of;
use super::{Outcome, context::Context, output};
use crate::api::failure::Failure;
use crate::api::request::{ChildRequest, DecomposeRequest, Request};
use crate::app::App;
use crate::text::children::{self, Given};

/// The most that is read of a file of children, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// What the help says below the options.
const MORE: &str = "\
Triage first. Implement the ticket if it has one clear outcome; acceptance
criteria, or a small obvious fix; a known owner and target branch; and a way to
validate it that fits one pull request. Decompose it if it has several outcomes
that could ship apart; is vague or without criteria; goes across repositories or
systems; is shaped like an epic; or is too risky to review as one.

It becomes 2 to 5 children, each of which can be shipped by itself. They are
written to FILE.yaml (`-`: standard input; JSON is fine too):

  why: the form and the mails ship apart
  children:
    - title: The form names a bad address
      acceptance:
        - a bad address is named, and nothing is sent
      validation: cargo test form
    - title: Mails carry the user's name
      acceptance: [the name stands in the subject]
      validation: cargo test mails
      depends_on: [The form names a bad address]

title, acceptance and validation are demanded; labels, depends_on (ids, or titles
of other children), touches, repo and body are not. `--template` prints such a
file with the titles given by --child; on a terminal, without --from, the same
opens in $VISUAL or $EDITOR.

The children begin in planning, at the default priority; the ticket goes back to
planning with the label `tracking` and stands for them; its thread has the links
and the why; the claim ends `decomposed`. That is this cycle's work done. What
was interrupted is said again: children that are there already are found.

Exit codes: 0 it is decomposed; 3 refused, with all that is missing, or with who
holds the ticket; 1 it could not be written; 2 the command line is wrong.";

/// Turn a ticket into 2 to 5 tickets that ship apart
#[derive(Args)]
#[command(after_help = MORE)]
pub struct Arguments {
    #[command(flatten)]
    of: Of,
    /// A child's title, for the template; once for each
    #[arg(long = "child", value_name = "TITLE", conflicts_with = "from")]
    titles: Vec<String>,
    /// The children as YAML; `-` is standard input
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Why it is several things and not one
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    /// Give the children the ticket's priority, and say why they are as urgent
    #[arg(long, value_name = "WHY")]
    keep_priority: Option<String>,
    /// Print a file to fill in, and do nothing
    #[arg(long, conflicts_with = "from")]
    template: bool,
}

/// Decomposes.
pub fn run(context: &Context, arguments: Arguments) -> Outcome {
    let Arguments { of, titles, from, why, keep_priority, template } = arguments;
    let blank = || children::template(&of.id, &titles, why.as_deref());
    if template {
        output::verbatim(&blank())?;
        return Ok(ExitCode::SUCCESS);
    }
    let app = context.open()?;
    let mut written = None;
    let given = match &from {
        Some(file) => read(file)?,
        None if io::stdin().is_terminal() && io::stdout().is_terminal() => {
            let (path, given) = edit(&app, &of.id, &blank())?;
            written = Some(path);
            given.map_err(|failure| kept(failure, written.as_deref(), &of.id))?
        }
        None => Given { children: titles.iter().map(|title| titled(title)).collect(), why: None },
    };
    let request = DecomposeRequest {
        end: of.request()?,
        children: given.children.into_iter().map(ChildRequest::from).collect(),
        why: why.or(given.why),
        keep_priority,
    };
    let answer = app.call(&Request::Decompose(request));
    let answer = answer.map_err(|failure| kept(failure, written.as_deref(), &of.id))?;
    if let Some(path) = &written {
        let _ = fs::remove_file(path);
    }
    of.show(answer)
}

/// A child of which nothing but its title is known: what else it takes is named by the answer.
fn titled(title: &str) -> crate::domain::evidence::decompose::Child {
    crate::domain::evidence::decompose::Child { title: title.to_owned(), ..Default::default() }
}

fn read(file: &Path) -> Result<Given, Failure> {
    let is_input = file == Path::new("-");
    let name = if is_input { "standard input".to_owned() } else { file.display().to_string() };
    let mut bytes = Vec::new();
    let read = if is_input {
        io::stdin().lock().take(MOST_BYTES).read_to_end(&mut bytes)
    } else {
        fs::File::open(file).and_then(|open| open.take(MOST_BYTES).read_to_end(&mut bytes))
    };
    read.map_err(|error| Failure::failed(format!("{name}: {error}")))?;
    parsed(bytes, &name)
}

fn parsed(bytes: Vec<u8>, name: &str) -> Result<Given, Failure> {
    let text = String::from_utf8(bytes)
        .map_err(|error| Failure::failed(format!("{name}: byte {} is not UTF-8", error.utf8_error().valid_up_to())))?;
    Ok(children::read(&text, name)?)
}

/// Lets a person fill the template in. What was written stays until it is used.
fn edit(app: &App, id: &str, blank: &str) -> Result<(PathBuf, Result<Given, Failure>), Failure> {
    let failed = |error: io::Error| Failure::failed(format!("a file for the editor: {error}"));
    let mut file = tempfile::Builder::new().prefix("yoi-decompose-").suffix(".yaml").tempfile().map_err(failed)?;
    file.write_all(blank.as_bytes()).map_err(failed)?;
    app.run_editor(file.path())?;
    // Editors replace the file: by its name is what was saved.
    let bytes = fs::read(file.path()).map_err(failed)?;
    if bytes == blank.as_bytes() {
        return Err(Failure::refused(format!("`{id}` is not decomposed: nothing was filled in")));
    }
    let path = file.into_temp_path().keep().map_err(|error| failed(error.error))?;
    let name = path.display().to_string();
    Ok((path, parsed(bytes, &name)))
}

/// Nothing that was written in an editor is lost by a refusal.
fn kept(failure: Failure, written: Option<&Path>, id: &str) -> Failure {
    match written {
        Some(path) => {
            failure.hint(format!("what you wrote is kept: mend it, then yoi decompose {id} --from {}", path.display()))
        }
        None => failure,
    }
}
