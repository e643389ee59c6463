//! Words of a shell line to arguments: quotes, braces, tildes, parameters, substitutions. What cannot be told stays
//! a hole; nothing here decides what an argument is for.

use super::{
    braces,
    fields::{Fields, MAX_FIELDS},
    parse,
    scope::{Scope, Value},
    stream::Content,
    walk::Walk,
};
use crate::{
    domain::Resource,
    intake::{labels::name_matches, paths},
};
use brush_parser::word::{
    Parameter, ParameterExpr, ParameterTestType, ParameterTransformOp, SpecialParameter, SubstringMatchKind,
    TildeExpr, WordPiece, WordPieceWithSource,
};

/// One argument after expansion.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Arg {
    Known(String),
    /// All names that this glob matches.
    Pattern(String),
    /// Names of these things.
    Set(Resource),
    /// Text with a hole in it.
    Unknown {
        /// What is known in front of the first hole.
        prefix: String,
        /// The text when every hole is empty, where that can happen.
        empty: Option<String>,
    },
}

impl Arg {
    pub fn known(text: &str) -> Self {
        Arg::Known(text.to_owned())
    }

    /// One of these, it cannot be told which.
    pub fn any_of(args: &[Arg]) -> Self {
        const MOST: usize = 200;
        let plain = |arg: &Arg| match arg {
            Arg::Known(text) if !text.starts_with(['/', '~', '-']) && !text.contains("..") && !text.contains(',') => {
                Some(paths::quote(text))
            }
            Arg::Known(_) | Arg::Pattern(_) | Arg::Set(_) | Arg::Unknown { .. } => None,
        };
        match args {
            [] => Arg::known(""),
            [one] => one.clone(),
            many if many.len() > MOST => Arg::hole(),
            many => match many.iter().map(plain).collect::<Option<Vec<_>>>() {
                Some(names) => Arg::Pattern(format!("{{{}}}", names.join(","))),
                None => Arg::hole(),
            },
        }
    }

    /// Some text in one path component: a number, a date.
    pub fn component() -> Self {
        Arg::Pattern("*".to_owned())
    }

    pub fn hole() -> Self {
        Arg::Unknown { prefix: String::new(), empty: None }
    }

    /// The exact text, where there is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Arg::Known(text) => Some(text),
            Arg::Pattern(_) | Arg::Set(_) | Arg::Unknown { .. } => None,
        }
    }

    /// What is known at its start (to tell options from operands).
    pub fn start(&self) -> &str {
        match self {
            Arg::Known(text) | Arg::Pattern(text) => text,
            Arg::Unknown { prefix, .. } => prefix,
            Arg::Set(_) => "",
        }
    }

    /// The argument without its first `bytes` bytes of known text.
    pub fn without(&self, bytes: usize) -> Arg {
        let cut = |text: &String| text.get(bytes..).unwrap_or_default().to_owned();
        match self {
            Arg::Known(text) => Arg::Known(cut(text)),
            Arg::Pattern(text) => Arg::Pattern(cut(text)),
            Arg::Set(set) => Arg::Set(set.clone()),
            Arg::Unknown { prefix, empty } => Arg::Unknown { prefix: cut(prefix), empty: empty.as_ref().map(cut) },
        }
    }

    /// For receipts and attributes.
    pub fn shown(&self) -> String {
        match self {
            Arg::Known(text) | Arg::Pattern(text) => text.clone(),
            Arg::Set(set) => set.to_string(),
            Arg::Unknown { prefix, .. } => format!("{prefix}…"),
        }
    }
}

