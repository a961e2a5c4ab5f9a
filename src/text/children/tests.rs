//! What people and agents write as children, and what they are told of it.

use super::*;

/// The children with their lines; or what is wrong, a line each.
fn check(text: &str) -> String {
    match read(text, "c.yaml") {
        Ok(given) => {
            let shown = given.children.iter().map(|child| {
                let Child { title, acceptance, validation, labels, depends_on, touches, repo, body, line } = child;
                format!("{line:?} {title:?} {acceptance:?} {validation:?} {labels:?} {depends_on:?} {touches:?} {repo:?} {body:?}")
            });
            shown.chain([format!("why {:?}", given.why)]).collect::<Vec<_>>().join("\n")
        }
        Err(refusal) => refusal.evidence.join("\n"),
    }
}

#[test]
fn a_list_or_a_mapping_with_every_key() {
    let list = "\
# the first
- title: 404 on login
  acceptance: [a, 'b: c']
  validation: cargo test
- title: \"Two: more\"
  acceptance:
    - when it is seen
  validation: |
    make test
    make run
  labels: ui, web
  depends_on: [404 on login]
  touches: src/a
  repo: acme/web
  body: |
    Text.
";
    insta::assert_snapshot!(check(list), @r#"
    Some(2) "404 on login" ["a", "b: c"] "cargo test" [] [] [] None ""
    Some(5) "Two: more" ["when it is seen"] "make test\nmake run\n" ["ui", "web"] ["404 on login"] ["src/a"] Some("acme/web") "Text.\n"
    why None
    "#);
    let indented = format!("  {}\n", list.trim_end().replace('\n', "\n  "));
    let lines =
        |text: &str| check(text).lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect::<Vec<_>>();
    assert_eq!(lines(&format!("why: it is two\nchildren:\n{indented}")), ["Some(4)", "Some(7)", "why"]);
    let json = "{\"why\": \"w\", \"children\": [{\"title\": \"A\", \"acceptance\": [\"x\"], \"validation\": \"v\"}]}";
    assert_eq!(check(json), "Some(1) \"A\" [\"x\"] \"v\" [] [] [] None \"\"\nwhy Some(\"w\")");
    assert_eq!(check(""), "why None");
    assert_eq!(check("- Only a title\n").lines().next(), Some("Some(1) \"Only a title\" [] \"\" [] [] [] None \"\""));
}

#[test]
fn what_is_wrong_has_its_line_and_what_to_do() {
    let wrong = [
        "- titel: A\n  acceptance: [x]\n  validation: v\n",
        "- title: A\n  priority: P0\n  state: ready\n  criteria: x\n  acceptance: [x]\n  validation: v\n",
        "why: w\nchilds:\n  - title: A\n",
        "why: [a]\nchildren: 5\n",
        "just words\n",
        "- title: A\n  acceptance:\n    - when: it is seen\n  validation: {a: b}\n",
        "- - a\n",
        "- title: A\n  title: B\n",
        "- title: \"A\n",
        "- title: a: b\n",
    ];
    insta::assert_snapshot!(wrong.map(check).join("\n--\n"), @r#"
    line 1: unknown key `titel`: did you mean `title`?
    child 1 (line 1): no title (`title:`)
    --
    line 2: unknown key `priority`: children begin at the default priority; --keep-priority WHY gives them their parent's
    line 3: unknown key `state`: children begin in planning
    line 4: unknown key `criteria`: a child has title, acceptance, validation, labels, depends_on, touches, repo, body
    --
    line 2: unknown key `childs`: a list of children, or `children` and `why`
    --
    line 2: `children` is a list: `- title: ...`
    line 1: `why` is one text
    --
    line 1: this is a text, and no list of children
    --
    line 4: `validation` is one text
    line 3: an item of `acceptance` is one text (a colon in it? put it into quotes)
    child 1 "A" (line 1): no acceptance criteria (`acceptance:`, a list of at least one: when is it done?)
    child 1 "A" (line 1): no validation (`validation:`, one line: how does somebody see that it is done?)
    --
    line 1: a child is a mapping (`title: ...`), not a list
    child 1 (line 1): no title (`title:`)
    child 1 (line 1): no acceptance criteria (`acceptance:`, a list of at least one: when is it done?)
    child 1 (line 1): no validation (`validation:`, one line: how does somebody see that it is done?)
    --
    line 2: the key `title` stands on line 1 already: remove one
    --
    line 1: this quote is never closed
    --
    line 1: a colon (`:`) inside an unquoted value: put quotes around the value
    "#);
    assert!(check(&format!("- title: {}", "x".repeat(70_000))).contains("at most 65536"));
}

#[test]
fn a_template_reads_as_what_was_filled_in() {
    let text = template("big", &["Login: fails".into()], Some("two \"things\""));
    insta::assert_snapshot!(text, @r#"
    # `big` becomes 2 to 5 tickets, each of which can be shipped by itself. Fill in and save; leave it as it is to give up.
    # Each needs a title, when it is done (acceptance, at least one) and how somebody sees that (validation, one line).
    # It may have labels, depends_on (ids, or titles of others here), touches (files or folders), repo, body.
    why: "two \"things\""    # why it is several things and not one
    children:
      - title: "Login: fails"
        acceptance:
          - ""
        validation: ""
      - title: ""
        acceptance:
          - ""
        validation: ""
    #   labels: [ui]
    #   depends_on: []
    #   touches: [src/login]
    #   body: |
    #     More about it.
    "#);
    let given = read(&text, "c").unwrap();
    assert_eq!(given.why.as_deref(), Some("two \"things\""));
    let titles: Vec<_> = given.children.iter().map(|child| child.title.as_str()).collect();
    assert_eq!(titles, ["Login: fails", ""]);
    assert!(!faults(&given.children).is_empty(), "an unfilled one is not taken");
}
