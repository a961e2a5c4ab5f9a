//! Source files as the tidy test sees them: code without comments and literals, line by line.
//!
//! Must not know: any rule.

use std::fs;

use crate::support::source;

/// One source file.
pub struct File {
    /// Relative to the repository.
    pub path: String,
    /// As written.
    pub text: String,
    /// With comments and literals blanked out; every line where it was.
    code: String,
}

/// One function.
pub struct Function {
    /// Its name.
    pub name: String,
    /// Where it begins, 1-based.
    pub line: usize,
    /// From the line with `fn` to the closing brace.
    pub lines: usize,
}

/// The Rust files below a folder of the repository, sorted.
pub fn files(folder: &str) -> Vec<File> {
    let walk = walkdir::WalkDir::new(source().join(folder)).sort_by_file_name();
    let paths =
        walk.into_iter().map(Result::unwrap).filter(|entry| entry.path().extension().is_some_and(|e| e == "rs"));
    let files = paths.map(|entry| {
        let text = fs::read_to_string(entry.path()).unwrap();
        let path = entry.path().strip_prefix(source()).unwrap().display().to_string();
        File { path, code: code(&text), text }
    });
    files.collect()
}

impl File {
    /// The first part of its path below `src/`.
    pub fn room(&self) -> &str {
        let below = self.path.trim_start_matches("src/");
        below.split('/').next().unwrap().trim_end_matches(".rs")
    }

    /// Whether it holds nothing but tests.
    pub fn is_test(&self) -> bool {
        self.path.ends_with("tests.rs") || self.path.contains("/tests/")
    }

    /// In lines.
    pub fn length(&self) -> usize {
        self.text.lines().count()
    }

    /// Every `crate::room`, also in braces and through paths, with its line.
    pub fn imports(&self) -> Vec<(usize, String)> {
        let mut found = Vec::new();
        for (at, _) in self.code.match_indices("crate::") {
            let line = self.code[..at].matches('\n').count() + 1;
            let rest = &self.code[at + "crate::".len()..];
            // `use crate::{a::b, c::{d, e}}`: the names at the first level.
            let names = rest.strip_prefix('{').map_or_else(|| vec![first_word(rest)], first_level);
            found.extend(names.into_iter().filter(|name| !name.is_empty()).map(|name| (line, name)));
        }
        found
    }

    /// The lines whose code says this word, or path of words.
    pub fn lines_with<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        let says = move |line: &str| {
            line.match_indices(word).any(|(at, _)| {
                let outside = |c: Option<char>| !c.is_some_and(is_word);
                outside(line[..at].chars().next_back()) && outside(line[at + word.len()..].chars().next())
            })
        };
        self.code.lines().enumerate().filter(move |(_, line)| says(line)).map(|(at, _)| at + 1)
    }

    /// All functions that have a body.
    pub fn functions(&self) -> Vec<Function> {
        let mut found = Vec::new();
        for (at, _) in self.code.match_indices("fn ") {
            if self.code[..at].chars().next_back().is_some_and(is_word) {
                continue;
            }
            let rest = &self.code[at..];
            let name = first_word(&rest["fn ".len()..]);
            let Some(open) = rest.find(['{', ';']).filter(|open| rest[*open..].starts_with('{')) else { continue };
            if name.is_empty() {
                continue;
            }
            let end = open + block(&rest[open..]);
            let line = self.code[..at].matches('\n').count() + 1;
            found.push(Function { name, line, lines: rest[..end].matches('\n').count() + 1 });
        }
        found
    }

    /// Public items that no `///` stands above.
    pub fn undocumented(&self) -> impl Iterator<Item = (usize, &str)> {
        let lines: Vec<_> = self.text.lines().zip(self.code.lines()).collect();
        // Fields and variants are the compiler's (`missing_docs`); a module's own `//!` is its sentence.
        let public = |code: &str| {
            let item = code.trim_start().strip_prefix("pub ").map(first_word);
            item.is_some_and(|item| {
                ["fn", "async", "const", "static", "struct", "enum", "trait", "type"].contains(&item.as_str())
            })
        };
        let mut found = Vec::new();
        for (at, (text, code)) in lines.iter().enumerate() {
            // Attributes may take several lines, with a text in them; the item before ends with a brace or a semicolon.
            let same = |(_, code): &&(&str, &str)| !code.trim_end().ends_with(['}', ';', '{']);
            let mut above = lines[..at].iter().rev().take_while(same);
            let documented = above.any(|(text, _)| text.trim().starts_with("///"));
            if public(code) && !documented {
                found.push((at + 1, text.trim()));
            }
        }
        found.into_iter()
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn first_word(text: &str) -> String {
    text.chars().take_while(|c| is_word(*c)).collect()
}

fn first_level(list: &str) -> Vec<String> {
    let mut depth = 0;
    let mut names = vec![String::new()];
    let mut in_name = true;
    for c in list.chars() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                names.push(String::new());
                in_name = true;
            }
            c if depth == 0 && in_name && is_word(c) => names.last_mut().unwrap().push(c),
            ':' => in_name = false,
            _ => {}
        }
    }
    names
}

