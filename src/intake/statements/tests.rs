//! Laws of the extractor, its table of sentences, and what a referent needs.

use super::*;
use crate::domain::{ConstraintState, Op, RuleId, Source, StatementKind};
use proptest::prelude::*;
use std::sync::LazyLock;

static ENGLISH: LazyLock<Lexicon> = LazyLock::new(Lexicon::english);

/// Sentence, kind (or `-` for no statement), rule (or `-` where none can be made); a line for each statement.
const TABLE: &str = include_str!("cases.tsv");

fn found(text: &str, known: &[Constraint]) -> Vec<Statement> {
    extract(Turn(1), text, &[], known, &ENGLISH)
}

/// What matters of a statement wherever it stands.
fn essence(statement: &Statement) -> (StatementKind, Op, Option<String>, String) {
    (statement.kind, statement.op, statement.rule.clone(), statement.quote.clone())
}

fn table() -> Vec<(&'static str, Vec<(&'static str, &'static str)>)> {
    let mut rows: Vec<(&str, Vec<(&str, &str)>)> = Vec::new();
    for line in TABLE.lines() {
        let [text, kind, rule] = line.split('\t').collect::<Vec<_>>().try_into().unwrap();
        match rows.last_mut() {
            Some((last, wanted)) if *last == text => wanted.push((kind, rule)),
            _ => rows.push((text, vec![(kind, rule)])),
        }
    }
    rows
}

