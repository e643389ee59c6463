//! Patterns against brute force over small worlds, and by example.

use super::*;
use proptest::prelude::*;

fn places() -> Places {
    Places { workspace: "/home/ann/work".into(), home: "/home/ann".into() }
}

fn compiled(text: &str) -> Pattern {
    Pattern::compile(text, &places()).unwrap()
}

fn resource(text: &str) -> Resource {
    text.parse().unwrap()
}

#[test]
fn operands_meet_and_are_held() {
    // pattern, operand, may meet, provably held
    let table = [
        ("records/**", "records", true, true),
        ("records/**", "records/2019/a", true, true),
        ("records/**", "recordsx", false, false),
        ("records/**", "records/**", true, true),
        ("records/**", "./**", true, false),
        ("records/**", "/**", true, false),
        ("records/**", "~", false, false),
        ("records/**", "~/**", true, false),
        ("records/**", "*", true, false),
        ("records/**", "r*", true, false),
        ("records/**", "*.log", false, false),
        ("records/**", "records/*", true, true),
        ("records/**", "/home/*/work/records/x", true, false),
        ("records/**", "path:*", true, false),
        ("records/", "records/x", true, true),
        ("records", "records/x", false, false),
        ("records", "records/**", true, false),
        ("records", "records", true, true),
        (".", ".", true, true),
        (".", "build", false, false),
        (".", "build/**", false, false),
        (".", "./**", true, false),
        (".", "/**", true, false),
        (".", "~/**", true, false),
        ("~", "~/**", true, false),
        ("~", "./**", false, false),
        ("/", "/**", true, false),
        ("/", "/", true, true),
        ("/", "~/**", false, false),
        ("./**", ".", true, true),
        ("./**", "a/b", true, true),
        ("./", "a/b", true, true),
        ("./**", "~/x", false, false),
        ("./**", "/etc/passwd", false, false),
        ("./*", "*", true, true),
        ("*", "a", true, true),
        ("*", ".env", true, true),
        ("*", "a/b", false, false),
        ("*", ".", false, false),
        ("/**", "anything", true, true),
        ("/**", "path:*", true, true),
        ("path:*", "path:*", true, true),
        ("**", "/etc/x", true, true),
        ("**/*.pem", "/etc/ssl/x.pem", true, true),
        ("**/*.pem", "~/x.pem", true, true),
        ("**/*.pem", "x.pem", true, true),
        ("**/*.pem", "src/**", true, false),
        ("**/*.pem", "src/*.rs", false, false),
        ("**/.env", "a/b/.env", true, true),
        ("**/{id_rsa,*.key}", "~/.ssh/id_rsa", true, true),
        ("src/**/*.pem", "**/*.pem", true, false),
        ("~/*.pem", "**/*.pem", false, false),
        ("./**", "**/*.pem", true, true),
        ("./**/*.pem", "**/*.pem", true, true),
        ("∅", "*", true, false),
        ("∅", "*/**", true, false),
        ("∅", "b*", false, false),
        ("∅", "build/**", false, false),
        ("~/.ssh/**", "~/.ssh/id_rsa", true, true),
        ("~/.ssh/**", "~/**", true, false),
        ("~/work/x", "x", true, true),
        ("/home/ann/work/x", "x", true, true),
        ("../other/**", "~/other/x", true, true),
        ("../../**", "~/other/x", true, true),
        ("./a/../b", "b", true, true),
        ("{src,docs}/**", "docs/x", true, true),
        ("{src,docs}/**", "{src,docs}/*", true, true),
        ("{src,docs}/**", "{src,test}/*", true, false),
        ("src/{,test_}a", "src/test_a", true, true),
        ("src/{,test_}a", "src/a", true, true),
        ("{/etc,~/.config}/**", "/etc/x", true, true),
        ("{/etc,~/.config}/**", "~/.config/x", true, true),
        ("{a,{b,c{d,e}}f}{g,h}", "ag", true, true),
        ("{a,{b,c{d,e}}f}{g,h}", "cefh", true, true),
        ("{a,{b,c{d,e}}f}{g,h}", "bfg", true, true),
        ("{a,{b,c{d,e}}f}{g,h}", "cdg", false, false),
        ("{a,{b,c{d,e}}f}{g,h}", "{cdf,bf}h", true, true),
        ("a\\*b", "a\\*b", true, true),
        ("a\\*b", "axb", false, false),
        ("[!a-c]x", "dx", true, true),
        ("[!a-c]x", "bx", false, false),
        ("[]x]", "\\]", true, true),
        ("A", "a", false, false),
        ("host:*.example.org", "host:WWW.Example.org", true, true),
        ("host:*.EXAMPLE.org", "host:www.example.org", true, true),
        ("host:[A-C].org", "host:b.org", true, true),
        ("host:*.example.org", "host:example.org", false, false),
        ("host:*.example.org", "host:*", true, false),
        ("host:*", "host:*", true, true),
        ("host:**", "host:*", true, true),
        ("host:x", "mail:x", false, false),
        ("host:x", "x", false, false),
        ("mail:*", "mail:a@b.org", true, true),
        ("mail:*@b.org", "mail:*@B.org", true, true),
        ("branch:main", "branch:main", true, true),
        ("branch:main", "branch:Main", false, false),
        ("branch:release*", "branch:release/1.0", true, true),
        ("branch:release/*", "branch:release/1/0", true, true),
        ("branch:?", "branch:/", true, true),
    ];
    for (pattern, operand, meets, holds) in table {
        let (compiled, operand) = (compiled(pattern), resource(operand));
        assert_eq!(compiled.meets(&operand, &places()), meets, "{pattern} meets {operand}");
        assert_eq!(compiled.holds(&operand, &places()), holds, "{pattern} holds {operand}");
    }
}

