//! What lies around the tickets: trust, git, the editor, logs.

use std::path::{Path, PathBuf};

use super::App;
use super::repairs::Repair;
use crate::adapters::editor;
use crate::adapters::environment;
use crate::adapters::git_program;
use crate::adapters::trust::{self, Trust};
use crate::api::failure::Failure;
use crate::api::view::{FindingView, TICKET_FOLDER};
use crate::config::{self, ConfigError};
use crate::daemon::Settings;
use crate::domain::engine::Reach;
use crate::domain::policy::Mode;
use crate::domain::ticket::Diagnostic;
use crate::ports::Tickets;

/// What `doctor` has to say of what lies around the tickets.
pub struct Diagnosis {
    /// What is well.
    pub well: Vec<String>,
    /// What is not.
    pub findings: Vec<FindingView>,
    /// What was mended.
    pub fixed: Vec<String>,
}

impl Diagnosis {
    /// Something of it is why no ticket can be read.
    pub fn keeps_from_reading(&self) -> bool {
        let about = |finding: &FindingView| [config::FILE, TICKET_FOLDER].contains(&finding.subject.as_str());
        self.findings.iter().any(|finding| finding.severity == "error" && about(finding))
    }
}

impl App {
    /// Whether the Orchestrator can be reached, and if not, why.
    pub(super) fn reach(&self) -> Reach {
        if self.config.mode == Mode::Pull {
            return Reach::No("[dispatch] mode is pull: workers take tickets from the queue themselves".into());
        }
        if self.config.orchestrator.is_none() {
            return Reach::Session;
        }
        match self.trust {
            Trust::Trusted | Trust::NothingToRun => Reach::Exec,
            Trust::NeverTrusted => {
                Reach::No("the configured Orchestrator command is not trusted yet: look at it with `yoi trust`".into())
            }
            Trust::Changed => Reach::No(
                "the Orchestrator command has changed since it was trusted: look at it with `yoi trust`".into(),
            ),
        }
    }

    /// What is in the way by the settings.
    fn obstacles(&self) -> Vec<String> {
        if self.trust.holds() {
            return Vec::new();
        }
        let keys: Vec<_> = trust::commands_of(&self.config).into_iter().map(|command| command.key).collect();
        let of = |section: &str| keys.iter().any(|key| key.starts_with(section));
        let reach = of("orchestrator.").then(|| match self.reach() {
            Reach::No(why) => why,
            _ => "the [orchestrator] wake commands are not trusted as they are, so nothing wakes the Orchestrator: look at \
                  them with `yoi trust`"
                .into(),
        });
        let hooks = of("worktrees.").then(|| {
            "the [worktrees] hooks are not trusted as they are, so they are not run: look at them with `yoi trust`"
                .into()
        });
        let roles = of("roles.").then(|| {
            "the [roles] commands are not trusted as they are, so `yoi start` starts none of them: look at them with `yoi trust`"
                .into()
        });
        reach.into_iter().chain(hooks).chain(roles).collect()
    }

    /// The settings as a host acts on them.
    pub(super) fn settings(&self) -> Settings {
        let listed = self.config.settings.iter().map(|setting| (setting.key.clone(), setting.value.clone()));
        Settings {
            policy: self.policy(),
            reach: self.reach(),
            command: self.command(),
            roles: self.roles(),
            wake: self.wake(),
            obstacles: self.obstacles(),
            worktrees: self.worktrees(),
            listed: listed.collect(),
        }
    }

    /// For `doctor`: what is well, what is not, and what was mended, if it was to be.
    pub fn look_around(&self, fix: bool) -> Diagnosis {
        let (mut well, mut findings) = self.surroundings();
        let mut fixed = Vec::new();
        for Repair { mut finding, mend } in self.repairs() {
            let Some(mend) = mend else {
                findings.push(finding);
                continue;
            };
            match fix.then(mend) {
                Some(Ok(done)) => fixed.push(done),
                Some(Err(error)) => {
                    finding.message = format!("{} (it could not be mended: {error})", finding.message);
                    findings.push(finding);
                }
                None => {
                    if !finding.message.contains("yoi doctor --fix") {
                        finding.message.push_str("; `yoi doctor --fix` mends it");
                    }
                    findings.push(finding);
                }
            }
        }
        let store = self.state.store();
        if !store.exists() {
            well.push(format!("no store yet: history begins with the first event, in {}", store.display()));
        } else if findings.iter().all(|finding| finding.subject != store.display().to_string()) {
            well.push(format!("store {}", store.display()));
        }
        Diagnosis { well, findings, fixed }
    }