impl Walk<'_> {
    /// All arguments that a word becomes.
    pub(super) fn expand(&mut self, word: &str, scope: &mut Scope) -> Vec<Arg> {
        if !self.afford(word.len()) {
            return vec![Arg::hole()];
        }
        let Some(words) = braces::expand(word) else { return vec![Arg::hole()] };
        let mut fields = Fields::new(scope);
        for word in words {
            self.word_fields(&word, scope, &mut fields);
            fields.end();
        }
        if fields.done.len() > MAX_FIELDS { vec![Arg::hole()] } else { fields.done }
    }

    /// A word where the shell makes exactly one argument of it (assignments, redirections, here-strings, `case`).
    pub(super) fn expand_one(&mut self, word: &str, scope: &mut Scope) -> Arg {
        if !self.afford(word.len()) {
            return Arg::hole();
        }
        let Some(pieces) = parse::pieces(word) else {
            self.opaque_words(word);
            return Arg::hole();
        };
        self.one(&pieces, scope)
    }

    /// The body of a here-document.
    pub(super) fn expand_heredoc(&mut self, body: &str, scope: &mut Scope) -> Arg {
        if !self.afford(body.len()) {
            return Arg::hole();
        }
        let Some(pieces) = parse::heredoc(body) else {
            self.opaque_words(body);
            return Arg::hole();
        };
        self.one(&pieces, scope)
    }

    fn one(&mut self, pieces: &[WordPieceWithSource], scope: &mut Scope) -> Arg {
        let mut fields = Fields::single(scope);
        for piece in pieces {
            self.piece(&piece.piece, true, scope, &mut fields);
        }
        fields.end();
        fields.done.pop().unwrap_or_else(|| Arg::known(""))
    }

    fn word_fields(&mut self, word: &str, scope: &mut Scope, fields: &mut Fields) {
        match parse::pieces(word) {
            Some(pieces) => {
                for piece in &pieces {
                    self.piece(&piece.piece, false, scope, fields);
                }
            }
            None => {
                self.opaque_words(word);
                fields.hole(false);
            }
        }
    }

    fn opaque_words(&mut self, word: &str) {
        if word.contains(['$', '`']) {
            self.opaque("shell", "a word with too many substitutions to be read");
        }
    }

    fn piece(&mut self, piece: &WordPiece, quoted: bool, scope: &mut Scope, fields: &mut Fields) {
        match piece {
            WordPiece::Text(text) if quoted => fields.quoted(text),
            WordPiece::Text(text) => fields.bare(text),
            WordPiece::SingleQuotedText(text) => fields.quoted(text),
            WordPiece::AnsiCQuotedText(text) => fields.quoted(&ansi_c(text)),
            WordPiece::EscapeSequence(text) => {
                let text = text.strip_prefix('\\').unwrap_or(text);
                fields.quoted(if text == "\n" { "" } else { text });
            }
            WordPiece::DoubleQuotedSequence(pieces) | WordPiece::GettextDoubleQuotedSequence(pieces) => {
                // "$@" of nothing is no word at all; any other pair of quotes makes one.
                fields.started |= !is_all_args(pieces) || !scope.args.is_empty();
                for inner in pieces {
                    self.piece(&inner.piece, true, scope, fields);
                }
            }
            WordPiece::TildeExpansion(tilde) => match self.tilde(tilde, scope) {
                Some(text) => fields.quoted(&text),
                None => fields.hole(false),
            },
            WordPiece::ParameterExpansion(parameter) => self.parameter(parameter, quoted, scope, fields),
            WordPiece::CommandSubstitution(text) => self.substitute(text, quoted, scope, fields),
            WordPiece::BackquotedCommandSubstitution(text) => {
                let text = text.replace("\\`", "`").replace("\\\\", "\\").replace("\\$", "$");
                self.substitute(&text, quoted, scope, fields);
            }
            WordPiece::ArithmeticExpression(expression) => {
                self.arithmetic(&expression.value, scope);
                fields.value(&Arg::component(), true);
            }
        }
    }

    /// An arithmetic expression: its number matters to nobody, what runs while it is computed does.
    pub(super) fn arithmetic(&mut self, expression: &str, scope: &mut Scope) {
        let text = self.expand_heredoc(expression, scope);
        self.subscript(&text);
    }

    /// `text` is, or may become, an expression or the name of an array's element. In a subscript that expansion has
    /// left in it, the shell runs substitutions when it computes the index.
    pub(super) fn subscript(&mut self, text: &Arg) {
        let runs = text.start().match_indices('[').any(|(at, _)| {
            let (before, after) = text.start().split_at(at);
            before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
                && (after.contains("$(") || after.contains('`') || after.contains("${"))
        });
        if runs {
            self.opaque("shell", "a subscript in a text runs commands when its number is computed");
        }
    }

    fn tilde(&mut self, tilde: &TildeExpr, scope: &Scope) -> Option<String> {
        match tilde {
            TildeExpr::Home => match scope.vars.get("HOME") {
                None => Some(self.ask.around.places.home.clone()),
                Some(Value::One(arg)) => arg.text().map(str::to_owned),
                Some(Value::Unset | Value::Many(_)) => None,
            },
            TildeExpr::UserHome(user) if user == "root" => Some("/root".to_owned()),
            TildeExpr::UserHome(user) => {
                let home = &self.ask.around.places.home;
                let homes = home.rsplit_once('/').map_or("/home", |(dir, _)| dir);
                Some(format!("{}/{user}", if homes.is_empty() { "/home" } else { homes }))
            }
            TildeExpr::WorkingDir => scope.cwd.clone(),
            TildeExpr::OldWorkingDir => scope.old.clone(),
            TildeExpr::NthDirFromTopOfDirStack { .. } | TildeExpr::NthDirFromBottomOfDirStack { .. } => None,
        }
    }

    /// `$( … )`: runs it and takes what it prints.
    fn substitute(&mut self, text: &str, quoted: bool, scope: &mut Scope, fields: &mut Fields) {
        let printed = self.nested(text, &mut scope.clone());
        match printed.content {
            Content::Nothing => fields.started |= quoted,
            Content::Text(text) => fields.value(&Arg::known(text.trim_end_matches('\n')), quoted),
            Content::Names(names) => match (names.as_slice(), quoted) {
                ([one], _) => fields.value(one, quoted),
                (_, true) => fields.hole(false),
                (many, false) => {
                    for name in many {
                        fields.value(name, false);
                        fields.end();
                    }
                }
            },
            Content::Unknown => fields.hole(true),
        }
    }

    fn parameter(&mut self, expr: &ParameterExpr, quoted: bool, scope: &mut Scope, fields: &mut Fields) {
        match self.parameter_value(expr, scope) {
            Value::Unset => fields.started |= quoted,
            Value::One(arg) => fields.value(&arg, quoted),
            Value::Many(args) => {
                let mut args = args.iter().peekable();
                while let Some(arg) = args.next() {
                    fields.value(arg, quoted);
                    if args.peek().is_some() {
                        fields.end();
                    }
                }
            }
        }
    }

    fn parameter_value(&mut self, expr: &ParameterExpr, scope: &mut Scope) -> Value {
        // The texts inside run what they hold, whatever they yield: which of them are used depends on the value.
        self.possibly(|walk| {
            for text in texts_inside(expr).into_iter().filter(|text| text.contains(['$', '`'])) {
                walk.expand_heredoc(text, scope);
            }
            walk.value_of(expr, scope)
        })
    }

    fn value_of(&mut self, expr: &ParameterExpr, scope: &mut Scope) -> Value {
        let hole = || Value::One(Arg::hole());
        match expr {
            ParameterExpr::Parameter { parameter, indirect: false } => self.lookup(parameter, scope),
            ParameterExpr::UseDefaultValues { parameter, indirect: false, test_type, default_value } => {
                let value = self.lookup(parameter, scope);
                self.or_default(value, test_type, default_value.as_deref(), scope)
            }
            ParameterExpr::AssignDefaultValues { parameter, indirect: false, test_type, default_value } => {
                let value = self.lookup(parameter, scope);
                let value = self.or_default(value, test_type, default_value.as_deref(), scope);
                if let Parameter::Named(name) = parameter {
                    scope.set(name, value.clone());
                }
                value
            }
            // The command does not run at all when it is unset.
            ParameterExpr::IndicateErrorIfNullOrUnset { parameter, indirect: false, .. } => {
                match self.lookup(parameter, scope) {
                    Value::Unset => hole(),
                    Value::One(Arg::Unknown { prefix, .. }) => Value::One(Arg::Unknown { prefix, empty: None }),
                    value @ (Value::One(_) | Value::Many(_)) => value,
                }
            }
            ParameterExpr::UseAlternativeValue { parameter, indirect: false, alternative_value, .. } => {
                match self.lookup(parameter, scope) {
                    Value::Unset => Value::Unset,
                    Value::One(Arg::Unknown { .. }) => Value::One(Arg::hole()),
                    Value::One(_) | Value::Many(_) => {
                        Value::One(self.expand_one(alternative_value.as_deref().unwrap_or_default(), scope))
                    }
                }
            }
            ParameterExpr::RemoveSmallestSuffixPattern { parameter, indirect: false, pattern } => {
                self.cut(parameter, pattern.as_deref(), scope, Cut { suffix: true, largest: false })
            }
            ParameterExpr::RemoveLargestSuffixPattern { parameter, indirect: false, pattern } => {
                self.cut(parameter, pattern.as_deref(), scope, Cut { suffix: true, largest: true })
            }
            ParameterExpr::RemoveSmallestPrefixPattern { parameter, indirect: false, pattern } => {
                self.cut(parameter, pattern.as_deref(), scope, Cut { suffix: false, largest: false })
            }
            ParameterExpr::RemoveLargestPrefixPattern { parameter, indirect: false, pattern } => {
                self.cut(parameter, pattern.as_deref(), scope, Cut { suffix: false, largest: true })
            }
            ParameterExpr::ReplaceSubstring { parameter, indirect: false, pattern, replacement, match_kind } => {
                let replacement = replacement.as_deref().unwrap_or_default();
                match (self.lookup(parameter, scope), self.expand_one(pattern, scope), match_kind) {
                    (Value::One(Arg::Known(text)), Arg::Known(old), SubstringMatchKind::Anywhere)
                        if !old.is_empty() && !old.contains(['*', '?', '[']) =>
                    {
                        match self.expand_one(replacement, scope) {
                            Arg::Known(new) => Value::One(Arg::Known(text.replace(&old, &new))),
                            Arg::Pattern(_) | Arg::Set(_) | Arg::Unknown { .. } => hole(),
                        }
                    }
                    _ => hole(),
                }
            }
            ParameterExpr::ParameterLength { .. } => Value::One(Arg::component()),
            ParameterExpr::Transform { op: ParameterTransformOp::PromptExpand, .. } => {
                // Expands the value as a prompt, in which `$( … )` runs.
                self.opaque("shell", "a value is expanded as a prompt, which can run commands");
                hole()
            }
            ParameterExpr::UseDefaultValues { .. }
            | ParameterExpr::AssignDefaultValues { .. }
            | ParameterExpr::UseAlternativeValue { .. }
            | ParameterExpr::Substring { .. }
            | ParameterExpr::Parameter { .. }
            | ParameterExpr::IndicateErrorIfNullOrUnset { .. }
            | ParameterExpr::RemoveSmallestSuffixPattern { .. }
            | ParameterExpr::RemoveLargestSuffixPattern { .. }
            | ParameterExpr::RemoveSmallestPrefixPattern { .. }
            | ParameterExpr::RemoveLargestPrefixPattern { .. }
            | ParameterExpr::ReplaceSubstring { .. }
            | ParameterExpr::Transform { .. }
            | ParameterExpr::UppercaseFirstChar { .. }
            | ParameterExpr::UppercasePattern { .. }
            | ParameterExpr::LowercaseFirstChar { .. }
            | ParameterExpr::LowercasePattern { .. }
            | ParameterExpr::VariableNames { .. }
            | ParameterExpr::MemberKeys { .. } => hole(),
        }
    }

    fn or_default(
        &mut self,
        value: Value,
        test: &ParameterTestType,
        default: Option<&str>,
        scope: &mut Scope,
    ) -> Value {
        let empty_counts = matches!(test, ParameterTestType::UnsetOrNull);
        let default = self.expand_one(default.unwrap_or_default(), scope);
        match value {
            Value::Unset => Value::One(default),
            Value::One(Arg::Known(text)) if text.is_empty() && empty_counts => Value::One(default),
            // Unset or not: when it is, the text is the default.
            Value::One(Arg::Unknown { prefix, empty: Some(_) }) if prefix.is_empty() => {
                Value::One(Arg::Unknown { prefix, empty: default.text().map(str::to_owned) })
            }
            value @ (Value::One(_) | Value::Many(_)) => value,
        }
    }

    fn lookup(&mut self, parameter: &Parameter, scope: &Scope) -> Value {
        match parameter {
            Parameter::Named(name) => self.variable(name, scope),
            Parameter::Positional(0) => Value::One(Arg::known("bash")),
            Parameter::Positional(n) => match scope.args.get(*n as usize - 1) {
                Some(arg) => Value::One(arg.clone()),
                None => Value::Unset,
            },
            Parameter::Special(SpecialParameter::AllPositionalParameters { .. }) => Value::Many(scope.args.clone()),
            Parameter::Special(SpecialParameter::PositionalParameterCount) => {
                Value::One(Arg::Known(scope.args.len().to_string()))
            }
            Parameter::Special(SpecialParameter::ShellName) => Value::One(Arg::known("bash")),
            Parameter::Special(
                SpecialParameter::LastExitStatus
                | SpecialParameter::CurrentOptionFlags
                | SpecialParameter::ProcessId
                | SpecialParameter::LastBackgroundProcessId,
            ) => Value::One(Arg::component()),
            Parameter::NamedWithIndex { name, index } => match (scope.vars.get(name), index.parse::<usize>()) {
                (Some(Value::Many(args)), Ok(at)) => args.get(at).cloned().map_or(Value::Unset, Value::One),
                _ => Value::One(Arg::hole()),
            },
            Parameter::NamedWithAllIndices { name, .. } => match scope.vars.get(name) {
                Some(value) => value.clone(),
                None => Value::One(Arg::hole()),
            },
        }
    }

    fn variable(&mut self, name: &str, scope: &Scope) -> Value {
        match (scope.vars.get(name), name) {
            (Some(Value::Many(args)), _) => args.first().cloned().map_or(Value::Unset, Value::One),
            (Some(value), _) => value.clone(),
            (None, "HOME") => Value::One(Arg::Known(self.ask.around.places.home.clone())),
            (None, "PWD") => Value::One(scope.cwd.clone().map_or_else(Arg::hole, Arg::Known)),
            (None, "OLDPWD") => Value::One(scope.old.clone().map_or_else(Arg::hole, Arg::Known)),
            (None, "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID" | "BASHPID" | "HOSTNAME") => {
                Value::One(Arg::component())
            }
            (None, "REPLY") => Value::One(Arg::hole()),
            (None, _) if self.is_remote() => {
                Value::One(Arg::Unknown { prefix: String::new(), empty: Some(String::new()) })
            }
            (None, name) => match self.ask.env(name) {
                Some(Some(value)) => Value::One(Arg::Known(value)),
                Some(None) => Value::Unset,
                None => Value::One(Arg::Unknown { prefix: String::new(), empty: Some(String::new()) }),
            },
        }
    }

    /// `${x%pattern}` and its kin.
    fn cut(&mut self, parameter: &Parameter, pattern: Option<&str>, scope: &mut Scope, how: Cut) -> Value {
        let pattern = match parse::pieces(pattern.unwrap_or_default()) {
            Some(pieces) => {
                let mut fields = Fields::single(scope);
                for piece in &pieces {
                    self.piece(&piece.piece, false, scope, &mut fields);
                }
                fields.end();
                fields.done.pop()
            }
            None => None,
        };
        match (self.lookup(parameter, scope), pattern) {
            (Value::Unset, _) => Value::Unset,
            (Value::One(Arg::Known(text)), Some(Arg::Known(pattern) | Arg::Pattern(pattern)))
                if !pattern.contains(['\\', '[']) && text.len() < 4096 =>
            {
                Value::One(Arg::known(how.apply(&text, &pattern)))
            }
            _ => Value::One(Arg::hole()),
        }
    }
}