#[test]
fn a_workspace_at_the_root_is_no_special_case() {
    let places = Places { workspace: "/".into(), home: "/root".into() };
    let pattern = Pattern::compile("records/**", &places).unwrap();
    assert!(pattern.holds(&resource("records/x"), &places));
    assert!(pattern.holds(&resource("/records/x"), &places));
    assert!(pattern.meets(&resource("./**"), &places));
    assert!(!pattern.meets(&resource("~/**"), &places));
    assert!(Pattern::compile(".", &places).unwrap().holds(&resource("/"), &places));
}

#[test]
fn sets_overlap_and_lie_within() {
    for (a, b, overlap, within) in [
        ("a/**", "a/b/**", true, false),
        ("a/b/**", "a/**", true, true),
        ("a/*.log", "a/x*", true, false),
        ("a/*.log", "*.log", false, false),
        ("a/*.log", "**/*.log", true, true),
        ("a/x", "a/*", true, true),
        ("./**", "/**", true, true),
        ("~/**", "./**", true, false),
        ("./**", "~/**", true, true),
        ("host:*", "host:a", true, false),
        ("host:a", "host:*", true, true),
        ("host:a", "a", false, false),
    ] {
        let (a, b) = (resource(a), resource(b));
        assert_eq!(may_overlap(&a, &b, &places()), overlap, "{a} overlaps {b}");
        assert_eq!(may_overlap(&b, &a, &places()), overlap, "{b} overlaps {a}");
        assert_eq!(surely_within(&a, &b, &places()), within, "{a} within {b}");
    }
    for (a, b, overlap) in [
        ("**/*.pem", "~/keys/**", true),
        ("**/*.pem", "~/keys/*.pub", false),
        ("{a,b}/**", "{c,b}/x", true),
        ("{a,b}/**", "{c,d}/x", false),
        ("host:a*", "host:*b", true),
        ("host:a", "a", false),
    ] {
        assert_eq!(compiled(a).overlaps(&compiled(b)), overlap, "{a} overlaps {b}");
        assert_eq!(compiled(b).overlaps(&compiled(a)), overlap, "{b} overlaps {a}");
    }
}

#[test]
fn what_cannot_be_read_is_an_error_and_strict_as_an_operand() {
    for text in
        ["", "path:", "a[b", "a{b", "a\\", "[z-a]", "a/*/../b", "{a,../b}", "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}"]
    {
        assert!(Pattern::compile(text, &places()).is_err(), "{text}");
    }
    assert!(Pattern::compile(&"a".repeat(5000), &places()).is_err());
    for glob in ["a[b", "a{b", "a\\"] {
        let operand = Resource::glob(glob);
        assert!(compiled("x").meets(&operand, &places()));
        assert!(!compiled("/**").holds(&operand, &places()));
        assert!(may_overlap(&operand, &resource("x"), &places()));
        assert!(!surely_within(&operand, &resource("/**"), &places()));
    }
}

