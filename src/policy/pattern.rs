//! Which names a `resource_in(..)` operand means, and how two sets of names relate.
//!
//! A pattern is `kind:glob`, or a glob over paths. `*` and `?` stay within a path segment, `**` crosses them, `[a-z]`
//! and `[!a-z]` are sets, `{a,b}` alternatives, `\` takes away a meaning. `records/**` is `records` and everything
//! below it, and so is `records/`; `records` is that one name. A relative pattern lies in the workspace (`.` is the
//! workspace itself, `./**` all of it), `~/` in the home, `/` anywhere (`/` is the root itself, `/**` everything),
//! and `**` in front means any depth of the whole machine (in a rule; in the name of an operand, which is canonical,
//! any depth of the workspace). In names that are no paths every `*` crosses everything.
//! Hosts, mail addresses and contacts compare without case.
//!
//! Names are compared as absolute paths, `/a/b` letter by letter and the root as nothing, without building them:
//! nothing here allocates once a pattern is compiled. Three questions are asked of two sets, in `automaton`: does it hold this name, could
//! they share a name, does one lie within the other. Work is bounded; what goes over the bound is answered
//! the strict way (they may meet, it is not contained).
//!
//! What never lives here: looking at the disk, or at anything that is no name.

use crate::domain::{Extent, Kind, Places, Resource};

mod automaton;
mod letters;
mod plain;
mod steps;

use automaton::{Machine, all_held, collected};
use letters::{Base, readable};
use plain::Head;
use steps::{Step, Steps, picks};

/// A pattern that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("the pattern is empty (`**` means everything, `./**` the whole workspace)")]
    Empty,
    #[error("`{0}` is not closed in the pattern `{1}` (a `{0}` that belongs to a name is written `\\{0}`)")]
    Unclosed(char, String),
    #[error("the pattern `{0}` ends in a lone `\\` (a `\\` that belongs to a name is written `\\\\`)")]
    LoneEscape(String),
    #[error("the range in `{0}` runs backwards (write `[a-z]`)")]
    Backwards(String),
    #[error("`..` after a wildcard has no one meaning in the pattern `{0}` (name the directory itself)")]
    Parent(String),
    #[error("the pattern `{0}` is too long or has too many alternatives (write several rules)")]
    TooLarge(String),
}

/// A compiled `resource_in(..)` operand: kind + glob over canonical names, all in absolute path space.
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    kind: Kind,
    /// What the classes in `programs` point into.
    text: String,
    /// One for each choice of alternatives.
    programs: Vec<Program>,
}

/// Letters that all names of a pattern have in common. Of paths these are absolute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ends {
    pub head: String,
    pub tail: String,
    /// Behind the head only the end or a `/` can follow.
    pub closed: bool,
}

#[derive(Debug, Clone, PartialEq)]
struct Program {
    base: Base,
    steps: Vec<Step>,
    /// Of a path pattern.
    head: Option<Head>,
}

impl Pattern {
    pub fn compile(text: &str, places: &Places) -> Result<Pattern, PatternError> {
        let (kind, explicit, glob) = split_kind(text);
        if glob.is_empty() {
            return Err(PatternError::Empty);
        }
        let picks = readable(glob)?;
        let glob = match kind {
            Kind::Path if explicit && glob == "*" => "/**".to_owned(),
            Kind::Path => normal_path(glob, places),
            _ => glob.to_owned(),
        };
        let set = Resource { kind, extent: Extent::Glob(glob) };
        let mut programs = Vec::with_capacity(picks as usize);
        for pick in 0..picks {
            let steps = Steps::of_pattern(&set, places, pick);
            let base = steps.base();
            let steps: Vec<Step> = steps.collect();
            if kind == Kind::Path && climbs(&steps) {
                return Err(PatternError::Parent(text.to_owned()));
            }
            let head = (kind == Kind::Path).then(|| Head::of(&steps, base, places));
            let program = Program { base, steps, head };
            if !programs.contains(&program) {
                programs.push(program);
            }
        }
        let Extent::Glob(text) = set.extent else { return Err(PatternError::Empty) };
        Ok(Pattern { kind, text, programs })
    }

    /// Whether `text` is a pattern at all, wherever the workspace may lie.
    pub fn check(text: &str) -> Result<(), PatternError> {
        let places = Places { workspace: "/".to_owned(), home: "/".to_owned() };
        Pattern::compile(text, &places).map(drop)
    }

    /// The operand set *may* intersect the pattern: what restrictions go by.
    pub fn meets(&self, r: &Resource, places: &Places) -> bool {
        r.kind == self.kind
            && (is_elsewhere(r)
                || self.programs.iter().any(|program| {
                    program.quick(r, places, true).unwrap_or_else(|| self.machine(program).meets(r, places))
                }))
    }

