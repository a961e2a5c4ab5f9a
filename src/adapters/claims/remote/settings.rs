//! What git's configuration says of the remote that keeps the claims, before it is asked for anything.
//!
//! Must not know: claims.

use crate::adapters::claims::GitClaims;
use crate::adapters::git_program;
use crate::domain::git_name::is_remote_name;
use crate::ports::ClaimsError;

/// What is asked of the configuration.
const WANTED: &str = "^(remote\\..*\\.(url|pushurl)|core\\.sshcommand)$";

/// Refuses what is no name of a remote, or what a program would take for an option.
pub(super) fn check_name(remote: &str) -> Result<(), ClaimsError> {
    if is_remote_name(remote) {
        return Ok(());
    }
    Err(ClaimsError::Failed(format!(
        "`claims.remote` is `{}`, which is no name of a git remote; `git remote` lists them",
        remote.escape_debug()
    )))
}

/// Refuses a remote that is not there, or that is several. Returns the ssh command that asks nobody for anything, where it
/// is known how to say that.
pub(super) fn check(here: &GitClaims, remote: &str) -> Result<Option<String>, ClaimsError> {
    check_name(remote)?;
    let arguments = ["config", "-z", "--get-regexp", WANTED];
    let said = git_program::ask(&here.root, &arguments, b"", git_program::TIME_LIMIT);
    let said =
        said.map_err(|error| ClaimsError::NoGit(format!("claims are kept in the remote `{remote}`, and {error}")))?;
    let out = String::from_utf8_lossy(&said.out);
    let all: Vec<(&str, &str)> = out.split('\0').filter_map(|entry| entry.split_once('\n')).collect();
    let values = |key: &str| all.iter().filter(|(other, _)| *other == key).map(|(_, value)| *value).collect::<Vec<_>>();
    let (urls, push_urls) = (values(&format!("remote.{remote}.url")), values(&format!("remote.{remote}.pushurl")));
    if urls.is_empty() {
        let why = if said.success() || said.err.is_empty() { "" } else { &said.err };
        return Err(ClaimsError::Failed(format!(
            "`claims.remote` is `{remote}`, and this repository has no remote of that name; `git remote add {remote} URL` \
             adds one{}{why}",
            if why.is_empty() { "" } else { ": " }
        )));
    }
    if urls.len() > 1 && push_urls.is_empty() || push_urls.len() > 1 {
        return Err(ClaimsError::Failed(format!(
            "git pushes to several places for the remote `{remote}`, and only one can say who has a claim; name another \
             one in `claims.remote`"
        )));
    }
    let set = values("core.sshcommand").last().map(ToString::to_string);
    Ok(ssh(std::env::var("GIT_SSH_COMMAND").ok(), set, std::env::var_os("GIT_SSH").is_some()))
}

/// The user's command, told to ask for nothing where it is plain ssh; None leaves it to git.
fn ssh(of_environment: Option<String>, of_configuration: Option<String>, has_program: bool) -> Option<String> {
    let command = match of_environment.or(of_configuration) {
        Some(command) => command,
        None if has_program => return None,
        None => "ssh".into(),
    };
    let (program, rest) = command.trim().split_once(' ').unwrap_or((command.trim(), ""));
    let is_ssh = program == "ssh" || program.ends_with("/ssh") && !program.contains(['\'', '"', '\\', '$']);
    is_ssh.then(|| format!("{program} -o BatchMode=yes {rest}").trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ssh_asks_nobody_and_stays_the_users() {
        let some = |text: &str| Some(text.to_owned());
        let table = [
            (None, None, false, some("ssh -o BatchMode=yes")),
            (None, None, true, None),
            (some("ssh -i key"), some("other"), true, some("ssh -o BatchMode=yes -i key")),
            (None, some("/usr/bin/ssh -p 22"), true, some("/usr/bin/ssh -o BatchMode=yes -p 22")),
            (some("plink -x"), None, false, None),
            (some("FOO=1 ssh"), None, false, None),
            (some("'my ssh' x"), None, false, None),
        ];
        for (environment, configuration, program, expected) in table {
            assert_eq!(ssh(environment.clone(), configuration, program), expected, "{environment:?}");
        }
    }
}
