//! Rules files: the core schema that comes with the program, and the person's own.
//!
//! ```toml
//! [[rule]]
//! id = "c100"                                   # own rules from c100 up
//! title = "drafts are never published"
//! rule = 'if effect_is(publish) and resource_in("drafts/**") then forbid_effect(publish)'
//! hard = true                                   # no session can relax it; false if left out
//! why = "You keep drafts to yourself."
//! matches = ["scp drafts/a.md example.org:"]    # a shell command, or any call:
//! not_matches = [{ tool = "fs_read", args = { path = "drafts/a.md" } }]
//! ```
//!
//! What never lives here: opening files, and running the examples (they need intake; see `policy::examples`).

use super::lang::{
    self,
    ast::{Consequence, Rule},
    diagnostic::{Diagnostic, did_you_mean},
};
use crate::domain::{Origin, RawCall, RuleId, Span};
use serde_json::{Map, Value, json};
use std::ops::Range;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

/// The core schema as shipped.
pub const CORE: &str = include_str!("../../assets/core.toml");
/// What errors in it are reported under.
pub const CORE_FILE: &str = "core.toml";
/// Lower numbers belong to the core schema.
pub const FIRST_OWN: u32 = 100;

const KEYS: [&str; 7] = ["id", "title", "rule", "hard", "why", "matches", "not_matches"];

/// A rule of a rules file.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaRule {
    pub id: RuleId,
    /// What it does, in a few words.
    pub title: String,
    pub rule: Rule,
    /// The rule as it stands in the file.
    pub text: String,
    /// No session can relax it.
    pub hard: bool,
    /// Why it is there, said to the person.
    pub why: String,
    /// Calls that the rule must speak about.
    pub matches: Vec<RawCall>,
    /// Calls that it must leave alone.
    pub not_matches: Vec<RawCall>,
}

/// A mistake in a rules file. Lines and columns count from 1, columns in characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}:{line}:{column}: {shown}")]
pub struct SchemaError {
    pub file: String,
    pub line: usize,
    pub column: usize,
    pub message: String,
    /// The text at fault.
    pub text: String,
    pub hint: Option<String>,
    /// Message, marked line and hint.
    shown: String,
}

/// Reads the core schema, or any rules file that stands alone.
pub fn read(text: &str, file: &str) -> Result<Vec<SchemaRule>, Vec<SchemaError>> {
    Reader::new(text, file, None).read()
}

/// Reads the person's own rules, which stand beside `core` and may relax what is not hard in it.
pub fn read_own(text: &str, file: &str, core: &[SchemaRule]) -> Result<Vec<SchemaRule>, Vec<SchemaError>> {
    Reader::new(text, file, Some(core)).read()
}

struct Reader<'a> {
    text: &'a str,
    file: &'a str,
    core: Option<&'a [SchemaRule]>,
    errors: Vec<SchemaError>,
}

type Entry<'a> = Spanned<DeValue<'a>>;

impl<'a> Reader<'a> {
    fn new(text: &'a str, file: &'a str, core: Option<&'a [SchemaRule]>) -> Self {
        Reader { text, file, core, errors: Vec::new() }
    }

    fn read(mut self) -> Result<Vec<SchemaRule>, Vec<SchemaError>> {
        let (root, broken) = DeTable::parse_recoverable(self.text);
        for error in broken {
            self.wrong(error.span().unwrap_or_default(), error.message(), None);
        }
        let mut rules = Vec::new();
        if self.errors.is_empty() {
            for (key, value) in root.get_ref() {
                match (key.get_ref().as_ref(), value.get_ref()) {
                    ("rule", DeValue::Array(entries)) => rules.extend(entries.iter().map(|e| self.rule(e))),
                    ("rule", _) => self.wrong(key.span(), "`rule` is a list", hint("write `[[rule]]`")),
                    (other, _) => {
                        let hint =
                            did_you_mean(other, ["rule"]).or_else(|| hint("a rules file holds `[[rule]]` only"));
                        self.wrong(key.span(), &format!("there is no `{other}` here"), hint);
                    }
                }
            }
        }
        let placed: Vec<(Range<usize>, Range<usize>, SchemaRule)> = rules.into_iter().flatten().collect();
        self.cross_check(&placed);
        self.errors.sort_by_key(|e| (e.line, e.column));
        if self.errors.is_empty() {
            Ok(placed.into_iter().map(|(_, _, rule)| rule).collect())
        } else {
            Err(self.errors)
        }
    }

