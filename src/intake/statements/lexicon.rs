//! The words of one language, read from the data under `assets/lexicon`: acts, things, cues. What they mean
//! together is in `read`.

use super::pattern::{Classes, Pattern};
use crate::domain::Verb;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// What a cue does in its clause; the words are in `cues.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Cue {
    // demands
    Ban,
    Ensure,
    BanThing,
    KeepOut,
    StaysHere,
    Leave,
    Alone,
    OffLimits,
    Banned,
    Ask,
    Show,
    Say,
    Requested,
    Permit,
    Permitted,
    Relax,
    Only,
    StayIn,
    ReadOnly,
    Outside,
    Most,
    Over,
    Revoke,
    MakeIt,
    SameFor,
    Instead,
    // speech about speech
    Idle,
    Reported,
    Hypothetical,
    Hedge,
    DoesNot,
    // joints
    Before,
    After,
    OnlyAfter,
    Without,
    Unless,
    Until,
    Except,
    If,
    While,
    Reason,
    First,
    From,
    ForNow,
    Recurring,
    // how long
    Project,
    Always,
    ThisTurn,
    ThisSession,
    // windows
    PerCall,
    PerHour,
    PerDay,
    PerWeek,
    PerMonth,
    PerSession,
    InTotal,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Base,
    Third,
    Past,
    Gerund,
    Noun,
}

/// Something an agent does.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Act {
    /// Verbs of the rule language, or one of its classes `write` and `any`.
    pub verbs: Vec<String>,
    pub words: Vec<String>,
    nouns: Vec<String>,
    /// The one place it changes, as the rule language writes it.
    pub on: Option<String>,
    /// Counts only where the object or the demand leaves no doubt.
    pub strict: bool,
    /// What must follow, where the words alone do not make it an act.
    pub before: Option<Before>,
    /// An order of it is one to push: the only acts that publish a branch.
    pub pushes: bool,
    pub force: bool,
    /// Why no rule can be made of it.
    pub unclear: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Before {
    Program,
    Name,
}

/// Something acts are done to.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Thing {
    words: Vec<String>,
    pub any: bool,
    pub kind: Option<String>,
    pub label: Option<String>,
    pub globs: Vec<String>,
    pub names: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Meaning {
    Cue(Cue),
    Act(usize, Form),
    Thing(usize),
}

