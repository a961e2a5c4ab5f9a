//! The file of a child: a new ticket with its parent, its acceptance criteria and its validation.
//!
//! Must not know: where the file will lie. DESIGN.md 6.4.

use std::fmt::Write as _;

use serde_yaml::Value;

use super::draft::Draft;
use super::quote;
use crate::domain::evidence::decompose::Child;
use crate::domain::ticket::TicketId;

/// The whole file. `draft` says what every new ticket says; `depends_on` is with ids.
pub fn text(draft: &Draft<'_>, child: &Child, depends_on: &[String], parent: &TicketId) -> String {
    let mut text = draft.head();
    let lists = [("depends_on", depends_on), ("touches", child.touches.as_slice())];
    for (key, items) in lists.into_iter().filter(|(_, items)| !items.is_empty()) {
        let items: Vec<_> = items.iter().map(|item| Value::from(item.as_str())).collect();
        let _ = writeln!(text, "{key}: {}", quote::list(&items, None).unwrap_or_default());
    }
    let repo = child.repo.as_deref().map(str::trim).filter(|repo| !repo.is_empty());
    for (key, value) in repo.map(|repo| ("repo", repo)).into_iter().chain([("parent", parent.as_str())]) {
        let _ = writeln!(text, "{key}: {}", quote::string(value, None, false));
    }
    text.push_str("---\n\n");
    let body = child.body.trim();
    if !body.is_empty() {
        let _ = write!(text, "{body}\n\n");
    }
    text.push_str("## Acceptance criteria\n\n");
    for criterion in &child.acceptance {
        let words: Vec<_> = criterion.split_whitespace().collect();
        let _ = writeln!(text, "- {}", words.join(" "));
    }
    let _ = write!(text, "\n## Validation\n\n{}\n", child.validation.trim());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::sample::at;
    use crate::domain::ticket::{Priority, State};
    use crate::text::keys::KeyMap;
    use crate::text::read::{Reading, read};

    #[test]
    fn what_a_child_says_is_read_again_as_it_was_meant() {
        let (keys, labels) = (KeyMap::default(), vec!["ui".to_owned()]);
        let draft = Draft {
            title: "Form: rejects # bad addresses",
            state: State::Planning,
            priority: Priority::default(),
            labels: &labels,
            now: at(0),
            queued_by: "",
            keys: &keys,
        };
        let child = Child {
            acceptance: vec!["a bad address\n  is named".into(), "nothing is sent".into()],
            validation: "cargo test form\n".into(),
            touches: vec!["src/form".into(), "a, b".into()],
            repo: Some("acme/web".into()),
            body: "More: about it.\n---\nand on".into(),
            ..Child::default()
        };
        let parent = TicketId::from("0010");
        let text = text(&draft, &child, &["other one".into()], &parent);
        insta::assert_snapshot!(text, @r#"
        ---
        title: "Form: rejects # bad addresses"
        state: planning
        priority: P2
        labels: [ui]
        created_at: "2026-11-30T09:00:00Z"
        updated_at: "2026-11-30T09:00:00Z"
        depends_on: [other one]
        touches: [src/form, "a, b"]
        repo: acme/web
        parent: "0010"
        ---

        More: about it.
        ---
        and on

        ## Acceptance criteria

        - a bad address is named
        - nothing is sent

        ## Validation

        cargo test form
        "#);
        let Reading::Ticket(ticket) = read(text.as_bytes(), "c".into(), "c.md".into(), &keys) else { panic!("{text}") };
        assert_eq!((ticket.title.as_str(), ticket.parent.as_ref()), (draft.title, Some(&parent)));
        assert_eq!((ticket.touches.as_slice(), ticket.repo.as_deref()), (child.touches.as_slice(), Some("acme/web")));
        assert_eq!((ticket.depends_on.as_slice(), ticket.problems.as_slice()), (&["other one".into()][..], &[][..]));
    }
}
