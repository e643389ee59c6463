//! Secrets in text: found by what they look like and what they are called, replaced by a label and a keyed digest before
//! anything is written down. What they look like is data (`assets/secrets.toml`). Nothing here knows where text is kept.
//!
//! The digest tells two secrets apart and the same one apart from another, to whoever has the log; which secret it was, only
//! to whoever has the key as well and can guess.

use crate::domain::{Digest, Event};
use regex::bytes::{Captures, Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::Value;
use std::{
    borrow::Cow,
    ops::Range,
    sync::{LazyLock, OnceLock},
};

/// A secret that was taken out.
#[derive(Clone, PartialEq, Eq)]
pub struct Found {
    pub label: String,
    /// What stands in its place: `[secret:label:1a2b3c4d]`.
    pub mark: String,
    /// The secret itself; never shown, not even while debugging.
    pub text: String,
}

impl std::fmt::Debug for Found {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Found").field("label", &self.label).field("mark", &self.mark).finish_non_exhaustive()
    }
}

/// An event that held a secret does not read as an event without it; it must not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a secret could not be taken out of the event `{0}`")]
pub struct Unredactable(pub &'static str);

/// Replaces every secret in `text`. Doing it twice is doing it once.
pub fn redact(text: &str, key: &[u8; 32]) -> (String, Vec<Found>) {
    let detector = &*DETECTOR;
    let mut out = String::with_capacity(text.len());
    let mut founds = Vec::new();
    let mut done = 0;
    for (range, label) in detector.ranges(text) {
        let found = detector.found(label, text.get(range.clone()).unwrap_or_default(), key);
        out.push_str(text.get(done..range.start).unwrap_or_default());
        out.push_str(&found.mark);
        done = range.end;
        founds.push(found);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    (out, founds)
}

/// Replaces every secret in every string of `value`, names of fields included; an argument with the name of a secret
/// (`password`, `api_key`) is one as a whole.
pub fn redact_value(value: &mut Value, key: &[u8; 32]) -> Vec<Found> {
    let mut founds = Vec::new();
    DETECTOR.walk(value, key, &mut founds);
    founds
}

/// The event without its secrets (itself, where it has none) and what was taken out.
pub fn redact_event<'a>(event: &'a Event, key: &[u8; 32]) -> Result<(Cow<'a, Event>, Vec<Found>), Unredactable> {
    let fault = |_| Unredactable(event.name());
    let json = serde_json::to_string(event).map_err(fault)?;
    if !DETECTOR.sign.is_match(json.as_bytes()) {
        return Ok((Cow::Borrowed(event), Vec::new()));
    }
    let mut value: Value = serde_json::from_str(&json).map_err(fault)?;
    let found = redact_value(&mut value, key);
    if found.is_empty() {
        return Ok((Cow::Borrowed(event), found));
    }
    Ok((Cow::Owned(serde_json::from_value(value).map_err(fault)?), found))
}

/// `assets/secrets.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sheet {
    placeholder: String,
    name: String,
    name_needle: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "an example for the test"))]
    name_yes: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "an example for the test"))]
    name_no: Vec<String>,
    secret: Vec<Shape>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Shape {
    label: String,
    needle: String,
    #[serde(rename = "match")]
    matches: String,
    #[serde(default)]
    named: bool,
    #[serde(default)]
    bits: f64,
    #[serde(default)]
    digit: bool,
    #[cfg_attr(not(test), expect(dead_code, reason = "an example for the test"))]
    yes: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "an example for the test"))]
    no: Vec<String>,
    #[serde(skip)]
    exact: OnceLock<Regex>,
}

impl Shape {
    /// Made when the first sign of any secret is seen: most starts of the program need not pay for it.
    fn exact(&self) -> &Regex {
        #[expect(clippy::expect_used, reason = "shipped data, loaded by a test")]
        self.exact.get_or_init(|| ascii(&self.matches).expect("`match` in assets/secrets.toml is an expression"))
    }
}

struct Detector {
    /// Any needle at all: what nearly every text fails at.
    sign: Regex,
    placeholder: Regex,
    name: Regex,
    /// A mark of ours.
    mark: Regex,
    shapes: Vec<Shape>,
}

static DETECTOR: LazyLock<Detector> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "shipped data, loaded by a test")]
    Detector::load().expect("assets/secrets.toml is well-formed")
});

