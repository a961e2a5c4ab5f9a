//! `yoi inspect`: what is said of files, wherever they lie.

use crate::support::Bench;

const TICKET: &str = "\u{feff}---\r\ntitle: 21E08\r\nstate: queued\r\nlabels: bug, ui\r\ndepends_on: [0010]\r\n\
    created_at: 2016-12-15\r\nqueued_at: \"2026-11-30T08:00:00Z\"\r\n---\r\nBody\r\n";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.write("t.md", TICKET);
    bench.write("folder-id/item.md", "---\n---\n");
    bench.write("plain.md", "# Title\n");
    bench.write("toml.md", "+++\na = 1\n+++\n");
    bench.write("dup.md", "---\ntitle: a\ntitle: b\n---\n");
    bench
}

#[test]
fn one_json_object_a_file() {
    let answer = bench().yoi("", "inspect --json t.md folder-id/item.md plain.md toml.md dup.md gone.md");
    insta::assert_snapshot!(answer, @r#"
    {"version":1,"file":"t.md","id":"t","status":"ticket","title":"21E08","state":"queued","labels":["bug","ui"],"depends_on":["0010"],"created_at":"2016-12-15","updated_at":null,"queued_at":"2026-11-30T08:00:00Z","body_start":138,"bom":true,"newline":"crlf","problems":[{"line":6,"column":13,"message":"`created_at` is not RFC 3339; read as 2016-12-15T00:00:00Z"}],"error":null}
    {"version":1,"file":"folder-id/item.md","id":"folder-id","status":"ticket","title":null,"state":null,"labels":[],"depends_on":[],"created_at":null,"updated_at":null,"queued_at":null,"body_start":8,"bom":false,"newline":"lf","problems":[{"line":1,"column":1,"message":"there is no `state`: one of planning, ready, queued, inprogress, done, closed"},{"line":1,"column":1,"message":"there is no `title`"}],"error":null}
    {"version":1,"file":"plain.md","id":"plain","status":"no_frontmatter","title":null,"state":null,"labels":[],"depends_on":[],"created_at":null,"updated_at":null,"queued_at":null,"body_start":0,"bom":false,"newline":"lf","problems":[],"error":null}
    {"version":1,"file":"toml.md","id":"toml","status":"unsupported","title":null,"state":null,"labels":[],"depends_on":[],"created_at":null,"updated_at":null,"queued_at":null,"body_start":null,"bom":false,"newline":"lf","problems":[{"line":1,"column":1,"message":"TOML frontmatter (`+++`); yoi reads YAML between `---` lines"}],"error":null}
    {"version":1,"file":"dup.md","id":"dup","status":"invalid","title":null,"state":null,"labels":[],"depends_on":[],"created_at":null,"updated_at":null,"queued_at":null,"body_start":null,"bom":false,"newline":"lf","problems":[],"error":{"line":3,"column":1,"message":"the key `title` stands twice, on lines 2 and 3: remove one"}}
    {"version":1,"file":"gone.md","id":"gone","status":"invalid","title":null,"state":null,"labels":[],"depends_on":[],"created_at":null,"updated_at":null,"queued_at":null,"body_start":null,"bom":false,"newline":"none","problems":[],"error":{"line":0,"column":0,"message":"there is no such file"}}
    (exit 1)
    "#);
}

#[test]
fn people_get_aligned_lines() {
    let bench = bench();
    bench.write("evil.md", "---\ntitle: \"a\\e[2Jb\"\nstate: nope\n---\n");
    insta::assert_snapshot!(bench.yoi("", "inspect t.md evil.md dup.md"), @r#"
    t.md
      id          t
      status      ticket
      title       21E08
      state       queued
      labels      bug, ui
      depends on  0010
      created at  2016-12-15
      queued at   2026-11-30T08:00:00Z
      body        from byte 138
      lines end   crlf, with a byte order mark
      problem     line 6, column 13: `created_at` is not RFC 3339; read as 2016-12-15T00:00:00Z
    evil.md
      id          evil
      status      ticket
      title       a�[2Jb
      state       nope
      body        from byte 37
      lines end   lf
      problem     line 3, column 8: `nope` is not a known state: state is one of planning, ready, queued, inprogress, done, closed
    dup.md
      id          dup
      status      invalid
      lines end   lf
      error       line 3, column 1: the key `title` stands twice, on lines 2 and 3: remove one
    (exit 1)
    "#);
    assert_eq!(bench.yoi("", "inspect t.md").code, 0);
    assert_eq!(bench.yoi("", "inspect").code, 2);
}

#[test]
fn what_is_no_regular_file_is_said_and_hangs_nobody() {
    let bench = bench();
    let answer = bench.yoi("", "inspect folder-id /dev/zero");
    assert_eq!(answer.code, 1);
    assert_eq!(answer.stdout.matches("this is not a regular file").count(), 2, "{answer}");
}
