//! Fields of one word under construction: quoted and bare text, splitting, globs, holes.

use super::{
    parse,
    scope::{Scope, Value},
    words::Arg,
};
use crate::{domain::Resource, intake::paths};

/// More words than this out of one are a hole.
pub(super) const MAX_FIELDS: usize = 256;
/// Longer text is a hole.
pub(super) const MAX_FIELD: usize = parse::MAX_TEXT;

/// Fields under construction.
#[derive(Default)]
pub(super) struct Fields {
    pub done: Vec<Arg>,
    /// Literal text, and the same as a glob.
    text: String,
    glob: String,
    wild: bool,
    /// Known text in front of the first hole.
    hole: Option<String>,
    may_be_empty: bool,
    set: Option<Resource>,
    pub started: bool,
    /// What splits unquoted values, where a line sets it; `None` where that cannot be told.
    separators: Option<String>,
}

impl Fields {
    pub fn new(scope: &Scope) -> Self {
        let separators = match scope.vars.get("IFS") {
            None | Some(Value::Unset) => Some(" \t\n".to_owned()),
            Some(Value::One(arg)) => arg.text().map(str::to_owned),
            Some(Value::Many(_)) => None,
        };
        Fields { separators, ..Fields::default() }
    }

    /// A word that becomes one field even when nothing is in it.
    pub fn single(scope: &Scope) -> Self {
        Fields { started: true, ..Fields::new(scope) }
    }

    pub fn quoted(&mut self, text: &str) {
        self.started = true;
        if self.text.len() + text.len() > MAX_FIELD {
            return self.hole(false);
        }
        self.text.push_str(text);
        self.glob.push_str(&paths::quote(text));
    }

    /// Unquoted text from the line itself: glob characters count, nothing is split.
    pub fn bare(&mut self, text: &str) {
        self.started = true;
        self.wild |= text.contains(['*', '?']) || text.contains('[') && text.contains(']');
        // Extended globs are not followed.
        if text.contains('(') || self.text.len() + text.len() > MAX_FIELD {
            return self.hole(false);
        }
        self.text.push_str(text);
        for c in text.chars() {
            match c {
                '*' if self.glob.ends_with('*') => {} // `**` is `*` to a plain shell
                '{' | '}' => self.glob.extend(['\\', c]),
                c => self.glob.push(c),
            }
        }
    }

    pub fn hole(&mut self, may_be_empty: bool) {
        self.may_be_empty = may_be_empty && (self.hole.is_none() || self.may_be_empty);
        self.hole.get_or_insert_with(|| self.text.clone());
        self.started = true;
    }

    pub fn value(&mut self, arg: &Arg, quoted: bool) {
        match arg {
            Arg::Known(text) if quoted => self.quoted(text),
            Arg::Known(text) => {
                let Some(separators) = self.separators.clone() else { return self.hole(true) };
                let mut parts = text.split(|c| separators.contains(c)).peekable();
                while let Some(part) = parts.next() {
                    if !part.is_empty() {
                        self.bare(part);
                    }
                    if parts.peek().is_some() {
                        self.end();
                    }
                }
            }
            Arg::Pattern(glob) => {
                self.started = true;
                self.wild = true;
                self.text.push_str(glob);
                self.glob.push_str(glob);
            }
            Arg::Set(set) if self.text.is_empty() && self.hole.is_none() && self.set.is_none() => {
                self.started = true;
                self.set = Some(set.clone());
            }
            Arg::Set(_) => self.hole(false),
            Arg::Unknown { prefix, empty } => {
                self.quoted(prefix);
                self.hole(empty.is_some());
                if let Some(rest) = empty.as_ref().and_then(|e| e.strip_prefix(prefix.as_str())) {
                    self.quoted(rest);
                }
            }
        }
    }

    pub fn end(&mut self) {
        if !self.started || self.done.len() > MAX_FIELDS {
            return;
        }
        let next =
            Fields { done: std::mem::take(&mut self.done), separators: self.separators.clone(), ..Fields::default() };
        let Fields { text, glob, wild, hole, may_be_empty, set, .. } = std::mem::replace(self, next);
        self.done.push(match (set, hole) {
            (Some(set), None) if text.is_empty() && !wild => Arg::Set(set),
            (Some(_), _) => Arg::Unknown { prefix: String::new(), empty: None },
            (None, Some(prefix)) => Arg::Unknown { prefix, empty: may_be_empty.then_some(text) },
            (None, None) if wild => Arg::Pattern(glob),
            (None, None) => Arg::Known(text),
        });
    }
}