#[test]
fn the_table_of_sentences_holds() {
    let mut wrong = Vec::new();
    for (text, wanted) in table() {
        let all = found(text, &[]);
        let got: Vec<_> = all.iter().map(|s| (s.kind.word(), s.rule.as_deref().unwrap_or("-"))).collect();
        let wanted: Vec<_> = wanted.into_iter().filter(|(kind, _)| *kind != "-").collect();
        if got != wanted {
            wrong.push(format!("{text}\n  want {wanted:?}\n  got  {got:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_table_is_large_enough_to_mean_something() {
    let rows = table();
    let quiet = rows.iter().filter(|(_, wanted)| wanted.iter().all(|(kind, _)| *kind == "-")).count();
    assert!(rows.len() >= 200 && quiet >= 80, "{} sentences, {quiet} of them quiet", rows.len());
}

#[test]
fn two_rules_for_the_archive() {
    let text = "Two rules for the archive: nothing under records/ may be deleted without a backup first, and \
                contracts/ must never be touched.";
    let got: Vec<_> = found(text, &[]).into_iter().map(|s| (s.kind, s.rule.unwrap(), s.quote)).collect();
    let want = [
        (
            StatementKind::Prerequisite,
            r#"if effect_is(delete) and resource_in("records/**") then require_before(backup, same_resource)"#,
            "nothing under records/ may be deleted without a backup first",
        ),
        (
            StatementKind::Prohibition,
            r#"if resource_in("contracts/**") then forbid_effect(write)"#,
            "contracts/ must never be touched",
        ),
    ];
    assert_eq!(got, want.map(|(kind, rule, quote)| (kind, rule.to_owned(), quote.to_owned())));
}

#[test]
fn lists_under_a_heading_take_its_demand() {
    let text =
        "Never:\n- delete anything in records/\n- push to main\n\nAsk me before you:\n1. send mail\n2. buy anything";
    let got: Vec<_> = found(text, &[]).into_iter().map(|s| (s.rule.unwrap(), s.quote)).collect();
    let want = [
        (r#"if resource_in("records/**") then forbid_effect(delete)"#, "delete anything in records/"),
        (r#"if resource_in("branch:main") then forbid_effect(publish)"#, "push to main"),
        ("if effect_is(send) then require_approval()", "send mail"),
        ("if effect_is(pay) then require_approval()", "buy anything"),
    ];
    assert_eq!(got, want.map(|(rule, quote)| (rule.to_owned(), quote.to_owned())));
}

#[test]
fn what_is_not_typed_binds_nothing() {
    let text = "Look at this:\nnever push to main";
    let at = text.find("never").unwrap() as u32;
    let pasted = Span { start: at, end: text.len() as u32 };
    let drafts = extract(Turn(1), text, &[pasted], &[], &ENGLISH);
    assert_eq!(drafts.len(), 1);
    assert!(drafts.iter().all(|s| s.confidence < 0.5 && s.note.as_deref().is_some_and(|n| n.starts_with("pasted"))));
    for quiet in ["```\nnever push\n```", "~~~\nnever push", "> never push", "(hook) never push", "// never push"] {
        assert_eq!(found(quiet, &[]), [], "{quiet}");
    }
}

#[test]
fn scopes_are_said() {
    for (text, scope) in [
        ("Never push to main.", Scope::Session),
        ("In this project never push to main.", Scope::Project),
        ("From now on in every session: never push.", Scope::Project),
        ("Always and everywhere: never touch ~/.ssh.", Scope::Always),
        ("Don't touch tests/ this time.", Scope::Turn),
        ("For this session, ask me before you push.", Scope::Session),
    ] {
        let got: Vec<_> = found(text, &[]).iter().map(|s| s.scope).collect();
        assert_eq!(got, [scope], "{text}");
    }
}

fn kept(id: u32, text: &str) -> Constraint {
    let statement = found(text, &[]).into_iter().next().unwrap();
    Constraint {
        id: RuleId::said(id),
        kind: statement.kind,
        quote: statement.quote,
        turn: statement.turn,
        span: statement.span,
        source: Source::Said,
        scope: statement.scope,
        rule: statement.rule,
        note: statement.note,
        confidence: statement.confidence,
        state: ConstraintState::Active,
        expires: None,
        once: None,
    }
}

/// Six rules in force, of different kinds.
static LAW: LazyLock<Vec<Constraint>> = LazyLock::new(|| {
    let said = [
        "Nothing under records/ may be deleted without a backup first.",
        "Never touch contracts/.",
        "Ask me before you send any mail.",
        "Don't spend more than 500 EUR per day.",
        "Never delete anything in data/.",
        "Don't push until I say so.",
    ];
    (1..).zip(said).map(|(n, text)| kept(n, text)).collect()
});

#[test]
fn operations_find_their_rule_or_change_nothing() {
    use {Op::*, StatementKind::*};
    for (text, kind, op, target, rule) in [
        ("You can now touch contracts/.", Revocation, Revoke, 2, "if always then except(§2)"),
        (
            "You may edit contracts/drafts/.",
            Exception,
            Relax,
            2,
            r#"if effect_is(write) and resource_in("contracts/drafts/**") then except(§2)"#,
        ),
        ("Forget the rule about backups.", Revocation, Revoke, 1, "if always then except(§1)"),
        ("The ban on contracts/ is lifted.", Revocation, Revoke, 2, "if always then except(§2)"),
        ("Never mind what I said about contracts/.", Revocation, Revoke, 2, "if always then except(§2)"),
        ("contracts/ is no longer off limits.", Revocation, Revoke, 2, "if always then except(§2)"),
        ("You no longer need to ask me before sending mails.", Revocation, Revoke, 3, "if always then except(§3)"),
        ("You may send the mails.", Exception, Relax, 3, "if effect_is(send) then except(§3)"),
        (
            "You may delete anything in data/tmp/.",
            Exception,
            Relax,
            5,
            r#"if effect_is(delete) and resource_in("data/tmp/**") then except(§5)"#,
        ),
        ("data/cache/ is fine.", Exception, Relax, 5, r#"if resource_in("data/cache/**") then except(§5)"#),
        ("Except data/tmp/.", Exception, Relax, 5, r#"if resource_in("data/tmp/**") then except(§5)"#),
        (
            "You may delete records/2019/ without a backup.",
            Exception,
            Relax,
            1,
            r#"if effect_is(delete) and resource_in("records/2019/**") then except(§1)"#,
        ),
        ("You can push now.", Revocation, Revoke, 6, "if always then except(§6)"),
        (
            "Make it 300 instead.",
            Update,
            Replace,
            4,
            "if effect_is(pay) then limit(amount, 300 EUR, per calendar day)",
        ),
        (
            "Raise the limit to 1,000 EUR.",
            Update,
            Replace,
            4,
            "if effect_is(pay) then limit(amount, 1000 EUR, per calendar day)",
        ),
        (
            "The rule for contracts/ also applies to leases/.",
            Update,
            Add,
            2,
            r#"if resource_in("leases/**") then forbid_effect(write)"#,
        ),
    ] {
        let got: Vec<_> = found(text, &LAW).into_iter().map(|s| (s.kind, s.op, s.targets, s.rule)).collect();
        assert_eq!(got, [(kind, op, vec![RuleId::said(target)], Some(rule.to_owned()))], "{text}");
    }
    for unclear in
        ["Scratch that rule.", "You can delete it.", "That rule no longer applies.", "The same goes for it."]
    {
        for statement in found(unclear, &LAW) {
            assert!(statement.targets.is_empty() && statement.rule.is_none(), "{statement:?}");
            assert!(statement.confidence < 0.5 && statement.note.is_some(), "{statement:?}");
        }
    }
    for quiet in [
        "You may delete anything in records/.",
        "You may spend money.",
        "Delete data/a.txt.",
        "You can read contracts/a.",
    ] {
        assert_eq!(found(quiet, &LAW), [], "{quiet}");
    }
}

#[test]
fn a_yes_to_one_thing_is_no_yes_for_good() {
    let got = found("You may send the mails.", &LAW);
    assert_eq!(got.iter().map(|s| s.scope).collect::<Vec<_>>(), [Scope::Turn]);
}

/// Figures on a collection of real statements beside the repository, where there is one.
#[test]
#[expect(clippy::disallowed_methods, reason = "the collection is no part of the program")]
fn figures_on_real_statements() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/cases/statements.jsonl");
    let Ok(lines) = std::fs::read_to_string(path) else {
        println!("skipped: no statements beside the repository");
        return;
    };
    let (mut hit, mut miss, mut over, mut kinds) = (0, 0, 0, 0);
    for line in lines.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        if case["lang"] != "en" {
            continue;
        }
        let text = case["text"].as_str().unwrap();
        let kind = match case["kind"].as_str().unwrap() {
            "approval_required" => "approval",
            "scope_limited" => "scope",
            "update_conflict" => "update",
            kind => kind,
        };
        let all = found(text, &[]);
        let got: Vec<_> = all.iter().filter(|s| s.confidence >= 0.5).collect();
        match (case["is_constraint"] == "yes", got.is_empty()) {
            (true, false) => {
                hit += 1;
                kinds += i32::from(got.iter().any(|s| s.kind.word() == kind));
            }
            (true, true) => miss += 1,
            (false, false) => over += 1,
            (false, true) => {}
        }
    }
    let f1 = 2.0 * f64::from(hit) / f64::from(2 * hit + miss + over);
    let right = f64::from(kinds) / f64::from(hit);
    println!("found {hit}, missed {miss}, invented {over}: F1 {f1:.3}, kind right {right:.3}");
    assert!(f1 >= 0.85, "F1 {f1:.3}");
}

fn sentence() -> impl Strategy<Value = &'static str> {
    prop::sample::select(table().into_iter().map(|(text, _)| text).collect::<Vec<_>>())
}

/// Text that meets the grammar's words, joints and marks in any order.
fn word_salad() -> impl Strategy<Value = String> {
    let words = [
        "never",
        "don't",
        "delete",
        "touch",
        "records/",
        "contracts/",
        "before",
        "without",
        "a backup",
        "my ok",
        "unless",
        "until",
        "except",
        "only",
        "and",
        "or",
        "but",
        ",",
        ":",
        ";",
        "-",
        ".",
        "?",
        "\n",
        "- ",
        "```",
        "\"",
        "'",
        "`",
        "(",
        ")",
        "at most",
        "3",
        "$20",
        "a day",
        "you may",
        "it",
        "the",
        "main",
        "push",
        "ask me",
        "first",
        "not",
        "§",
        "ünïcode",
        "🦀",
        "*.log",
        "outside",
        "if",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..60).prop_map(|w| w.join(" "))
}

fn holds(text: &str, statements: &[Statement]) {
    for statement in statements {
        assert_eq!(statement.span.of(text), Some(statement.quote.as_str()));
        assert!(!statement.quote.is_empty());
        assert_eq!(statement.enforceable, statement.rule.is_some());
        assert!(statement.rule.is_some() || statement.note.is_some());
        assert!((0.0..=1.0).contains(&statement.confidence));
        assert!(statement.op != Op::Revoke || statement.targets.len() == usize::from(statement.enforceable));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn quotes_stand_under_their_spans(text in prop_oneof![word_salad(), any::<String>(), "\\PC{0,300}"]) {
        holds(&text, &found(&text, &[]));
        holds(&text, &found(&text, &LAW));
    }

    #[test]
    fn neutral_neighbours_change_nothing(text in sentence(), before in 0..4usize, after in 0..4usize) {
        let neutral = ["The tests took ten minutes.", "Thanks!", "Here is the plan for today.", "It rained all morning."];
        let list = text.starts_with(['>', '/']);
        let around = format!("{}{}{text}\n\n{}", neutral[before], if list { "\n\n" } else { " " }, neutral[after]);
        let alone: Vec<_> = found(text, &[]).iter().map(essence).collect();
        let inside: Vec<_> = found(&around, &[]).iter().map(essence).collect();
        prop_assert_eq!(alone, inside);
    }

    #[test]
    fn a_turn_is_read_by_itself(text in word_salad(), other in word_salad(), turn in 1..900u32) {
        let first = extract(Turn(turn), &text, &[], &[], &ENGLISH);
        found(&other, &[]);
        prop_assert_eq!(first, extract(Turn(turn), &text, &[], &[], &ENGLISH));
    }

    #[test]
    fn pasted_text_never_binds(text in word_salad()) {
        let all = Span { start: 0, end: text.chars().count() as u32 };
        for statement in extract(Turn(1), &text, &[all], &LAW, &ENGLISH) {
            prop_assert!(statement.confidence < 0.5);
        }
    }
}

#[test]
fn long_turns_end_soon() {
    let units = [
        "never ",
        "(",
        "\"",
        "`",
        "]",
        "a, ",
        "delete x/ and ",
        "don't touch it, ",
        "- ",
        "-",
        "\n- x",
        "never:\n- a",
        "é",
        "i ",
    ];
    for unit in units {
        let text = unit.repeat(100_000 / unit.len());
        let all = found(&text, &[]);
        assert!(all.iter().take(3).all(|s| s.span.of(&text) == Some(s.quote.as_str())));
    }
}