impl Detector {
    fn load() -> Result<Detector, Box<dyn std::error::Error>> {
        let sheet: Sheet = toml::from_str(include_str!("../../assets/secrets.toml"))?;
        let mut needles: Vec<&str> = sheet.secret.iter().map(|shape| shape.needle.as_str()).collect();
        needles.push(&sheet.name_needle);
        Ok(Detector {
            sign: ascii(&format!("(?i){}", needles.join("|")))?,
            placeholder: ascii(&sheet.placeholder)?,
            name: ascii(&sheet.name)?,
            mark: ascii(r"\[secret:[a-z0-9-]+:[0-9a-f]{8}\]")?,
            shapes: sheet.secret,
        })
    }

    /// Where secrets are, in order and apart from each other, each with its label.
    fn ranges(&self, text: &str) -> Vec<(Range<usize>, &str)> {
        if !self.sign.is_match(text.as_bytes()) {
            return Vec::new();
        }
        let mut all: Vec<(Range<usize>, &str)> = Vec::new();
        let marks: Vec<Range<usize>> = self.mark.find_iter(text.as_bytes()).map(|m| m.range()).collect();
        let meets = |a: &Range<usize>, b: &Range<usize>| a.start < b.end && b.start < a.end;
        for shape in &self.shapes {
            for range in shape.exact().captures_iter(text.as_bytes()).filter_map(|found| secret_of(&found)) {
                let range = text.floor_char_boundary(range.start)..text.ceil_char_boundary(range.end);
                let secret = text.get(range.clone()).unwrap_or_default();
                if self.is_secret(shape, secret) && !marks.iter().any(|mark| meets(mark, &range)) {
                    all.push((range, &shape.label));
                }
            }
        }
        // What meets becomes one, under the label of the one that begins first (the longer of those, the earlier shape).
        all.sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let mut apart: Vec<(Range<usize>, &str)> = Vec::new();
        for (range, label) in all {
            match apart.last_mut() {
                Some((last, _)) if range.start < last.end => last.end = last.end.max(range.end),
                Some(_) | None => apart.push((range, label)),
            }
        }
        apart
    }

    fn is_secret(&self, shape: &Shape, text: &str) -> bool {
        let has_digit = text.bytes().any(|b| b.is_ascii_digit());
        (!shape.digit || has_digit)
            && entropy(text) >= shape.bits
            && !(shape.named && self.placeholder.is_match(text.as_bytes()))
    }

    fn found(&self, label: &str, secret: &str, key: &[u8; 32]) -> Found {
        let digest = Digest::of_parts([b"weal secret".as_slice(), key, secret.as_bytes()]).short();
        Found { label: label.to_owned(), mark: format!("[secret:{label}:{digest}]"), text: secret.to_owned() }
    }

    fn walk(&self, value: &mut Value, key: &[u8; 32], founds: &mut Vec<Found>) {
        match value {
            Value::String(text) => self.replace(text, key, founds),
            Value::Array(items) => items.iter_mut().for_each(|item| self.walk(item, key, founds)),
            Value::Object(fields) => {
                for (name, mut field) in std::mem::take(fields) {
                    match self.named(&name, &mut field) {
                        Some(text)
                            if !self.placeholder.is_match(text.as_bytes())
                                && !self.mark.is_match(text.as_bytes()) =>
                        {
                            let found = self.found("argument", text, key);
                            found.mark.clone_into(text);
                            founds.push(found);
                        }
                        Some(_) | None => self.walk(&mut field, key, founds),
                    }
                    let mut name = name;
                    self.replace(&mut name, key, founds);
                    fields.insert(name, field);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// The string that the name of its field makes a secret. An environment variable's is within the fact about it.
    fn named<'v>(&self, name: &str, field: &'v mut Value) -> Option<&'v mut String> {
        let holds = |text: &String| text.chars().count() >= 4;
        match (field, name.strip_prefix("env ")) {
            (Value::Object(fact), Some(variable)) if self.name.is_match(variable.as_bytes()) => {
                match fact.get_mut("value") {
                    Some(Value::String(text)) => Some(text).filter(|text| holds(text)),
                    Some(_) | None => None,
                }
            }
            (Value::String(text), None) if self.name.is_match(name.as_bytes()) => {
                Some(text).filter(|text| holds(text))
            }
            _ => None,
        }
    }

    fn replace(&self, text: &mut String, key: &[u8; 32], founds: &mut Vec<Found>) {
        let (clean, found) = redact(text, key);
        if !found.is_empty() {
            *text = clean;
            founds.extend(found);
        }
    }
}

/// The first group that took part.
fn secret_of(found: &Captures<'_>) -> Option<Range<usize>> {
    found.iter().skip(1).flatten().next().map(|group| group.range())
}

/// On bytes: one `é` in a text makes Unicode's word boundaries many times slower, and no secret is called by non-ASCII names.
fn ascii(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).unicode(false).build()
}

/// Shannon entropy in bits a character.
fn entropy(text: &str) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let total = text.len() as f64;
    counts.iter().filter(|count| **count > 0).map(|count| f64::from(*count) / total).map(|p| -p * p.log2()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{
        Action, Digest, Effect, Fact, Facts, Outcome, Proposal, ProposalId, Proposer, Query, RawCall, Span, Status,
        Turn,
    };
    use proptest::prelude::*;
    use serde_json::json;

    const KEY: [u8; 32] = [7; 32];

    fn sheet() -> Sheet {
        toml::from_str(include_str!("../../assets/secrets.toml")).unwrap()
    }

    /// An example with its `<a36>` filled in, by a fixed sequence, so that a sentence in the data is no real secret.
    fn filled(example: &str) -> String {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = |alphabet: &str| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            char::from(alphabet.as_bytes()[(state >> 33) as usize % alphabet.len()])
        };
        let slot = regex::Regex::new("<([aAx])([0-9]+)>").unwrap();
        let mut fill = |found: &regex::Captures<'_>| -> String {
            let alphabet = match &found[1] {
                "a" => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
                "A" => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567",
                _ => "0123456789abcdef",
            };
            (0..found[2].parse::<usize>().unwrap()).map(|_| next(alphabet)).collect()
        };
        slot.replace_all(example, |found: &regex::Captures<'_>| fill(found)).into_owned()
    }

