//! What the outline finds: each node's source text, as nested lists of slices.

use super::*;

/// `key=<value>` for mappings, items in brackets, scalars as their source text with `/` for a line end.
fn shown(node: &Node, yaml: &str) -> String {
    let slice = || format!("<{}>", yaml[node.span.clone()].replace('\r', "").replace('\n', "/"));
    let entries = || node.entries().iter().map(|e| format!("{}={}", shown(&e.key, yaml), shown(&e.value, yaml)));
    let text = match node.kind {
        Kind::FlowMap(_) | Kind::BlockMap(_) => format!("{{{}}}", entries().collect::<Vec<_>>().join(" ")),
        Kind::FlowSeq(_) | Kind::BlockSeq(_) => {
            format!("[{}]", node.items().into_iter().map(|n| shown(n, yaml)).collect::<Vec<_>>().join(" "))
        }
        _ => slice(),
    };
    let anchor = node.anchor.as_ref().map(|a| format!("&{a} ")).unwrap_or_default();
    let tag = node.tag.as_ref().map(|t| format!("{t} ")).unwrap_or_default();
    format!("{anchor}{tag}{text}")
}

fn check(yaml: &str, expected: &str) {
    let node = outline(yaml).unwrap_or_else(|lost| panic!("{yaml:?}: {lost:?}"));
    assert_eq!(shown(&node, yaml), expected, "{yaml:?}");
}

#[test]
fn block_collections_nest_by_indentation() {
    check("a: 1\nb:\n  c: 2\n  d:\n    e: 3\nf: 4\n", "{<a>=<1> <b>={<c>=<2> <d>={<e>=<3>}} <f>=<4>}");
    check("a:\n- 1\n-  x: 1\n   y: 2\n- - 3\n  - 4\nb: 5\n", "{<a>=[<1> {<x>=<1> <y>=<2>} [<3> <4>]] <b>=<5>}");
    check("a:\nb: ~\nc:\n", "{<a>=<> <b>=<~> <c>=<>}");
    check("-\n- a\n-\n", "[<> <a> <>]");
    check("  a: 1\n  b: 2\n", "{<a>=<1> <b>=<2>}");
    check("? a\n: 1\n? - x\n: - y\nb: 2\n", "{<a>=<1> [<x>]=[<y>] <b>=<2>}");
    check("\n# c\na: 1 # d\n\n  # e\nb: 2\n# f\n", "{<a>=<1> <b>=<2>}");
    check("a:\t1\nb :  2\n\"c d\": 3\n'e': 4\n", "{<a>=<1> <b>=<2> <\"c d\">=<3> <'e'>=<4>}");
}

#[test]
fn scalars_end_where_they_end() {
    check("a: one\n  two\n\n  three # c\nb: 1\n", "{<a>=<one/  two//  three> <b>=<1>}");
    check("a: x#y:z\n", "{<a>=<x#y:z>}");
    check("a: 'it''s\n  b: c' # d\nb: \"\\\"\\\\\"\n", r#"{<a>=<'it''s/  b: c'> <b>=<"\"\\">}"#);
    check("a: |\n  x\n\n  y: z\n\nb: 1\n", "{<a>=<|/  x//  y: z//> <b>=<1>}");
    check("a: >2-\n    x\n  y\n # c\nb: 1\n", "{<a>=<>2-/    x/  y/> <b>=<1>}");
    check("a: |+\nb: |\n\n\n  x\n", "{<a>=<|+/> <b>=<|///  x/>}");
    check("a:\r\n  x\r\n  y\r\nb: 1\r\n", "{<a>=<x/  y> <b>=<1>}");
}

#[test]
fn flow_collections_span_lines() {
    check("a: [x, 'y, z', [1], {b: c, d}] # e\n", "{<a>=[<x> <'y, z'> [<1>] {<b>=<c> <d>=<>}]}");
    check(
        "a: [\n  x, # ]\n  it's,\n]\nb: {\"c\":1, d: ,\n e: f g}\n",
        r#"{<a>=[<x> <it's>] <b>={<"c">=<1> <d>=<> <e>=<f g>}}"#,
    );
    check("{a: 1, b: [c: d]}\n", "{<a>=<1> <b>=[{<c>=<d>}]}");
    check("a: [http://x.y:8/z, a:b]\n", "{<a>=[<http://x.y:8/z> <a:b>]}");
    check("{{ x }}: 1\n", "{{{<x>=<>}=<>}=<1>}");
}

#[test]
fn anchors_tags_and_aliases_stand_beside_their_nodes() {
    check(
        "a: &x !!str 1\nb: *x\nc: &y\n  d: 1\n&k e: &z\nf: !t [*x]\n",
        "{<a>=&x !!str <1> <b>=<*x> <c>=&y {<d>=<1>} &k <e>=&z <> <f>=!t [<*x>]}",
    );
    check("- &a b: c\n- !m\n  d: e\n", "[{&a <b>=<c>} !m {<d>=<e>}]");
}

#[test]
fn depth_is_bounded() {
    assert!(outline(&"- ".repeat(1000)).unwrap_err().too_deep);
    assert!(outline(&"[".repeat(1000)).unwrap_err().too_deep);
}