/// The length of the block that begins here, in bytes.
fn block(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// Blanks out comments, texts and characters, and keeps every line break.
fn code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let literal = literal(rest, code.chars().next_back());
        if literal == 0 {
            code.push(c);
            rest = &rest[c.len_utf8()..];
        } else {
            code.extend(rest[..literal].chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = &rest[literal..];
        }
    }
    code
}

/// How many bytes of comment or literal begin here.
fn literal(rest: &str, before: Option<char>) -> usize {
    let until = |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len());
    if rest.starts_with("//") {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") {
        return until("*/", 2);
    }
    if rest.starts_with('"') {
        return quoted(rest, '"');
    }
    let raw = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r')).filter(|_| !before.is_some_and(is_word));
    if let Some(after) = raw {
        let hashes = after.len() - after.trim_start_matches('#').len();
        if after[hashes..].starts_with('"') {
            let start = rest.len() - after.len() + hashes + 1;
            return until(&format!("\"{}", "#".repeat(hashes)), start);
        }
    }
    // A lifetime has no closing quote after its first character.
    let mut chars = rest.chars().skip(1);
    let is_char = rest.starts_with('\'') && (rest[1..].starts_with('\\') || chars.nth(1) == Some('\''));
    if is_char { quoted(rest, '\'') } else { 0 }
}

fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            c if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// A file that is not on the disk.
fn sample(text: &str) -> File {
    File { path: "src/domain/x.rs".to_owned(), text: text.to_owned(), code: code(text) }
}

#[test]
fn words_in_comments_and_literals_do_not_count() {
    let file = sample(
        "// tokio\nlet a = \"tokio \\\" tokio\"; /* tokio\n*/ let b = r#\"tokio\"#; 'x'; '\"'; tokio();\nmy_tokio();\n",
    );
    assert_eq!(file.lines_with("tokio").collect::<Vec<_>>(), [3]);
    assert_eq!(sample("fn a<'a>(x: &'a str) { File }").lines_with("File").count(), 1, "a lifetime opens nothing");
    assert_eq!(sample("use std::fs;\nuse std::fs::File;\nuse std::fsx;").lines_with("std::fs").count(), 2);
}

#[test]
fn imports_are_seen_in_every_form() {
    let file = sample("use crate::a::b;\nuse crate::{c::d, e::{f, g}, h};\nfn x() { crate::i::j() }\n");
    let rooms: Vec<_> = file.imports().into_iter().map(|(line, room)| format!("{line}{room}")).collect();
    assert_eq!(rooms, ["1a", "2c", "2e", "2h", "3i"]);
    assert_eq!(file.room(), "domain");
}

#[test]
fn functions_are_measured_from_name_to_brace() {
    let file = sample("trait T { fn no(&self); }\nfn a() {\n    \"}\";\n    if x {\n    }\n}\nfn b() {}\n");
    let shown: Vec<_> = file.functions().iter().map(|f| format!("{} {} {}", f.name, f.line, f.lines)).collect();
    assert_eq!(shown, ["a 2 5", "b 7 1"]);
}

#[test]
fn public_items_without_a_sentence_are_found() {
    let text = "/// Yes.\n#[derive(Debug)]\npub struct A {\n    /// Yes.\n    pub b: u8,\n    pub c: u8,\n}\n\n// no\npub fn d() {}\npub mod e;\npub(super) fn f() {}\n";
    assert_eq!(sample(text).undocumented().map(|(line, _)| line).collect::<Vec<_>>(), [10]);
}