    fn wrong(&mut self, at: Range<usize>, message: &str, hint: Option<String>) {
        let chars = |to: usize| self.text.get(..to).map_or(0, |t| t.chars().count()) as u32;
        let span = Span { start: chars(at.start), end: chars(at.end) };
        self.report(Diagnostic { span, message: message.to_owned(), hint });
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        let shown = diagnostic.render(self.text);
        let before: String = self.text.chars().take(diagnostic.span.start as usize).collect();
        self.errors.push(SchemaError {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.chars().rev().take_while(|c| *c != '\n').count() + 1,
            message: diagnostic.message,
            text: diagnostic.span.of(self.text).unwrap_or_default().to_owned(),
            hint: diagnostic.hint,
            shown,
        });
    }

    /// A rule with the places of its id and of its text.
    fn rule(&mut self, entry: &Entry<'a>) -> Option<(Range<usize>, Range<usize>, SchemaRule)> {
        let DeValue::Table(table) = entry.get_ref() else {
            self.wrong(entry.span(), "a rule is a table", hint("write `[[rule]]` and its keys below"));
            return None;
        };
        for key in table.keys().filter(|key| !KEYS.contains(&key.get_ref().as_ref())) {
            let hint =
                did_you_mean(key.get_ref(), KEYS).or_else(|| hint(&format!("the keys are {}", KEYS.join(", "))));
            self.wrong(key.span(), &format!("a rule has no `{}`", key.get_ref()), hint);
        }
        let id = self.required(table, entry, "id").and_then(|(id, at)| self.id(&id, at));
        let title = self.required(table, entry, "title");
        let text = self.required(table, entry, "rule");
        let rule = text.as_ref().and_then(|(text, at)| self.rule_text(text, at.clone()));
        let why = table.get("why").and_then(|why| self.string(why)).unwrap_or_default();
        let hard = table.get("hard").is_some_and(|hard| match hard.get_ref() {
            DeValue::Boolean(hard) => *hard,
            other => {
                let message = format!("`hard` is true or false, not {}", other.type_str());
                self.wrong(hard.span(), &message, None);
                false
            }
        });
        let matches = self.examples(table, "matches");
        let not_matches = self.examples(table, "not_matches");
        let ((id, id_at), (title, _), (text, text_at)) = (id?, title?, text?);
        Some((id_at, text_at, SchemaRule { id, title, rule: rule?, text, hard, why, matches, not_matches }))
    }