#[derive(Debug, Clone)]
struct Entry {
    pattern: Pattern,
    meaning: Meaning,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Acts {
    irregular: BTreeMap<String, [String; 4]>,
    act: Vec<Act>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Words {
    words: Vec<String>,
    #[serde(rename = "as")]
    alias: BTreeMap<String, String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Things {
    thing: Vec<Thing>,
    style: Words,
    extensions: Words,
    heads: BTreeMap<String, String>,
    branches: Words,
    adjectives: Words,
    fillers: Words,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CueLine {
    is: Cue,
    say: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Cues {
    class: Classes,
    words: BTreeMap<String, BTreeSet<String>>,
    cue: Vec<CueLine>,
}

/// Everything the extractor knows of a language.
#[derive(Debug, Clone, Default)]
pub struct Lexicon {
    entries: BTreeMap<String, Vec<Entry>>,
    pub(crate) acts: Vec<Act>,
    pub(crate) things: Vec<Thing>,
    pub(crate) extensions: BTreeMap<String, String>,
    pub(crate) heads: BTreeMap<String, String>,
    pub(crate) branches: BTreeSet<String>,
    pub(crate) adjectives: BTreeSet<String>,
    pub(crate) fillers: BTreeSet<String>,
    pub(crate) style: BTreeSet<String>,
    words: BTreeMap<String, BTreeSet<String>>,
    pub(crate) intents: Vec<Intent>,
}

/// A label for requests.
#[derive(Debug, Clone)]
pub(crate) struct Intent {
    pub label: String,
    /// Any of them in a request gives it the label.
    pub say: Vec<Pattern>,
    /// What such requests usually end in.
    pub leads_to: Vec<Verb>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum LexiconError {
    #[error("lexicon: {0}")]
    Toml(#[from] toml::de::Error),
    #[error("lexicon: `{0}` is no pattern (unknown class, or nothing that must be there)")]
    Pattern(String),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct IntentLine {
    label: String,
    say: Vec<String>,
    #[serde(default)]
    leads_to: Vec<Verb>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Intents {
    #[serde(default)]
    class: Classes,
    intent: Vec<IntentLine>,
}

impl Lexicon {
    /// The built-in English lexicon. Reads about 2,000 patterns: make one and keep it.
    pub fn english() -> Lexicon {
        // The data is part of the program and a test reads it; an empty lexicon finds nothing.
        Lexicon::read(
            include_str!("../../../assets/lexicon/acts.toml"),
            include_str!("../../../assets/lexicon/things.toml"),
            include_str!("../../../assets/lexicon/cues.toml"),
            include_str!("../../../assets/intents.toml"),
        )
        .unwrap_or_default()
    }

    pub(crate) fn read(acts: &str, things: &str, cues: &str, intents: &str) -> Result<Lexicon, LexiconError> {
        let acts: Acts = toml::from_str(acts)?;
        let things: Things = toml::from_str(things)?;
        let cues: Cues = toml::from_str(cues)?;
        let intents: Intents = toml::from_str(intents)?;
        let mut lexicon = Lexicon::default();
        for line in &cues.cue {
            for text in &line.say {
                lexicon.add(pattern(text, &cues.class)?, Meaning::Cue(line.is));
            }
        }
        for (n, act) in acts.act.iter().enumerate() {
            for words in &act.words {
                for (form, text) in inflected(words, &acts.irregular) {
                    lexicon.add(Pattern::literal(&text), Meaning::Act(n, form));
                }
            }
            for noun in &act.nouns {
                lexicon.add(Pattern::literal(noun), Meaning::Act(n, Form::Noun));
            }
        }
        for (n, thing) in things.thing.iter().enumerate() {
            for words in &thing.words {
                lexicon.add(Pattern::literal(words), Meaning::Thing(n));
            }
        }
        for line in intents.intent {
            let say: Result<Vec<_>, _> = line.say.iter().map(|text| pattern(text, &intents.class)).collect();
            lexicon.intents.push(Intent { label: line.label, say: say?, leads_to: line.leads_to });
        }
        lexicon.words = cues.words;
        lexicon.acts = acts.act;
        lexicon.things = things.thing;
        let Words { words, alias } = things.extensions;
        lexicon.extensions = words.into_iter().map(|w| (w.clone(), alias.get(&w).cloned().unwrap_or(w))).collect();
        lexicon.heads = things.heads;
        lexicon.branches = things.branches.words.into_iter().collect();
        lexicon.adjectives = things.adjectives.words.into_iter().collect();
        lexicon.fillers = things.fillers.words.into_iter().collect();
        lexicon.style = things.style.words.into_iter().collect();
        Ok(lexicon)
    }

    fn add(&mut self, pattern: Pattern, meaning: Meaning) {
        let mut firsts: Vec<String> = pattern.firsts().into_iter().map(str::to_owned).collect();
        firsts.sort();
        firsts.dedup();
        for first in firsts {
            self.entries.entry(first).or_default().push(Entry { pattern: pattern.clone(), meaning });
        }
    }

    /// The longest entry at `at`, and how many words it takes; of equally long ones the first that `wanted` takes.
    pub(crate) fn longest<'a>(
        &self,
        words: &impl Fn(usize) -> Option<&'a str>,
        at: usize,
        wanted: impl Fn(Meaning) -> bool,
    ) -> Option<(Meaning, usize)> {
        let mut best: Option<(Meaning, usize)> = None;
        for entry in self.entries.get(words(at)?)? {
            if let Some(taken) = entry.pattern.longest(words, at)
                && best.is_none_or(|(_, most)| taken > most)
                && wanted(entry.meaning)
            {
                best = Some((entry.meaning, taken));
            }
        }
        best
    }

    /// `word` is in the closed class `class`.
    pub(crate) fn is(&self, class: &str, word: &str) -> bool {
        self.words.get(class).is_some_and(|words| words.contains(word))
    }

    /// Some entry begins with this word, or it is one that says nothing.
    pub(crate) fn knows(&self, word: &str) -> bool {
        self.entries.contains_key(word) || self.fillers.contains(word)
    }
}

fn pattern(text: &str, classes: &Classes) -> Result<Pattern, LexiconError> {
    Pattern::read(text, classes).ok_or_else(|| LexiconError::Pattern(text.to_owned()))
}

/// All forms of `words`, of which the first is a verb.
fn inflected(words: &str, irregular: &BTreeMap<String, [String; 4]>) -> Vec<(Form, String)> {
    let (verb, rest) = words.split_once(' ').map_or((words, String::new()), |(v, r)| (v, format!(" {r}")));
    let forms = match irregular.get(verb) {
        Some(forms) => forms.clone(),
        None => regular(verb),
    };
    let sorts = [Form::Third, Form::Past, Form::Past, Form::Gerund];
    let mut all = vec![(Form::Base, words.to_owned())];
    all.extend(sorts.into_iter().zip(forms).map(|(form, word)| (form, format!("{word}{rest}"))));
    all.dedup_by(|a, b| a.1 == b.1);
    all
}

/// Third person, past, participle, gerund of a regular verb.
fn regular(verb: &str) -> [String; 4] {
    let vowel = |c: char| "aeiou".contains(c);
    let mut ends = verb.chars().rev();
    let (last, before, third) = (ends.next(), ends.next(), ends.next());
    let is_vowel = |c: Option<char>| c.is_some_and(vowel);
    let short = verb.chars().filter(|c| vowel(*c)).count() == 1;
    let doubles =
        short && is_vowel(before) && !is_vowel(third) && !is_vowel(last) && !last.is_some_and(|c| "wxy".contains(c));
    let cut = |n: usize| verb.get(..verb.len().saturating_sub(n)).unwrap_or(verb);
    let sibilant = ["s", "x", "z", "ch", "sh"].iter().any(|end| verb.ends_with(end));
    let (s, ed, ing) = match last {
        Some('y') if !is_vowel(before) => (format!("{}ies", cut(1)), format!("{}ied", cut(1)), format!("{verb}ing")),
        Some('e') => (format!("{verb}s"), format!("{verb}d"), format!("{}ing", cut(1))),
        Some(c) if doubles => (format!("{verb}s"), format!("{verb}{c}ed"), format!("{verb}{c}ing")),
        _ => (format!("{verb}{}", if sibilant { "es" } else { "s" }), format!("{verb}ed"), format!("{verb}ing")),
    };
    [s, ed.clone(), ed, ing]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_data_can_be_read() {
        let read = Lexicon::read(
            include_str!("../../../assets/lexicon/acts.toml"),
            include_str!("../../../assets/lexicon/things.toml"),
            include_str!("../../../assets/lexicon/cues.toml"),
            include_str!("../../../assets/intents.toml"),
        );
        let lexicon = read.unwrap();
        for act in &lexicon.acts {
            let known =
                |v: &String| matches!(v.as_str(), "write" | "any") || crate::domain::Verb::from_word(v).is_some();
            assert!(act.verbs.iter().all(known), "{act:?}");
            assert!(act.unclear.is_some() == (act.verbs.is_empty() || act.on.is_some()), "{act:?}");
        }
        for thing in &lexicon.things {
            assert!(thing.kind.iter().all(|k| crate::domain::Kind::from_word(k).is_some()), "{thing:?}");
        }
        assert!(!lexicon.intents.is_empty());
    }

    #[test]
    fn regular_verbs_are_inflected() {
        for (verb, forms) in [
            ("delete", ["deletes", "deleted", "deleted", "deleting"]),
            ("drop", ["drops", "dropped", "dropped", "dropping"]),
            ("push", ["pushes", "pushed", "pushed", "pushing"]),
            ("modify", ["modifies", "modified", "modified", "modifying"]),
            ("clean", ["cleans", "cleaned", "cleaned", "cleaning"]),
            ("deploy", ["deploys", "deployed", "deployed", "deploying"]),
            ("fix", ["fixes", "fixed", "fixed", "fixing"]),
        ] {
            assert_eq!(regular(verb), forms.map(str::to_owned));
        }
    }
}