    fn surroundings(&self) -> (Vec<String>, Vec<FindingView>) {
        let mut well = vec![format!("workspace {}", self.workspace.root.display())];
        let mut findings = Vec::new();
        match git_program::version() {
            Ok(version) => well.push(version),
            Err(error) => {
                findings.push(FindingView::new("remark", "git", format!("the git program cannot be run: {error}")));
            }
        }
        if self.workspace.git_common_dir.is_none() {
            let message = "the workspace is no git repository: the dirty_workspace gate holds nothing";
            findings.push(FindingView::new("remark", "git", message));
        }
        // A running daemon goes on with the last good settings; here it is about those that are written.
        match config::load(&self.workspace.root) {
            Ok(config) => {
                well.push(format!("{}: {} settings", config::FILE, config.settings.len()));
                findings.extend(self.tickets().trouble().map(|why| FindingView::new("error", TICKET_FOLDER, why)));
                match self.orchestrator_found() {
                    Ok(line) => well.push(line),
                    Err(found) => findings.push(found),
                }
                findings.extend(self.programs_missing());
            }
            Err(ConfigError::Unreadable { error, .. }) => {
                findings.push(FindingView::new("error", config::FILE, format!("it cannot be read: {error}")));
            }
            Err(ConfigError::Invalid { problems, .. }) => {
                let found = |Diagnostic { line, column, message }| {
                    FindingView::new("error", config::FILE, message).at(line, column)
                };
                findings.extend(problems.into_iter().map(found));
            }
        }
        if self.daemon_is_running() {
            well.push("the daemon is running".into());
        } else {
            findings.push(FindingView::new("remark", "daemon", "it is not running; `yoi up` starts it"));
        }
        (well, findings)
    }

    /// Whether there is an Orchestrator by the settings, or what is wrong with it.
    fn orchestrator_found(&self) -> Result<String, FindingView> {
        match self.reach() {
            Reach::Exec => match self.orchestrator_program() {
                Some((program, false)) => {
                    Err(FindingView::new("error", "orchestrator", not_found(program)))
                }
                _ => Ok("the Orchestrator command is trusted".into()),
            },
            Reach::Session => Ok("the Orchestrator is whoever registers (`yoi orchestrator attach`, hooks): no [orchestrator] command is set".into()),
            Reach::No(why) => Err(FindingView::new("remark", "orchestrator", why)),
        }
    }

    /// The program that the Orchestrator's command names, and whether it is found from here.
    fn orchestrator_program(&self) -> Option<(&str, bool)> {
        let program = self.config.orchestrator.as_ref()?.command.first()?;
        Some((program, environment::is_program(program, &self.workspace.root)))
    }

    /// What else of the settings cannot run: the programs of roles, hooks and wakes that are not trusted, or that nobody
    /// finds. One that is named by a path in the worktree it runs in may be there only.
    fn programs_missing(&self) -> Vec<FindingView> {
        if !self.trust.holds() {
            let said = self.reach();
            let others = self.obstacles().into_iter().filter(|why| !matches!(&said, Reach::No(said) if said == why));
            return others.map(|why| FindingView::new("remark", "trust", why)).collect();
        }
        let others =
            trust::commands_of(&self.config).into_iter().filter(|command| command.key != "orchestrator.command");
        let missing = others.filter_map(|command| {
            let program = command.arguments.first()?;
            let elsewhere = program.contains('/') && Path::new(program).is_relative();
            let found = elsewhere || environment::is_program(program, &self.workspace.root);
            (!found).then(|| FindingView::new("error", command.key.as_ref(), not_found(program)))
        });
        missing.collect()
    }

    /// Opens a file in the user's editor, and waits for its end.
    pub fn run_editor(&self, path: &Path) -> Result<(), Failure> {
        let Some(command) = &self.environment.editor else {
            return Err(Failure::failed("neither VISUAL nor EDITOR is set")
                .hint(format!("set one (EDITOR=vi), or open {} yourself", path.display())));
        };
        editor::run(command, path).map_err(|error| {
            Failure::failed(format!("{command}: {error}"))
                .hint(format!("VISUAL or EDITOR names the editor; {} is as it left it", path.display()))
        })
    }

    /// The daemon's log, or a turn's, or a Pod's.
    pub fn log(&self, turn: Option<&str>, pod: Option<&str>) -> Result<PathBuf, Failure> {
        if let Some(pod) = pod {
            let missing = || {
                Failure::failed(format!("no output of a Pod `{pod}` is kept"))
                    .hint("`yoi pod list` shows who is at work")
            };
            return log_of(&self.state.pod_logs(), pod).ok_or_else(missing);
        }
        match turn {
            None => Ok(self.state.log()),
            Some("last") => self
                .state
                .newest_turn_log()
                .ok_or_else(|| Failure::failed("no turn has run yet").hint("`yoi kick` asks for one")),
            Some(kick) => log_of(&self.state.turn_logs(), kick).ok_or_else(|| {
                Failure::failed(format!("no turn of kick `{kick}` is kept")).hint("`yoi events` shows the kicks")
            }),
        }
    }
}

fn not_found(program: &str) -> String {
    format!(
        "the program `{program}` is not found: install it, name it by its whole path in .yoi/config.toml, or restart the \
         daemon from a shell that finds it"
    )
}

/// The log of this name in a folder of logs.
fn log_of(folder: &Path, name: &str) -> Option<PathBuf> {
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let path = folder.join(format!("{name}.log"));
    (plain && path.is_file()).then_some(path)
}