#[test]
fn over_budget_is_strict_and_quick() {
    let long = Resource::glob("*a".repeat(100));
    let pattern = compiled(&"a*".repeat(100));
    assert!(pattern.meets(&long, &places()));
    assert!(!pattern.holds(&long, &places()));
    let name = Resource::path("a".repeat(4000));
    assert!(compiled("**/*a*a*a*a*a*a*a*a*b").holds(&name, &places()) || !compiled("**/b").meets(&name, &places()));
}

/// Every way of choosing alternatives, by plain recursion.
fn expanded(glob: &str) -> Vec<String> {
    let Some(close) = glob.find('}') else { return vec![glob.to_owned()] };
    let open = glob[..close].rfind('{').unwrap();
    let parts = glob[open + 1..close].split(',');
    parts.flat_map(|part| expanded(&format!("{}{part}{}", &glob[..open], &glob[close + 1..]))).collect()
}

/// The meaning of a glob over `/a/b`, by backtracking, on a glob without alternatives.
fn matches(glob: &[u8], name: &[u8]) -> bool {
    let deep = glob.starts_with(b"/**") && matches!(glob.get(3), None | Some(b'/'));
    match glob {
        [] => name.is_empty(),
        _ if deep => {
            let rest = &glob[3..];
            matches(rest, name) || name.first() == Some(&b'/') && (1..=name.len()).any(|n| matches(rest, &name[n..]))
        }
        [b'*', b'*', rest @ ..] => (0..=name.len()).any(|n| matches(rest, &name[n..])),
        [b'*', rest @ ..] => {
            let segment = name.iter().take_while(|c| **c != b'/').count();
            (0..=segment).any(|n| matches(rest, &name[n..]))
        }
        [b'?', rest @ ..] => name.first().is_some_and(|c| *c != b'/') && matches(rest, &name[1..]),
        [b'[', b'!', class, b']', rest @ ..] => {
            name.first().is_some_and(|c| c != class && *c != b'/') && matches(rest, &name[1..])
        }
        [b'[', class, b']', rest @ ..] => name.first() == Some(class) && matches(rest, &name[1..]),
        [c, rest @ ..] => name.first() == Some(c) && matches(rest, &name[1..]),
    }
}

/// Names over `a`, `b` and `c`, the root (empty) among them: up to two segments of three letters, up to three of two.
fn universe() -> Vec<String> {
    let longer = |words: &[String], with: &[String]| -> Vec<String> {
        words.iter().flat_map(|w| with.iter().map(move |l| format!("{w}{l}"))).collect()
    };
    let ones: Vec<String> = ["a", "b", "c"].map(str::to_owned).to_vec();
    let twos = [ones.clone(), longer(&ones, &ones)].concat();
    let threes = [twos.clone(), longer(&longer(&ones, &ones), &ones)].concat();
    let mut names = vec![String::new()];
    for (segments, deep) in [(threes, 2), (twos, 3)] {
        let segments: Vec<String> = segments.iter().map(|s| format!("/{s}")).collect();
        let mut last = vec![String::new()];
        for _ in 0..deep {
            last = longer(&last, &segments);
            names.extend(last.iter().cloned());
        }
    }
    names
}

fn segment() -> impl Strategy<Value = String> {
    let unit = prop_oneof![
        4 => "[ab]", 2 => Just("*".to_owned()), 1 => Just("?".to_owned()), 1 => Just("[a]".to_owned()),
        1 => Just("[!a]".to_owned()), 1 => Just("{a,b*}".to_owned()), 1 => Just("{b,{a,c}}".to_owned()), 1 => Just("{,b}".to_owned()), 1 => Just("**".to_owned()),
    ];
    prop_oneof![4 => prop::collection::vec(unit, 1..3).prop_map(|u| u.concat()), 1 => Just("**".to_owned())]
        .prop_filter("an empty segment", |s| s != "{,b}" && s != "{,b}{,b}")
}

