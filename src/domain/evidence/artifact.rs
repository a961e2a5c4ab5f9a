//! What is an artifact, and what is only the result of a test or a green CI run.
//!
//! An artifact is something that somebody can open or use: a file or folder, a page, a release, a package, a screenshot.
//! The rule, by shape and words:
//!
//! 1. An address of a CI run, job or check is a result, unless it names what the run has made (`/artifacts/`).
//! 2. A file of a test's results (`junit.xml`, `test-results/`, `coverage/`) is a result.
//! 3. A text that names something else to open (an address, a path, a file) is an artifact.
//! 4. Any other text is a result if it says how a test, a check, a build or CI went ("all 42 tests pass", "CI is green"),
//!    or if it has no word in it but such ones ("test results"). All else is taken at its word.
//!
//! Must not know: what is at the address.

/// Parts of addresses at which CI services show a run.
const RUNS: [&str; 15] = [
    "/actions/runs/",
    "/runs/",
    "/-/pipelines/",
    "/-/jobs/",
    "/pipelines/",
    "/pipelines/results/",
    "/checks",
    "/commit-status",
    "/job/",
    "/builds/",
    "/_build/",
    "circleci.com/",
    "travis-ci.",
    "buildkite.com/",
    "appveyor.com/",
];

/// Files and folders in which tools leave what their tests have shown.
const RESULT_FILES: [&str; 8] =
    ["junit", "test-results", "test-result", "test-report", "test-reports", "test-output", "coverage", "lcov"];

/// What has a result.
const SUBJECTS: [&str; 25] = [
    "test",
    "tests",
    "tested",
    "e2e",
    "suite",
    "suites",
    "ci",
    "pipeline",
    "pipelines",
    "workflow",
    "workflows",
    "check",
    "checks",
    "build",
    "builds",
    "lint",
    "clippy",
    "cargo",
    "npm",
    "pytest",
    "jest",
    "vitest",
    "gradle",
    "mvn",
    "tox",
];

/// What it is.
const VERDICTS: [&str; 18] = [
    "pass",
    "passes",
    "passed",
    "passing",
    "green",
    "ok",
    "okay",
    "success",
    "succeeds",
    "succeeded",
    "successful",
    "successfully",
    "fails",
    "failed",
    "failing",
    "failures",
    "errors",
    "\u{2713}",
];

/// What says nothing else, among such words.
const FILLERS: [&str; 49] = [
    "a",
    "action",
    "actions",
    "all",
    "an",
    "and",
    "are",
    "at",
    "by",
    "cd",
    "clean",
    "coverage",
    "error",
    "everything",
    "fail",
    "failure",
    "fine",
    "fmt",
    "for",
    "full",
    "go",
    "in",
    "integration",
    "is",
    "it",
    "job",
    "jobs",
    "local",
    "locally",
    "main",
    "make",
    "my",
    "no",
    "of",
    "on",
    "our",
    "output",
    "red",
    "report",
    "result",
    "results",
    "run",
    "runs",
    "spec",
    "the",
    "this",
    "unit",
    "was",
    "with",
];

/// Whether this is the result of a test, or a CI run, and no artifact.
pub fn is_result(text: &str) -> bool {
    let things: Vec<_> = text.split_whitespace().filter_map(thing).collect();
    if !things.is_empty() {
        return things.iter().all(|is_result| *is_result);
    }
    let lower = text.to_lowercase().replace(['\u{2705}', '\u{2714}', '\u{1f7e2}'], " green ");
    let words: Vec<_> = lower.split(|c: char| !(c.is_alphanumeric() || c == '\u{2713}')).collect();
    let words = || words.iter().copied().filter(|word| !word.is_empty());
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    let is_subject = |word: &str| SUBJECTS.contains(&word);
    let is_verdict = |word: &str| VERDICTS.contains(&word);
    let tells_a_result = words().any(is_subject) && words().any(is_verdict);
    let of_results = |word: &str| is_subject(word) || is_verdict(word) || FILLERS.contains(&word) || is_number(word);
    tells_a_result || words().all(of_results)
}

/// Whether a word names something that can be opened, and whether that is only a result.
fn thing(word: &str) -> Option<bool> {
    let word = word.trim_matches(|c: char| "()[]<>\"'`,;:!?".contains(c)).trim_end_matches('.').to_lowercase();
    if word.starts_with("http://") || word.starts_with("https://") {
        let made = ["/artifacts/", "/artifact/", "/releases/", "/download/"].iter().any(|part| word.contains(part));
        return Some(!made && RUNS.iter().any(|part| word.contains(part)));
    }
    let parts: Vec<_> = word.split(['/', '\\']).filter(|part| !matches!(*part, "" | "." | "..")).collect();
    let is_path = word.contains(['/', '\\']) && parts.iter().any(|part| !is_common(part));
    if !(is_path || is_file(&word)) {
        return None;
    }
    let stem = |part: &str| part.split('.').next().unwrap_or_default().to_owned();
    Some(
        parts.iter().any(|part| RESULT_FILES.iter().any(|name| stem(part) == *name || stem(part).starts_with("junit"))),
    )
}

/// `and/or`, `3/3`, `pass/fail` are no paths.
fn is_common(part: &str) -> bool {
    let plain = |words: &[&str]| words.contains(&part);
    part == "or" || part.chars().all(|c| c.is_ascii_digit()) || plain(&SUBJECTS) || plain(&VERDICTS) || plain(&FILLERS)
}

/// `report.pdf`, but not `1.5` or `e.g`.
fn is_file(word: &str) -> bool {
    let Some((stem, ending)) = word.rsplit_once('.') else { return false };
    let is_ending = (1..=5).contains(&ending.len()) && ending.starts_with(|c: char| c.is_ascii_alphabetic());
    stem.chars().count() > 1 && is_ending && ending.chars().all(|c| c.is_ascii_alphanumeric())
}