struct Cut {
    suffix: bool,
    largest: bool,
}

impl Cut {
    fn apply<'a>(&self, text: &'a str, pattern: &str) -> &'a str {
        let mut at: Vec<usize> = text.char_indices().map(|(i, _)| i).chain([text.len()]).collect();
        // Candidates from the shortest cut to the longest, or the other way round.
        if self.suffix != self.largest {
            at.reverse();
        }
        for i in at {
            let (head, tail) = text.split_at_checked(i).unwrap_or((text, ""));
            let (gone, kept) = if self.suffix { (tail, head) } else { (head, tail) };
            if name_matches(pattern, gone) {
                return kept;
            }
        }
        text
    }
}

/// All texts in a parameter's expansion that the shell expands in turn (in a pair of quotes, single ones in them are
/// plain text, so they hide nothing).
fn texts_inside(expr: &ParameterExpr) -> Vec<&str> {
    use ParameterExpr as E;
    fn index(parameter: &Parameter) -> Option<&str> {
        match parameter {
            Parameter::NamedWithIndex { index, .. } => Some(index.as_str()),
            Parameter::Positional(_)
            | Parameter::Special(_)
            | Parameter::Named(_)
            | Parameter::NamedWithAllIndices { .. } => None,
        }
    }
    let (parameter, one, two) = match expr {
        E::Parameter { parameter, .. } | E::ParameterLength { parameter, .. } | E::Transform { parameter, .. } => {
            (parameter, None, None)
        }
        E::UseDefaultValues { parameter, default_value: text, .. }
        | E::AssignDefaultValues { parameter, default_value: text, .. }
        | E::IndicateErrorIfNullOrUnset { parameter, error_message: text, .. }
        | E::UseAlternativeValue { parameter, alternative_value: text, .. }
        | E::RemoveSmallestSuffixPattern { parameter, pattern: text, .. }
        | E::RemoveLargestSuffixPattern { parameter, pattern: text, .. }
        | E::RemoveSmallestPrefixPattern { parameter, pattern: text, .. }
        | E::RemoveLargestPrefixPattern { parameter, pattern: text, .. }
        | E::UppercaseFirstChar { parameter, pattern: text, .. }
        | E::UppercasePattern { parameter, pattern: text, .. }
        | E::LowercaseFirstChar { parameter, pattern: text, .. }
        | E::LowercasePattern { parameter, pattern: text, .. } => (parameter, text.as_deref(), None),
        E::Substring { parameter, offset, length, .. } => {
            (parameter, Some(offset.value.as_str()), length.as_ref().map(|length| length.value.as_str()))
        }
        E::ReplaceSubstring { parameter, pattern, replacement, .. } => {
            (parameter, Some(pattern.as_str()), replacement.as_deref())
        }
        E::VariableNames { .. } | E::MemberKeys { .. } => return Vec::new(),
    };
    [index(parameter), one, two].into_iter().flatten().collect()
}