fn glob() -> impl Strategy<Value = String> {
    prop::collection::vec(segment(), 1..3).prop_map(|s| format!("/{}", s.join("/")))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn relations_agree_with_enumeration(a in glob(), b in glob()) {
        thread_local! { static PATHS: Vec<String> = universe(); }
        let places = places();
        let (pattern, operand) = (Pattern::compile(&a, &places).unwrap(), Resource::glob(&*b));
        let (ours, theirs) = (expanded(&a), expanded(&b));
        let takes = |globs: &[String], name: &str| globs.iter().any(|g| matches(g.as_bytes(), name.as_bytes()));
        let (mut meets, mut holds) = (false, true);
        PATHS.with(|paths| for name in paths {
            if takes(&theirs, name) {
                let taken = takes(&ours, name);
                meets |= taken;
                holds &= taken;
            }
            let one = Resource::path(if name.is_empty() { "/" } else { name });
            assert_eq!(pattern.meets(&one, &places), takes(&ours, name), "{a} takes {name}");
            assert_eq!(pattern.holds(&one, &places), takes(&ours, name), "{a} takes {name}");
        });
        prop_assert_eq!(pattern.meets(&operand, &places), meets, "{} meets {}", a, b);
        prop_assert_eq!(may_overlap(&Resource::glob(&*a), &operand, &places), meets);
        prop_assert_eq!(pattern.overlaps(&Pattern::compile(&b, &places).unwrap()), meets);
        prop_assert_eq!(may_overlap(&operand, &Resource::glob(&*a), &places), meets);
        // A union of alternatives may hold what no single one does: then it is not provable, never the reverse.
        let held = pattern.holds(&operand, &places);
        prop_assert!(holds || !held, "{} holds {}", a, b);
        if ours.len() == 1 {
            prop_assert_eq!(held, holds, "{} holds {}", a, b);
        }
        prop_assert_eq!(surely_within(&operand, &Resource::glob(&*a), &places), held || a == b);
    }

    /// The quick answer for a tree is the automaton's for the same set written as a glob.
    #[test]
    fn a_tree_is_the_glob_of_a_tree(
        pattern in "(/|~/|\\./|\\.\\./)?[ab]?/?[ab]{0,2}(/\\*\\*|/\\*|\\*|/|)(/a)?",
        place in "(/home/ann/work|/home/ann|/home|)(/[ab]{1,2}){0,2}"
    ) {
        let places = places();
        if let Ok(compiled) = Pattern::compile(&pattern, &places) {
            let name = places.canonical(&place);
            let tree = Resource::subtree(&*name);
            let glob = match &*name {
                "/" => Resource::glob("/**"),
                "." => Resource::glob("./**"),
                name => Resource::glob(format!("{name}/**")),
            };
            prop_assert_eq!(compiled.meets(&tree, &places), compiled.meets(&glob, &places), "{} {}", pattern, name);
            prop_assert_eq!(compiled.holds(&tree, &places), compiled.holds(&glob, &places), "{} {}", pattern, name);
            let one = Resource::path(&*name);
            prop_assert_eq!(compiled.meets(&one, &places), compiled.holds(&one, &places), "{} {}", pattern, name);
            prop_assert_eq!(compiled.meets(&one, &places), compiled.meets(&Resource::glob(&*name), &places), "{} {}", pattern, name);
        }
    }

    #[test]
    fn nothing_panics(a in "[a\\[\\]{},*?/.~!:\\\\-]{0,20}", b in "[a\\[\\]{},*?/.~!:\\\\-]{0,20}", kind in 0..Kind::ALL.len()) {
        let places = places();
        let kind = Kind::ALL[kind];
        for extent in [Extent::One(b.clone()), Extent::Subtree(b.clone()), Extent::Glob(b), Extent::Any] {
            let operand = Resource { kind, extent };
            if let Ok(pattern) = Pattern::compile(&format!("{kind}:{a}"), &places)
                && pattern.holds(&operand, &places)
            {
                // An empty class makes an empty set, which is held and meets nothing.
                prop_assert!(pattern.meets(&operand, &places) || a.contains('[') || matches!(operand.extent, Extent::Glob(_)));
            }
            may_overlap(&operand, &Resource { kind, extent: Extent::Glob(a.clone()) }, &places);
        }
    }
}
