//! A glob as a stream of letters: escapes taken away, alternatives chosen, the place it starts from in front.

use super::PatternError;
use crate::domain::{Extent, Kind, Places, Resource};
use std::str::Chars;

/// Longest glob, in bytes, and most combinations of alternatives in one glob.
const LONGEST: usize = 1024;
const MOST_PICKS: u32 = 64;

/// What a name is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// Nothing is put in front: absolute paths, and names that are no paths.
    Root,
    Home,
    Workspace,
}

impl Base {
    pub(super) fn of(self, places: &Places) -> &str {
        match self {
            Base::Root => "",
            Base::Home => places.home.trim_end_matches('/'),
            Base::Workspace => places.workspace.trim_end_matches('/'),
        }
    }
}

/// Who wrote a glob, which decides what a leading `**` means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// In a rule: any depth of the whole machine.
    InRule,
    /// As a canonical name: any depth of the workspace, relative like every other.
    AsName,
}

/// One letter of a glob. A class is a range of bytes of the glob's text, without its brackets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Letter {
    Plain(char),
    Single,
    Star,
    Class(u32, u32),
}

/// Letters of one name or glob under one choice of alternatives.
#[derive(Debug, Clone)]
pub(super) struct Letters<'a> {
    base: Chars<'a>,
    slash: bool,
    text: &'a str,
    at: usize,
    is_glob: bool,
    folds_case: bool,
    /// What is left of the number that says which alternative is taken at each brace.
    pick: u32,
    /// Braces that are open here.
    depth: u32,
}

impl<'a> Letters<'a> {
    pub(super) fn of(resource: &'a Resource, places: &'a Places, pick: u32, written: Written) -> (Base, Letters<'a>) {
        let (text, is_glob) = match &resource.extent {
            Extent::One(name) | Extent::Subtree(name) => (name.as_str(), false),
            Extent::Glob(glob) => (glob.as_str(), true),
            Extent::Any if resource.kind == Kind::Path => ("/", false),
            Extent::Any => ("*", true),
        };
        let folds_case = matches!(resource.kind, Kind::Host | Kind::Mail | Kind::Contact);
        let mut letters =
            Letters { base: "".chars(), slash: false, text, at: 0, is_glob, folds_case, pick, depth: 0 };
        if resource.kind != Kind::Path {
            return (Base::Root, letters);
        }
        let base = letters.take_base(written);
        letters.base = base.of(places).chars();
        letters.slash = true;
        (base, letters)
    }

    /// Reads what says where a path starts; `~` and `.` are consumed.
    fn take_base(&mut self, written: Written) -> Base {
        let mut ahead = self.clone();
        let first = ahead.next();
        let after = ahead.clone();
        let ends_segment = |l: Option<Letter>| matches!(l, None | Some(Letter::Plain('/')));
        match (first, ahead.next()) {
            (Some(Letter::Plain('/')), _) => Base::Root,
            (Some(Letter::Star), Some(Letter::Star)) if written == Written::InRule && ends_segment(ahead.next()) => {
                Base::Root
            }
            (Some(Letter::Plain('~')), second) if ends_segment(second) => {
                *self = after;
                Base::Home
            }
            (Some(Letter::Plain('.')), second) if ends_segment(second) => {
                *self = after;
                Base::Workspace
            }
            _ => Base::Workspace,
        }
    }

    /// Goes on behind the base.
    pub(super) fn skip_base(&mut self) {
        self.base = "".chars();
    }

    /// Where the alternative starts that is taken at the `{` at `open`. What its own braces need of `pick` is put in
    /// front of what the braces behind it need.
    fn choose(&mut self, open: usize) -> Option<usize> {
        let (mut sum, mut at, mut stop) = (0_u32, open, Some(','));
        while stop == Some(',') {
            let (ways, end, c) = choices(self.text, at + 1, true)?;
            (sum, at, stop) = (ways.saturating_add(sum), end, c);
        }
        let (mut local, behind) = (self.pick % sum, self.pick / sum);
        let mut start = open + 1;
        loop {
            let (ways, end, _) = choices(self.text, start, true)?;
            if local < ways {
                self.pick = local + ways * behind;
                return Some(start);
            }
            local -= ways;
            start = end + 1;
        }
    }

    fn plain(&self, c: char) -> Letter {
        Letter::Plain(if self.folds_case { folded(c) } else { c })
    }
}

impl Iterator for Letters<'_> {
    type Item = Letter;

    fn next(&mut self) -> Option<Letter> {
        if let Some(c) = self.base.next() {
            return Some(Letter::Plain(c));
        }
        if std::mem::take(&mut self.slash) {
            return Some(Letter::Plain('/'));
        }
        loop {
            let from = self.at;
            let c = self.text.get(from..)?.chars().next()?;
            self.at += c.len_utf8();
            if !self.is_glob {
                return Some(self.plain(c));
            }
            match c {
                '*' => return Some(Letter::Star),
                '?' => return Some(Letter::Single),
                '[' => {
                    self.at = unit_end(self.text, from)?;
                    return Some(Letter::Class(from as u32 + 1, self.at as u32 - 1));
                }
                '{' => {
                    self.at = self.choose(from)?;
                    self.depth += 1;
                }
                ',' | '}' if self.depth > 0 => {
                    self.depth -= 1;
                    let (mut end, mut stop) = (from, Some(c));
                    while stop == Some(',') {
                        (_, end, stop) = choices(self.text, end + 1, true)?;
                    }
                    self.at = end + 1;
                }
                '\\' => {
                    let c = self.text.get(self.at..)?.chars().next()?;
                    self.at += c.len_utf8();
                    return Some(self.plain(c));
                }
                c => return Some(self.plain(c)),
            }
        }
    }
}

