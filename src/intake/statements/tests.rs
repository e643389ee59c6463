//! Laws of the extractor, its table of sentences, and what a referent needs.

use super::*;
use crate::domain::StatementKind;
use std::sync::LazyLock;

static ENGLISH: LazyLock<Lexicon> = LazyLock::new(Lexicon::english);

fn found(text: &str, known: &[Constraint]) -> Vec<Statement> {
    extract(Turn(1), text, &[], known, &ENGLISH)
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
