//! The core schema as shipped, and files with every kind of fault.

use super::*;
use crate::domain::{Extent, Kind, Places, Resource};
use crate::policy::pattern::Pattern;
use proptest::prelude::*;

fn core() -> Vec<SchemaRule> {
    read(CORE, CORE_FILE).unwrap_or_else(|errors| panic!("{}", errors[0]))
}

#[test]
fn the_core_schema_is_sound() {
    let rules = core();
    for rule in &rules {
        assert!(rule.id.number < FIRST_OWN, "{}", rule.id);
        assert!(rule.why.ends_with('.') && !rule.title.is_empty(), "{}", rule.id);
        assert!(!rule.rule.then.loosens(), "{} loosens", rule.id);
        assert!(!rule.not_matches.is_empty(), "{} has no example", rule.id);
        assert_eq!(lang::parse(&rule.rule.to_string()).as_ref(), Ok(&rule.rule));
    }
    let without_match: Vec<String> =
        rules.iter().filter(|r| r.matches.is_empty()).map(|r| r.id.to_string()).collect();
    assert_eq!(without_match, ["c19"], "each other rule shows what it is for");
    let hard: Vec<String> = rules.iter().filter(|r| r.hard).map(|r| r.id.to_string()).collect();
    assert_eq!(hard, ["c1", "c2", "c3", "c4", "c5", "c12"]);
}

/// Whether the patterns of core rule `id` may meet an operand.
fn meets(id: u32, operand: &str) -> bool {
    let places = Places { workspace: "/home/ann/work".into(), home: "/home/ann".into() };
    let rule = core().into_iter().find(|r| r.id == RuleId::core(id)).unwrap();
    let operand: Resource = operand.parse().unwrap();
    let printed = rule.rule.to_string();
    let patterns = printed.split("resource_in(\"").skip(1).filter_map(|p| p.split_once('"')).map(|(p, _)| p);
    patterns.map(|p| Pattern::compile(p, &places).unwrap()).any(|p| p.meets(&operand, &places))
}

#[test]
fn roots_are_told_from_what_lies_in_them() {
    for operand in
        ["/**", "~/**", "./**", ".", "/home/**", "/etc/**", "/*", "/*/**", "~/*", "*", "*/**", "~/.*", "?*"]
    {
        assert_eq!(meets(1, operand), operand != "~/.*", "{operand}");
    }
    for operand in ["build/**", "build/*", "*.log", "src", "~/Downloads/**", "/etc/motd", "/tmp/x/**", "**/*.tmp"] {
        assert!(!meets(1, operand), "{operand}");
    }
    for operand in ["~/.local/**", "~/.config/weal/rules.toml", "~/.*/**", "~/**"] {
        assert!(meets(3, operand) && meets(4, operand), "{operand}");
    }
    assert!(!meets(3, "./**"));
    assert!(meets(2, "/dev/sda1") && meets(2, "/dev/**") && !meets(2, "/dev/null"));
    assert!(meets(16, "AGENTS.md") && meets(16, ".cursor/rules/a.mdc") && !meets(16, "build/**"));
    assert!(
        meets(17, "~/.config/systemd/user/x.service") && meets(17, "/etc/cron.daily/x") && !meets(17, "x/.bashrc")
    );
    assert!(meets(18, ".git/**") && !meets(18, ".gitignore"));
    let event = Resource { kind: Kind::Event, extent: Extent::Any };
    assert!(meets(19, &event.to_string()));
}

#[test]
fn rules_and_their_examples_are_read() {
    let text = r#"
        [[rule]]
        id = "c100"
        title = "a title"
        rule = 'if effect_is(delete) then forbid_effect(delete)'
        hard = true
        why = "Because."
        matches = ["rm x", { tool = "fs.delete", args = { path = "x", deep = { n = 0x10, on = true, f = [1.5] } } }]

        [[rule]]
        id = "c101"
        title = "an exception"
        rule = "if effect_is(delete) and resource_in(\"a\") then except(c13)"
    "#;
    let rules = read_own(text, "rules.toml", &core()).unwrap();
    assert_eq!(rules.len(), 2);
    assert_eq!(rules[0].id, RuleId::core(100));
    assert!(rules[0].hard && !rules[1].hard && rules[1].why.is_empty());
    assert_eq!(rules[0].text, "if effect_is(delete) then forbid_effect(delete)");
    assert_eq!(
        rules[0].matches,
        [
            RawCall::new("shell_exec", json!({ "command": "rm x" })),
            RawCall::new("fs_delete", json!({ "path": "x", "deep": { "n": 16, "on": true, "f": [1.5] } })),
        ]
    );
}