fn is_all_args(pieces: &[WordPieceWithSource]) -> bool {
    let [
        WordPieceWithSource {
            piece: WordPiece::ParameterExpansion(ParameterExpr::Parameter { parameter, .. }), ..
        },
    ] = pieces
    else {
        return false;
    };
    matches!(
        parameter,
        Parameter::Special(SpecialParameter::AllPositionalParameters { concatenate: false })
            | Parameter::NamedWithAllIndices { concatenate: false, .. }
    )
}

/// The escapes of `$'…'` (and of `printf` and `echo -e`).
pub(super) fn ansi_c(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let digits = |chars: &mut std::iter::Peekable<std::str::Chars<'_>>, radix: u32, most: usize| {
        let (mut number, mut count) = (0_u32, 0);
        while count < most {
            let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
            number = number.saturating_mul(radix).saturating_add(digit);
            chars.next();
            count += 1;
        }
        (count > 0).then(|| char::from_u32(number).unwrap_or('\u{fffd}'))
    };
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        if chars.peek().is_some_and(|c| c.is_digit(8)) {
            out.extend(digits(&mut chars, 8, 3));
            continue;
        }
        match chars.next() {
            Some('n') => out.push('\n'),
            Some('t') => out.push('\t'),
            Some('r') => out.push('\r'),
            Some('a') => out.push('\u{7}'),
            Some('b') => out.push('\u{8}'),
            Some('e' | 'E') => out.push('\u{1b}'),
            Some('f') => out.push('\u{c}'),
            Some('v') => out.push('\u{b}'),
            Some('x') => out.extend(digits(&mut chars, 16, 2)),
            Some('u') => out.extend(digits(&mut chars, 16, 4)),
            Some('U') => out.extend(digits(&mut chars, 16, 8)),
            Some(c @ ('\\' | '\'' | '"' | '?')) => out.push(c),
            Some(c) => out.extend(['\\', c]),
            None => out.push('\\'),
        }
    }
    out
}
