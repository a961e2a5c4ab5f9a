//! Typed values out of the document: each is read once, and what cannot be read is a problem with its place.
//!
//! Must not know: how settings bear on one another.

use chrono::TimeDelta;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::document::{in_order, place, problem};
use super::keys;
use super::takes::Takes;
use super::{Source, nearest, right};
use crate::domain::ticket::{Diagnostic, State};
use crate::text::duration;

/// The document being read, and the problems found so far.
pub(super) struct Values<'a> {
    text: &'a str,
    table: &'a DeTable<'a>,
    /// In the order of finding.
    pub problems: Vec<Diagnostic>,
}

/// A number that may have no bound.
#[derive(Clone, Copy)]
pub(super) enum Count {
    /// This many.
    Of(u32),
    /// As many as there are.
    Unlimited,
}

impl Count {
    /// The number, if there is one.
    pub(super) fn bound(self) -> Option<u32> {
        match self {
            Count::Of(number) => Some(number),
            Count::Unlimited => None,
        }
    }
}

impl<'a> Values<'a> {
    /// Starts with the problems that are known already.
    pub(super) fn new(text: &'a str, table: &'a DeTable<'a>, problems: Vec<Diagnostic>) -> Self {
        Self { text, table, problems }
    }

    /// Where the key is written, if it is.
    pub(super) fn offset(&self, path: &str) -> Option<usize> {
        self.entry(path).map(|(offset, _)| offset)
    }

    /// Where the value came from.
    pub(super) fn source(&self, path: &str) -> Source {
        self.offset(path).map_or(Source::Default, |offset| Source::File { line: place(self.text, offset).0 })
    }

    /// Notes a problem at a byte offset.
    pub(super) fn refuse(&mut self, offset: usize, message: impl Into<String>) {
        self.problems.push(problem(self.text, offset, message));
    }

    /// A text.
    pub(super) fn text(&mut self, path: &str) -> Option<(usize, String)> {
        let (_, value) = self.entry(path)?;
        match value.get_ref() {
            DeValue::String(text) => Some((value.span().start, text.to_string())),
            _ => self.wrong_type(path, value),
        }
    }

    /// One of several words.
    pub(super) fn word<T: Copy, const N: usize>(
        &mut self,
        path: &str,
        all: [T; N],
        name: fn(T) -> &'static str,
    ) -> Option<T> {
        let (offset, written) = self.text(path)?;
        let found = all.into_iter().find(|value| name(*value) == written);
        if found.is_none() {
            let hint = did_you_mean(&written, all.map(name));
            self.refuse(offset, format!("`{path}` takes {}, not `{written}`{hint}", takes(path)));
        }
        found
    }

    /// A whole number within the key's bounds, or `unlimited` where that may be written.
    pub(super) fn count(&mut self, path: &str) -> Option<Count> {
        let (_, value) = self.entry(path)?;
        let Some(Takes::Count { most, unlimited }) = keys::key(path).map(|key| key.takes) else { return None };
        let number = match value.get_ref() {
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
            DeValue::String(text) if unlimited && text == "unlimited" => return Some(Count::Unlimited),
            _ => return self.wrong_type(path, value),
        };
        let within = number.and_then(|n| u32::try_from(n).ok()).filter(|n| (1..=most).contains(n));
        if within.is_none() {
            let written = &self.text[value.span()];
            self.refuse(value.span().start, format!("`{path}` takes {}, not {written}", takes(path)));
        }
        within.map(Count::Of)
    }

    /// A duration; None for `off` too, since what may be `off` is off by default.
    pub(super) fn duration(&mut self, path: &str) -> Option<TimeDelta> {
        let (_, value) = self.entry(path)?;
        let off = keys::key(path).is_some_and(|key| key.takes == Takes::Duration { off: true });
        let read = match value.get_ref() {
            DeValue::String(text) if off && text == "off" => return None,
            DeValue::String(text) => duration::parse(text),
            DeValue::Integer(_) => Err(duration::without_unit(&self.text[value.span()])),
            _ => return self.wrong_type(path, value),
        };
        match read {
            Ok(length) => Some(length),
            Err(message) => {
                let or_off = if off { ", or \"off\"" } else { "" };
                self.refuse(value.span().start, format!("`{path}`: {message}{or_off}"));
                None
            }
        }
    }

    /// A program and its arguments.
    pub(super) fn command(&mut self, path: &str) -> Option<Vec<String>> {
        let (_, value) = self.entry(path)?;
        self.argument_list(path, value)
    }

    /// Several of them; empty where one cannot be read.
    pub(super) fn commands(&mut self, path: &str) -> Vec<Vec<String>> {
        let Some((_, value)) = self.entry(path) else { return Vec::new() };
        let DeValue::Array(items) = value.get_ref() else { return self.wrong_type(path, value).unwrap_or_default() };
        items.iter().filter_map(|item| self.argument_list(path, item)).collect()
    }

