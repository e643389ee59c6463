//! Rules on the screen: lightly coloured text, and what a simple one means in a few words. Reads the text form only.

use super::wrap::Spans;
use crate::tui::theme::{Role, Theme};

/// The rule's text with its words told apart.
pub fn coloured(theme: &Theme, text: &str) -> Spans {
    let mut spans = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let len = match first {
            '"' => rest.char_indices().skip(1).find(|(_, c)| *c == '"').map_or(rest.len(), |(i, _)| i + 1),
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (token, after) = rest.split_at_checked(len).unwrap_or((rest, ""));
        let role = match first {
            '"' => Role::Literal,
            c if c.is_ascii_digit() => Role::Number,
            '§' => Role::Rule,
            c if is_word(c) && is_keyword(token) => Role::Keyword,
            c if is_word(c) && after.starts_with('(') => Role::Name,
            _ => Role::Text,
        };
        spans.push(theme.paint(role, token));
        rest = after;
    }
    spans
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '§' | '.')
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "if" | "then" | "and" | "or" | "not" | "always" | "per")
}

/// `name(inside)`.
fn term(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.trim().split_once('(')?;
    Some((name.trim(), rest.trim().strip_suffix(')')?))
}

fn bare(text: &str) -> &str {
    text.trim().trim_matches('"')
}

/// The guard and the consequence of a rule's text.
pub fn parts(rule: &str) -> Option<(&str, &str)> {
    let rule = rule.trim().strip_prefix("if ")?;
    // a `then` inside a quoted glob is no keyword; the last one is the rule's
    rule.rsplit_once(" then ").map(|(guard, then)| (guard.trim(), then.trim()))
}

/// What a rule whose guard is a plain conjunction means; `None` for the others, which are shown as they are.
pub fn plain(rule: &str) -> Option<String> {
    let (guard, then) = parts(rule)?;
    let (mut verb, mut object, mut rest) = ("", String::new(), Vec::new());
    if guard.contains(" or ") || guard.contains("not ") {
        return None;
    }
    for predicate in guard.split(" and ").filter(|p| p.trim() != "always") {
        match term(predicate) {
            Some(("effect_is", v)) => verb = bare(v),
            Some(("resource_in", glob)) => object = bare(glob).to_owned(),
            Some(("recipient_in", who)) => object = format!("to {}", bare(who)),
            Some(("tool_is", tool)) if verb.is_empty() => verb = bare(tool),
            Some(("data_scope_is", label)) => rest.push(format!("{} data", bare(label))),
            Some(("intent_is", label)) => rest.push(format!("when the task is {}", bare(label))),
            Some((_, _)) | None => rest.push(predicate.trim().to_owned()),
        }
    }
    let (name, inside) = term(then)?;
    let args: Vec<&str> = inside.split(',').map(bare).collect();
    let first = args.first().copied().unwrap_or_default();
    let class = |v: &str| match v {
        "write" => "any change".to_owned(),
        "any" => "anything".to_owned(),
        v => v.to_owned(),
    };
    let what = if verb.is_empty() { "anything".to_owned() } else { class(verb) };
    let head = match name {
        "forbid_effect" => format!("no {} {object}", if first == "any" { "effect" } else { first }),
        "forbid_tool_call" => format!("never call {first} {object}"),
        "require_approval" => format!("ask before {what} {object}"),
        "require_before" => match args.get(1) {
            Some(&"same_resource") | None => format!("{first} → {what} {object}"),
            Some(target) => format!("{first} {target} → {what} {object}"),
        },
        "limit" => format!("at most {} {first} {}: {what} {object}", args.get(1)?, args.get(2).unwrap_or(&"")),
        "except" => format!("lets through {what} {object} despite {first}"),
        _ => return None,
    };
    let mut text = head.trim().to_owned();
    for more in rest {
        text.push_str(", ");
        text.push_str(&more);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simple_rules_are_said_plainly() {
        for (rule, words) in [
            (
                r#"if effect_is(delete) and resource_in("records/**") then require_before(backup, same_resource)"#,
                Some("backup → delete records/**"),
            ),
            (r#"if resource_in("contracts/**") then forbid_effect(write)"#, Some("no write contracts/**")),
            (r#"if effect_is(send) then require_approval()"#, Some("ask before send")),
            (
                r#"if effect_is(pay) then limit(amount, 50 EUR, per calendar day)"#,
                Some("at most 50 EUR amount per calendar day: pay"),
            ),
            (r#"if not reversible() or effect_is(pay) then require_approval()"#, None),
            ("nonsense", None),
        ] {
            assert_eq!(plain(rule).as_deref(), words, "{rule}");
        }
    }

    #[test]
    fn colouring_changes_no_character() {
        let theme = Theme::built_in("dark").unwrap();
        for rule in [r#"if tool_is("a b") and x >= 3 then except(§12)"#, "\"open", "§", ""] {
            let text: String = coloured(&theme, rule).iter().map(|s| s.content.as_ref()).collect();
            assert_eq!(text, rule);
        }
    }
}