    /// Each text that holds a secret, with the first secret in it.
    static EXAMPLES: LazyLock<Vec<(String, String)>> = LazyLock::new(|| {
        let filled = sheet().secret.into_iter().flat_map(|shape| shape.yes).map(|example| filled(&example));
        let secret = |text: &str| text[DETECTOR.ranges(text)[0].0.clone()].to_owned();
        filled.map(|text| (text.clone(), secret(&text))).collect()
    });

    #[test]
    fn every_example_of_the_data_holds() {
        let mut wrong = Vec::new();
        for shape in sheet().secret {
            for example in shape.yes.iter().map(|e| filled(e)) {
                let (text, founds) = redact(&example, &KEY);
                if !founds.iter().any(|f| f.label == shape.label) {
                    wrong.push(format!("{}: {example} -> {text}", shape.label));
                }
            }
            for example in shape.no.iter().map(|e| filled(e)) {
                let (text, _) = redact(&example, &KEY);
                if text != example {
                    wrong.push(format!("not {}: {example} -> {text}", shape.label));
                }
            }
        }
        let sheet = sheet();
        wrong.extend(sheet.name_yes.into_iter().filter(|n| !DETECTOR.name.is_match(n.as_bytes())));
        wrong.extend(sheet.name_no.into_iter().filter(|n| DETECTOR.name.is_match(n.as_bytes())));
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn the_mark_tells_secrets_apart_and_nothing_else() {
        let (text, founds) = redact("password=hunter2 password=hunter3 password=hunter2", &KEY);
        let marks: Vec<&str> = founds.iter().map(|f| f.mark.as_str()).collect();
        assert_eq!(text, format!("password={} password={} password={}", marks[0], marks[1], marks[2]));
        assert!(marks[0] == marks[2] && marks[0] != marks[1]);
        assert!(DETECTOR.mark.is_match(marks[0].as_bytes()) && marks[0].len() == "[secret:password:1a2b3c4d]".len());
        assert_ne!(redact("password=hunter2", &[8; 32]).0, redact("password=hunter2", &KEY).0);
    }

    #[test]
    fn secrets_that_overlap_go_as_one() {
        let (text, founds) = redact("password=abc1://x:tail-of-it@y", &KEY);
        assert_eq!((text, founds.len()), (format!("password={}", founds[0].mark), 1));
        let (text, _) = redact("https://ann:pass_pwd=1@host/x", &KEY);
        assert!(text.starts_with("https://ann:[secret:url-password:") && !text.contains("_pwd"), "{text}");
    }

    /// Digests, ids and names are no secrets, whatever they stand beside.
    #[test]
    fn hashes_ids_and_names_stay() {
        let digest = Digest::of(b"x").to_string();
        for text in [
            format!("commit {}", &digest[..40]),
            format!("sha256:{digest} image@sha256:{digest}"),
            format!("docker pull registry.example.org/app@sha256:{digest}"),
            format!("digest = \"{digest}\" checksum: {digest} etag={digest}"),
            "id=0198c5a7-3c5e-7d1a-9b77-0123456789ab request_id: 0198c5a7-3c5e-7d1a-9b77-0123456789ab".to_owned(),
            "git log --format=%H | grep 3f2504e04f8941d39a0c0305e82c3301".to_owned(),
            "cargo test secrets::tests -- --nocapture; see src/token.rs and keys.md".to_owned(),
            "the password is never to be written down, and tokens: 4000 are enough".to_owned(),
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk".to_owned(),
        ] {
            assert_eq!(redact(&text, &KEY).0, text);
        }
    }

    fn call(args: Value) -> RawCall {
        RawCall::new("http_request", args)
    }

    #[test]
    fn every_string_of_an_event_is_covered() {
        let token = filled("ghp_<a36>");
        let event = Event::ActionProposed {
            proposal: Proposal {
                id: ProposalId(1),
                turn: Turn(1),
                call: call(json!({
                    "url": format!("https://ann:{token}@example.org"),
                    "headers": {"Authorization": "Bearer 0a1b2c3d4e5f0a1b2c3d"},
                    "list": ["x", {"deep": [format!("say {token}\n")]}],
                    "password": "tulips",
                    "api_key": "${API_KEY}",
                    "empty": {"token": ""},
                    token.clone(): 1,
                    "count": 3.25,
                })),
                by: Proposer::Person,
            },
        };
        let clean = redact_event(&event, &KEY).unwrap().0;
        let text = serde_json::to_string(&clean).unwrap();
        assert!(!text.contains(&token) && !text.contains("0a1b2c3d4e5f") && !text.contains("tulips"), "{text}");
        assert!(text.contains("${API_KEY}") && text.contains("[secret:argument:") && text.contains("3.25"), "{text}");
        assert_eq!(redact_event(&clean, &KEY).unwrap().0.as_ref(), clean.as_ref());
    }

    #[test]
    fn facts_about_secret_variables_do_not_tell_them() {
        let facts = [
            (Query::Env("DEPLOY_TOKEN".into()), Fact::Env { value: Some("plainwords".into()) }),
            (Query::Env("EDITOR".into()), Fact::Env { value: Some("/usr/bin/vi".into()) }),
            (Query::Path("password=hunter2".into()), Fact::Unavailable { why: "no such file".into() }),
        ];
        let event = Event::FactsRead { proposal: ProposalId(1), facts: Facts(facts.into_iter().collect()) };
        let clean = serde_json::to_string(&redact_event(&event, &KEY).unwrap().0).unwrap();
        assert!(
            !clean.contains("plainwords") && !clean.contains("hunter2") && clean.contains("/usr/bin/vi"),
            "{clean}"
        );
    }

    #[test]
    fn an_event_without_secrets_is_not_copied() {
        let action = Action {
            call: call(json!({"path": "src/main.rs"})),
            effects: Vec::<Effect>::new(),
            programs: Vec::new(),
            facts: Digest::default(),
        };
        for event in [
            Event::ActionUnderstood { proposal: ProposalId(1), action },
            Event::ActionFinished {
                proposal: ProposalId(1),
                outcome: Outcome::plain(Status::Succeeded, "password: required\n-----BEGIN CERTIFICATE-----", 3),
                at: Default::default(),
            },
        ] {
            assert!(matches!(redact_event(&event, &KEY), Ok((Cow::Borrowed(_), _))), "{event:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        /// What the text alone is found by is found in an event too (so no needle is narrower than its shape), wherever it
        /// stands; and what was redacted is left alone.
        #[test]
        fn a_secret_does_not_get_through(
            before in "[ -~é\n]{0,40}", after in "[ -~é\n]{0,40}", which in any::<prop::sample::Index>()
        ) {
            let (example, secret) = which.get(&EXAMPLES);
            let text = format!("{before}\n{example}\n{after}");
            let (clean, founds) = redact(&text, &KEY);
            prop_assert!(!founds.is_empty() && (secret.len() < 6 || !clean.contains(secret)), "{}", text);
            prop_assert_eq!(redact(&clean, &KEY).0, clean.clone());
            let event = Event::UserSaid { turn: Turn(1), text, pasted: vec![Span::default()] };
            match redact_event(&event, &KEY).unwrap().0.as_ref() {
                Event::UserSaid { text, .. } => prop_assert_eq!(text, &clean),
                other => prop_assert!(false, "{:?}", other),
            }
        }

        #[test]
        fn any_text_survives(text in any::<String>()) {
            let (clean, founds) = redact(&text, &KEY);
            prop_assert!(!founds.is_empty() || clean == text);
        }
    }
}