    fn argument_list(&mut self, path: &str, value: &Spanned<DeValue<'_>>) -> Option<Vec<String>> {
        let start = value.span().start;
        let DeValue::Array(items) = value.get_ref() else { return self.wrong_type(path, value) };
        let mut words = Vec::new();
        for item in items {
            match item.get_ref() {
                DeValue::String(word) if word.contains('\0') => {
                    self.refuse(item.span().start, format!("`{path}`: no argument can hold a NUL character"));
                }
                DeValue::String(word) => words.push(word.to_string()),
                _ => {
                    let written = &self.text[item.span()];
                    self.refuse(item.span().start, format!("`{path}`: every argument is a text; write \"{written}\""));
                }
            }
        }
        match words.first() {
            Some(program) if program.trim().is_empty() => {
                self.refuse(start, format!("`{path}`: the first item, the program, is empty"));
                None
            }
            None => {
                self.refuse(start, format!("`{path}` names no program; write one, or remove the key"));
                None
            }
            Some(_) => Some(words),
        }
    }

    /// Exit codes of a failure: one, or a list.
    pub(super) fn exit_codes(&mut self, path: &str) -> Vec<i32> {
        let mut codes = Vec::new();
        for item in self.one_or_more(path) {
            let DeValue::Integer(number) = item.get_ref() else {
                self.wrong_type::<()>(path, item);
                continue;
            };
            let code = i32::from_str_radix(number.as_str(), number.radix()).ok();
            if let Some(code) = code.filter(|code| (1..=255).contains(code)) {
                codes.push(code);
            } else {
                let written = &self.text[item.span()];
                self.refuse(item.span().start, format!("`{path}` takes {}, not {written}", takes(path)));
            }
        }
        codes
    }

    /// Pieces of text: one, or a list.
    pub(super) fn texts(&mut self, path: &str) -> Vec<String> {
        let mut texts = Vec::new();
        for item in self.one_or_more(path) {
            match item.get_ref() {
                DeValue::String(text) if text.trim().is_empty() => {
                    self.refuse(item.span().start, format!("`{path}`: an empty text is found in every output"));
                }
                DeValue::String(text) => texts.push(text.to_string()),
                _ => drop(self.wrong_type::<()>(path, item)),
            }
        }
        texts
    }

    /// The items of a list, or the one value that stands for a list of it.
    fn one_or_more(&self, path: &str) -> Vec<&'a Spanned<DeValue<'a>>> {
        match self.entry(path).map(|(_, value)| (value, value.get_ref())) {
            Some((_, DeValue::Array(items))) => items.iter().collect(),
            Some((value, _)) => vec![value],
            None => Vec::new(),
        }
    }

    /// Names for states, in file order, each with its place.
    pub(super) fn states(&mut self, path: &str) -> Vec<(usize, String, State)> {
        let Some((_, value)) = self.entry(path) else { return Vec::new() };
        let DeValue::Table(table) = value.get_ref() else {
            self.wrong_type::<()>(path, value);
            return Vec::new();
        };
        let mut states = Vec::new();
        for (name, offset, state) in in_order(table) {
            let written = match state.get_ref() {
                DeValue::String(text) => text.as_ref(),
                _ => &self.text[state.span()],
            };
            match written.parse::<State>() {
                Ok(state) => states.push((offset, name.to_owned(), state)),
                Err(message) => {
                    let hint = did_you_mean(written, State::ALL.map(State::as_str));
                    self.refuse(state.span().start, format!("`{path}`: {message}{hint}"));
                }
            }
        }
        states
    }

    fn roles(&self) -> Option<&'a DeTable<'a>> {
        match self.table.get(keys::ROLES)?.get_ref() {
            DeValue::Table(roles) => Some(roles),
            _ => None,
        }
    }

    /// The names of the roles that are sections, in file order.
    pub(super) fn role_names(&self) -> Vec<String> {
        let entries = self.roles().map(in_order).unwrap_or_default();
        let sections = entries.into_iter().filter(|(_, _, value)| value.get_ref().is_table());
        sections.map(|(name, ..)| name.to_owned()).collect()
    }

    fn entry(&self, path: &str) -> Option<(usize, &'a Spanned<DeValue<'a>>)> {
        let (section, name) = match keys::of_role(path) {
            Some((role, name)) => (self.roles()?.get(role)?, name),
            None => path.split_once('.').and_then(|(section, name)| Some((self.table.get(section)?, name)))?,
        };
        let DeValue::Table(section) = section.get_ref() else { return None };
        section.get_key_value(name).map(|(key, value)| (key.span().start, value))
    }

    fn wrong_type<T>(&mut self, path: &str, value: &Spanned<DeValue<'_>>) -> Option<T> {
        let written = &self.text[value.span()];
        let kind = match value.get_ref() {
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
            DeValue::String(_) if written.len() > 40 || written.contains('\n') => "a text",
            _ => written,
        };
        let line = keys::key(path).and_then(|key| right::line(key, value.get_ref()));
        let write = line.map_or_else(String::new, |line| format!("; write `{line}`"));
        self.refuse(value.span().start, format!("`{path}` takes {}, not {kind}{write}", takes(path)));
        None
    }
}

fn takes(path: &str) -> String {
    keys::key(path).map_or_else(String::new, |key| key.takes.to_string())
}

fn did_you_mean<const N: usize>(written: &str, words: [&str; N]) -> String {
    nearest(written, words).map_or_else(String::new, |word| format!("; did you mean `{word}`?"))
}