    fn known_keys(&mut self, table: &DeTable<'a>, known: &[&'static str], of: &str) {
        for key in table.keys().filter(|key| !known.contains(&key.get_ref().as_ref())) {
            let all = || hint(&format!("the keys are {}", known.join(", ")));
            let hint = did_you_mean(key.get_ref(), known.iter().copied()).or_else(all);
            self.wrong(key.span(), &format!("{of} has no `{}`", key.get_ref()), hint);
        }
    }

    fn string(&mut self, value: &Entry<'a>) -> Option<String> {
        let DeValue::String(text) = value.get_ref() else {
            let message = format!("a text is expected here, found {}", value.get_ref().type_str());
            self.wrong(value.span(), &message, None);
            return None;
        };
        Some(text.clone().into_owned())
    }

    fn required(&mut self, table: &DeTable<'a>, entry: &Entry<'a>, key: &str) -> Option<(String, Range<usize>)> {
        let Some(value) = table.get(key) else {
            // A key that was meant to be this one has been reported already.
            if table.keys().any(|k| did_you_mean(k.get_ref(), [key]).is_some()) {
                return None;
            }
            self.wrong(entry.span(), &format!("the rule has no `{key}`"), hint(&format!("write `{key} = '…'`")));
            return None;
        };
        self.string(value).map(|text| (text, value.span()))
    }

    fn id(&mut self, id: &str, at: Range<usize>) -> Option<(RuleId, Range<usize>)> {
        let own = self.core.is_some();
        match id.parse::<RuleId>() {
            Ok(id) if id.origin != Origin::Core => {
                let hint = hint(&format!("rules of files are named `c{}`", FIRST_OWN + id.number % FIRST_OWN));
                self.wrong(at, &format!("`{id}` is no id for a rules file"), hint);
                None
            }
            Ok(id) if own && id.number < FIRST_OWN => {
                let hint = hint(&format!("own rules start at `c{FIRST_OWN}`"));
                self.wrong(at, &format!("`{id}` is kept for the core rules"), hint);
                None
            }
            Ok(id) => Some((id, at)),
            Err(_) => {
                let hint = hint(&format!("write `c{FIRST_OWN}`"));
                self.wrong(at, &format!("`{id}` is no rule id"), hint);
                None
            }
        }
    }

    fn rule_text(&mut self, text: &str, at: Range<usize>) -> Option<Rule> {
        let mistakes = match lang::parse(text) {
            Ok(rule) => return Some(rule),
            Err(mistakes) => mistakes,
        };
        let places = places_in_file(self.text.get(at.clone()).unwrap_or_default(), text);
        let before = self.text.get(..at.start).map_or(0, |t| t.chars().count()) as u32;
        for mistake in mistakes {
            let place = |n: u32| places.as_ref().and_then(|p| p.get(n as usize)).map(|n| before + n);
            match (place(mistake.span.start), place(mistake.span.end.saturating_sub(1))) {
                (Some(start), Some(last)) => {
                    self.report(Diagnostic { span: Span { start, end: last + 1 }, ..mistake });
                }
                _ => self.wrong(at.clone(), &mistake.message, mistake.hint),
            }
        }
        None
    }

    fn examples(&mut self, table: &DeTable<'a>, key: &str) -> Vec<RawCall> {
        let Some(value) = table.get(key) else { return Vec::new() };
        let DeValue::Array(list) = value.get_ref() else {
            self.wrong(value.span(), &format!("`{key}` is a list"), hint("write `[\"rm -rf x\"]`"));
            return Vec::new();
        };
        list.iter().filter_map(|example| self.example(example)).collect()
    }

    fn example(&mut self, example: &Entry<'a>) -> Option<RawCall> {
        let table = match example.get_ref() {
            DeValue::String(command) => return Some(RawCall::new("shell_exec", json!({ "command": command }))),
            DeValue::Table(table) => table,
            other => {
                let message = format!("an example is a command or a call, not {}", other.type_str());
                self.wrong(
                    example.span(),
                    &message,
                    hint("write `{ tool = \"fs_delete\", args = { path = \"x\" } }`"),
                );
                return None;
            }
        };
        self.known_keys(table, &["tool", "args"], "a call");
        let (tool, _) = self.required(table, example, "tool")?;
        let args = match table.get("args") {
            None => json!({}),
            Some(args) => match args.get_ref() {
                DeValue::Table(_) => as_json(args.get_ref()),
                _ => {
                    self.wrong(args.span(), "`args` is a table", hint("write `args = { path = \"x\" }`"));
                    return None;
                }
            },
        };
        Some(RawCall::new(&tool, args))
    }

    /// Ids are unique, and an exception relaxes a rule that is there and is not hard.
    fn cross_check(&mut self, placed: &[(Range<usize>, Range<usize>, SchemaRule)]) {
        for (nth, (at, text_at, rule)) in placed.iter().enumerate() {
            if placed.iter().take(nth).any(|(_, _, earlier)| earlier.id == rule.id) {
                self.wrong(
                    at.clone(),
                    &format!("`{}` is the id of an earlier rule", rule.id),
                    hint("take the next free number"),
                );
            }
            let Consequence::Except(target) = rule.rule.then else { continue };
            let known = placed.iter().map(|(_, _, rule)| rule).chain(self.core.unwrap_or_default());
            let message = match known.into_iter().find(|r| r.id == target) {
                None if target.origin == Origin::Core => format!("there is no rule `{target}` to relax"),
                None => format!("a rules file cannot relax `{target}`, which is no rule of a file"),
                Some(hard) if hard.hard => format!("`{target}` is hard and cannot be relaxed"),
                Some(_) => continue,
            };
            self.wrong(text_at.clone(), &message, None);
        }
    }
}

fn hint(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// Where each character of a string's value, and its end, stands in the string as written, quotes included.
/// `None` where the two differ in more than simple escapes.
fn places_in_file(written: &str, value: &str) -> Option<Vec<u32>> {
    let count = |text: &str| text.chars().count() as u32;
    if let Some(at) = written.find(value) {
        let start = count(written.get(..at)?);
        return Some((start..=start + count(value)).collect());
    }
    let (mut places, mut escaped) = (Vec::new(), false);
    for (nth, c) in written.chars().enumerate().skip(1) {
        if escaped && matches!(c, 'u' | 'U' | 'x' | '\n') {
            return None;
        }
        escaped = c == '\\' && !escaped;
        if !escaped {
            places.push(nth as u32);
        }
    }
    (places.len() == value.chars().count() + 1).then_some(places)
}

fn as_json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::from(text.as_ref()),
        DeValue::Integer(n) => i64::from_str_radix(n.as_str(), n.radix()).map_or(Value::Null, Value::from),
        DeValue::Float(n) => n.as_str().parse::<f64>().map_or(Value::Null, Value::from),
        DeValue::Boolean(b) => Value::from(*b),
        DeValue::Datetime(moment) => Value::from(moment.to_string()),
        DeValue::Array(list) => list.iter().map(|v| as_json(v.get_ref())).collect(),
        DeValue::Table(table) => {
            let fields = table.iter().map(|(key, value)| (key.get_ref().to_string(), as_json(value.get_ref())));
            Value::Object(fields.collect::<Map<_, _>>())
        }
    }
}

#[cfg(test)]
mod tests;