    /// The operand set is *provably* contained in the pattern: what exceptions, grants and `not` go by.
    pub fn holds(&self, r: &Resource, places: &Places) -> bool {
        let held = |program: &Program, pick| {
            program.quick(r, places, false).unwrap_or_else(|| self.machine(program).holds(r, places, pick))
        };
        r.kind == self.kind
            && !is_elsewhere(r)
            && all_held(r, |pick| self.programs.iter().any(|program| held(program, pick)))
    }

    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// What its names begin and end with, for each choice of alternatives: what an index may go by.
    pub fn ends(&self) -> impl Iterator<Item = Ends> {
        self.programs.iter().map(|program| {
            let literal = |step: &Step| match step {
                Step::Char(c) => Some(*c),
                Step::Single { .. } | Step::Class(..) | Step::Run { .. } | Step::Deep => None,
            };
            let head: String = program.steps.iter().map_while(literal).collect();
            let tail: Vec<char> = program.steps.iter().rev().map_while(literal).collect();
            let next = program.steps.get(head.chars().count());
            Ends { head, tail: tail.into_iter().rev().collect(), closed: matches!(next, None | Some(Step::Deep)) }
        })
    }

    /// The two patterns may share a name.
    pub fn overlaps(&self, other: &Pattern) -> bool {
        self.programs.iter().any(|program| {
            let ours = self.machine(program);
            other.programs.iter().any(|program| ours.overlaps(&other.machine(program)))
        })
    }

    fn machine<'a>(&'a self, program: &'a Program) -> Machine<'a> {
        Machine::new(&program.steps, &self.text, self.kind, program.base)
    }
}

impl Program {
    fn quick(&self, operand: &Resource, places: &Places, wide: bool) -> Option<bool> {
        self.head.as_ref().and_then(|head| head.answers(operand, places, wide))
    }
}

/// The two sets may share a name.
pub fn may_overlap(a: &Resource, b: &Resource, places: &Places) -> bool {
    let lost = is_elsewhere(a) || is_elsewhere(b);
    let shared = |picks| {
        let meets = |b: Option<&Machine<'_>>| b.is_none_or(|b| b.meets(a, places));
        (0..picks).any(|pick| collected(b, places, pick, meets))
    };
    a.kind == b.kind && (lost || picks(b).is_none_or(shared))
}

/// Every name of `inner` provably lies in `outer`.
pub fn surely_within(inner: &Resource, outer: &Resource, places: &Places) -> bool {
    let within = |pick| {
        picks(outer).is_some_and(|picks| {
            (0..picks).any(|p| {
                collected(outer, places, p, |outer| outer.is_some_and(|outer| outer.holds(inner, places, pick)))
            })
        })
    };
    let placed = !is_elsewhere(inner) && !is_elsewhere(outer);
    inner == outer || (placed && inner.kind == outer.kind && all_held(inner, within))
}

/// A path with a `..` in it is not canonical: it does not lie where its letters say, so it may be anywhere.
pub fn is_elsewhere(r: &Resource) -> bool {
    let (Extent::One(text) | Extent::Subtree(text) | Extent::Glob(text)) = &r.extent else { return false };
    r.kind == Kind::Path && text.contains("..") && text.split('/').any(|segment| segment == "..")
}

/// The kind, whether it was written, and the glob.
fn split_kind(text: &str) -> (Kind, bool, &str) {
    let named = text.split_once(':').and_then(|(word, rest)| Kind::from_word(word).map(|kind| (kind, true, rest)));
    named.unwrap_or((Kind::Path, false, text))
}

/// `records/` becomes `records/**`, and `.` and `..` in the literal head are folded.
fn normal_path(glob: &str, places: &Places) -> String {
    let dir = glob.ends_with('/') && glob != "/" && !glob.ends_with("\\/");
    let glob = if dir { format!("{glob}**") } else { glob.to_owned() };
    let inner_dot = |s: &str| s == ".." || s == ".";
    if !glob.split('/').skip(1).any(inner_dot) && !glob.starts_with("../") && glob != ".." {
        return glob;
    }
    let is_plain = |s: &&str| !s.contains(crate::domain::resource::is_glob_char);
    let plain = glob.split('/').take_while(is_plain).count();
    let head: Vec<&str> = glob.split('/').take(plain).collect();
    let rest: Vec<&str> = glob.split('/').skip(plain).collect();
    let head = Resource::path(places.absolute(&head.join("/"))).to_string();
    if rest.is_empty() { head } else { format!("{head}/{}", rest.join("/")) }
}

/// A `.` or `..` segment is left, which no canonical name has: the pattern would silently mean nothing.
fn climbs(steps: &[Step]) -> bool {
    let dots = |segment: &[Step]| matches!(segment, [Step::Char('.')] | [Step::Char('.'), Step::Char('.')]);
    steps.split(|s| matches!(s, Step::Char('/') | Step::Deep)).any(dots)
}

#[cfg(test)]
mod tests;