fn own_errors(text: &str) -> Vec<SchemaError> {
    read_own(text, "rules.toml", &core()).expect_err(text)
}

fn with(line: &str) -> String {
    let rest = ["id = 'c100'", "title = 't'", "rule = 'if always then require_approval()'"];
    let key = line.split(' ').next().unwrap();
    let rest: Vec<&str> = rest.into_iter().filter(|l| !l.starts_with(&format!("{key} "))).collect();
    format!("[[rule]]\n{line}\n{}\n", rest.join("\n"))
}

#[test]
fn mistakes_are_placed_and_explained() {
    // what stands in the second line, column, text at fault, part of the message, part of the hint
    for (line, column, at, message, hint) in [
        ("titel = 'x'", 1, "titel", "no `titel`", "`title`"),
        ("colour = 'x'", 1, "colour", "no `colour`", "the keys are"),
        ("hard = 'yes'", 8, "'yes'", "true or false, not string", ""),
        ("title = 3", 9, "3", "a text is expected", ""),
        ("id = 'x1'", 6, "'x1'", "no rule id", "c100"),
        ("id = '§1'", 6, "'§1'", "no id for a rules file", "c101"),
        ("id = 'c7'", 6, "'c7'", "kept for the core", "c100"),
        ("rule = 'if efect_is(delete) then require_approval()'", 12, "efect_is", "no condition", "`effect_is`"),
        ("rule = \"if a == \\\"b\\\" adn x then require_approval()\"", 23, "adn", "expected", "`and`"),
        (
            "rule = \"\\u0069f adn then require_approval()\"",
            8,
            "\"\\u0069f adn then require_approval()\"",
            "adn",
            "`and`",
        ),
        ("rule = ''", 8, "'", "`if` is expected", "if … then"),
        ("rule = 'if always then except(c9999)'", 8, "'if always then except(c9999)'", "no rule `c9999`", ""),
        ("rule = 'if always then except(§3)'", 8, "'if always then except(§3)'", "cannot relax `§3`", ""),
        ("rule = 'if always then except(c1)'", 8, "'if always then except(c1)'", "is hard", ""),
        ("matches = 'rm x'", 11, "'rm x'", "`matches` is a list", "[\"rm"),
        ("matches = [3]", 12, "3", "a command or a call", "tool"),
        ("matches = [{ tol = 'x' }]", 14, "tol", "no `tol`", "`tool`"),
        ("matches = [{ tool = 'x', args = 'y' }]", 33, "'y'", "`args` is a table", "args ="),
        ("title = 'x", 11, "'x", "", ""),
        ("title 'x'", 7, "'x'", "", ""),
    ] {
        let text = with(line);
        let errors = own_errors(&text);
        let error = &errors[0];
        let shown = error.to_string();
        assert_eq!((error.line, error.column), (2, column), "{shown}");
        assert!(error.text.starts_with(at) || message.is_empty(), "{line}: `{}`", error.text);
        assert!(error.message.contains(message), "{shown}");
        assert!(error.hint.as_deref().unwrap_or_default().contains(hint), "{shown}");
        assert!(shown.starts_with("rules.toml:2:") && shown.contains('^'), "{shown}");
    }
}

#[test]
fn missing_and_doubled_parts_are_named() {
    let errors = own_errors("[[rule]]\nhard = true\n\n[[rules]]\nid = 'c100'");
    let found: Vec<&str> = errors.iter().map(|e| e.message.as_str()).collect();
    assert_eq!(
        found,
        ["the rule has no `id`", "the rule has no `title`", "the rule has no `rule`", "there is no `rules` here"]
    );
    let doubled = format!("{}{}", with("hard = true"), with("hard = true"));
    let errors = own_errors(&doubled);
    assert_eq!((errors.len(), errors[0].line), (1, 8));
    assert!(errors[0].message.contains("`c100` is the id of an earlier rule"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 50, ..ProptestConfig::default() })]

    /// The core schema with a piece cut out or replaced: read or refused in place, and never a panic.
    #[test]
    fn spoilt_files_never_panic(from in 0_usize..9000, length in 0_usize..40, put in "[a-z\"'\\[\\]{}=§\n\\\\]{0,4}") {
        let text: Vec<char> = CORE.chars().collect();
        let from = from.min(text.len());
        let to = (from + length).min(text.len());
        let spoilt: String = text[..from].iter().copied().chain(put.chars()).chain(text[to..].iter().copied()).collect();
        if let Err(errors) = read(&spoilt, "x.toml") {
            for error in errors {
                prop_assert!(error.line >= 1 && error.line <= spoilt.matches('\n').count() + 1);
            }
        }
    }
}