/// Where the escape, class or single character that starts at `at` ends.
fn unit_end(text: &str, at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let mut chars = rest.char_indices();
    let (_, first) = chars.next()?;
    match first {
        '\\' => chars.next().map(|(i, c)| at + i + c.len_utf8()),
        '[' => {
            let body = rest.get(1..)?;
            let negated = usize::from(body.starts_with(['!', '^']));
            // A `]` in front belongs to the set.
            let mut escaped = false;
            let close = body.char_indices().skip(negated).enumerate().find(|(nth, (_, c))| {
                let closes = *c == ']' && *nth > 0 && !escaped;
                escaped = *c == '\\' && !escaped;
                closes
            });
            close.map(|(_, (i, _))| at + 1 + i + 1)
        }
        c => Some(at + c.len_utf8()),
    }
}

/// What stands from `at` to the end of an alternative, or of the whole glob: in how many ways its own alternatives can
/// be chosen, where it ends, and the `,` or `}` there. `None` where something is not closed.
fn choices(text: &str, mut at: usize, inside: bool) -> Option<(u32, usize, Option<char>)> {
    let mut count = 1_u32;
    loop {
        let next = text.get(at..)?.chars().next();
        match next {
            None if inside => return None,
            None => return Some((count, at, None)),
            Some(',' | '}') if inside => return Some((count, at, next)),
            Some('{') => {
                let mut sum = 0_u32;
                let mut stop = next;
                while stop != Some('}') {
                    let (ways, end, c) = choices(text, at + 1, true)?;
                    sum = sum.saturating_add(ways);
                    (at, stop) = (end, c);
                }
                count = count.saturating_mul(sum);
                at += 1;
            }
            Some(_) => at = unit_end(text, at)?,
        }
    }
}

/// Checks a glob; in how many ways its alternatives can be chosen.
pub(super) fn readable(glob: &str) -> Result<u32, PatternError> {
    // The text is kept for the message only when there is one: this runs at match time too.
    let said = || glob.to_owned();
    if glob.len() > LONGEST {
        return Err(PatternError::TooLarge(glob.chars().take(40).chain(['…']).collect()));
    }
    let mut at = 0;
    while let Some(c) = glob.get(at..).and_then(|rest| rest.chars().next()) {
        let end = unit_end(glob, at);
        match (c, end) {
            ('\\', None) => return Err(PatternError::LoneEscape(said())),
            ('[', end) => {
                let body = end.and_then(|end| glob.get(at + 1..end - 1));
                let body = body.ok_or_else(|| PatternError::Unclosed('[', said()))?;
                if Class::new(body).ranges.any(|(low, high)| low > high) {
                    return Err(PatternError::Backwards(said()));
                }
            }
            _ => {}
        }
        at = end.unwrap_or(glob.len());
    }
    match choices(glob, 0, false) {
        None => Err(PatternError::Unclosed('{', said())),
        Some((picks, _, _)) if picks > MOST_PICKS => Err(PatternError::TooLarge(said())),
        Some((picks, _, _)) => Ok(picks),
    }
}

/// The inside of `[…]`.
#[derive(Debug, Clone)]
pub(super) struct Class<'a> {
    pub negated: bool,
    pub ranges: Ranges<'a>,
}

impl<'a> Class<'a> {
    pub(super) fn new(body: &'a str) -> Self {
        let rest = body.strip_prefix(['!', '^']);
        Class { negated: rest.is_some(), ranges: Ranges(rest.unwrap_or(body).chars()) }
    }

    pub(super) fn has(&self, c: char) -> bool {
        self.negated != self.ranges.clone().any(|(low, high)| low <= c && c <= high)
    }

    /// The same with its ranges of capital letters made small.
    pub(super) fn has_folded(&self, c: char) -> bool {
        let capital = c.to_ascii_uppercase();
        self.negated != self.ranges.clone().any(|(l, h)| (l <= c && c <= h) || (l <= capital && capital <= h))
    }
}

/// The ranges of a class; a single character is a range of its own.
#[derive(Debug, Clone)]
pub(super) struct Ranges<'a>(Chars<'a>);

impl Ranges<'_> {
    fn one(&mut self) -> Option<char> {
        match self.0.next()? {
            '\\' => self.0.next(),
            c => Some(c),
        }
    }
}

impl Iterator for Ranges<'_> {
    type Item = (char, char);

    fn next(&mut self) -> Option<(char, char)> {
        let low = self.one()?;
        let mut ahead = self.clone();
        let high = match (ahead.0.next(), ahead.one()) {
            (Some('-'), Some(high)) => {
                *self = ahead;
                high
            }
            _ => low,
        };
        Some((low, high))
    }
}

/// Small letters for capital ones, one for one.
fn folded(c: char) -> char {
    let mut small = c.to_lowercase();
    match (small.next(), small.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}
