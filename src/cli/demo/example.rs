//! The example workspace, carried in the binary, so that the demo runs wherever the binary is.

use std::fs;
use std::io;
use std::path::Path;

macro_rules! files {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../../tickets-example/", $path)))),*]
    };
}

/// Every file of `tickets-example/`; a test compares.
pub const FILES: &[(&str, &str)] = files![
    ".yoi/.gitignore",
    ".yoi/config.toml",
    "README.md",
    "orchestrator.sh",
    "src/app.txt",
    "tickets/README.md",
    "tickets/api-cleanup.md",
    "tickets/db-migration.md",
    "tickets/first-release.md",
    "tickets/login-form.md",
    "tickets/old-theme.md",
    "tickets/pricing-page.md",
    "tickets/safari-crash.md",
    "tickets/search-index/item.md",
    "tickets/search-index/notes.md",
    "worker.sh",
];

/// Writes it all under a folder.
pub fn write(folder: &Path) -> io::Result<()> {
    for (path, text) in FILES {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(path, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    #[test]
    fn the_binary_carries_the_whole_example() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tickets-example");
        let there: BTreeSet<String> = walkdir::WalkDir::new(&root)
            .into_iter()
            .flatten()
            .filter(|entry| entry.file_type().is_file())
            .map(|entry| entry.path().strip_prefix(&root).unwrap().display().to_string())
            .collect();
        let carried: BTreeSet<String> = super::FILES.iter().map(|(path, _)| (*path).to_owned()).collect();
        assert_eq!(carried, there);
    }
}
