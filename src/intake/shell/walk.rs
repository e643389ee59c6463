//! The walk over a shell line's syntax tree: which commands run, in which order, directory and branch, fed by what.
//! What a single command does is said elsewhere.

use super::{
    emit::Emit,
    parse,
    scope::{Scope, Value},
    stream::Stream,
    words::Arg,
};
use crate::domain::{Certainty, Resource};
use brush_parser::ast;
use std::rc::Rc;

/// Nesting of substitutions, functions, scripts and wrappers.
const MAX_DEPTH: usize = 32;
/// Simple commands in one line, loops and functions expanded.
const MAX_STEPS: usize = 5_000;
/// Bytes of lines and words that are read for one action, each time they are.
const MAX_WORK: usize = 4 << 20;
/// Values of a loop variable that are followed one by one.
const MAX_ROUNDS: usize = 16;

/// Definitions of one function.
const MAX_BODIES: usize = 8;

/// A walk in progress.
pub(super) struct Walk<'a> {
    pub emit: Emit<'a>,
    depth: usize,
    steps: usize,
    /// Bytes of lines and words read so far.
    work: usize,
    next_chain: u16,
    /// Inside what runs only after something else has succeeded or failed.
    guarded: bool,
    /// Names of functions being expanded.
    calls: Vec<String>,
    /// Variables declared `local`, by function, with the value they hide.
    pub locals: Vec<Vec<(String, Option<Value>)>>,
}

impl<'a> std::ops::Deref for Walk<'a> {
    type Target = Emit<'a>;
    fn deref(&self) -> &Emit<'a> {
        &self.emit
    }
}

impl std::ops::DerefMut for Walk<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.emit
    }
}

impl<'a> Walk<'a> {
    pub fn new(emit: Emit<'a>) -> Self {
        Walk {
            emit,
            depth: 0,
            steps: 0,
            work: 0,
            next_chain: 0,
            guarded: false,
            calls: Vec::new(),
            locals: Vec::new(),
        }
    }

    /// Runs `text` as a line of its own; what it prints is returned.
    pub fn nested(&mut self, text: &str, scope: &mut Scope) -> Stream {
        self.run(text, scope, Stream::default())
    }

    /// Whether `bytes` more may be read.
    pub fn afford(&mut self, bytes: usize) -> bool {
        self.work = self.work.saturating_add(bytes);
        if self.work > MAX_WORK {
            self.give_up("the command is too much to be followed");
        }
        !self.is_full()
    }

    pub fn run(&mut self, text: &str, scope: &mut Scope, input: Stream) -> Stream {
        if !self.afford(text.len()) {
            return Stream::unknown();
        }
        self.deeper(|walk| match parse::program(text) {
            Ok(program) => {
                let items: Vec<_> = program.complete_commands.iter().flat_map(|list| &list.0).collect();
                walk.items(&items, scope, input)
            }
            Err(why) => {
                walk.opaque("shell", &why.to_string());
                Stream::unknown()
            }
        })
    }

    /// One level down, if there is one.
    pub fn deeper(&mut self, run: impl FnOnce(&mut Self) -> Stream) -> Stream {
        if self.depth >= MAX_DEPTH {
            self.opaque("shell", "the command is nested too deeply to be followed");
            return Stream::unknown();
        }
        self.depth += 1;
        let stream = run(self);
        self.depth -= 1;
        stream
    }

    /// What happens in here may not happen.
    pub fn possibly<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let before = std::mem::replace(&mut self.emit.certainty, Certainty::Possible);
        let out = run(self);
        self.emit.certainty = before;
        out
    }

    fn fresh_chain(&mut self) {
        self.next_chain = self.next_chain.saturating_add(1);
        self.emit.chain = self.next_chain;
    }

    pub(super) fn list(&mut self, list: &ast::CompoundList, scope: &mut Scope, input: Stream) -> Stream {
        let items: Vec<_> = list.0.iter().collect();
        self.items(&items, scope, input)
    }

    fn items(&mut self, items: &[&ast::CompoundListItem], scope: &mut Scope, input: Stream) -> Stream {
        let chain = self.chain;
        let mut printed = Stream::default();
        for ast::CompoundListItem(list, separator) in items {
            // A lone list succeeds when what is in it does, so it stays in the chain around it.
            if items.len() > 1 {
                self.fresh_chain();
            }
            let out = match separator {
                ast::SeparatorOperator::Async => self.and_or(list, &mut scope.clone(), input.clone()),
                ast::SeparatorOperator::Sequence => self.and_or(list, scope, input.clone()),
            };
            printed = printed.then(out);
        }
        if items.len() > 1 {
            self.emit.chain = chain;
        }
        printed
    }

    fn and_or(&mut self, list: &ast::AndOrList, scope: &mut Scope, input: Stream) -> Stream {
        let (chain, certainty, guarded) = (self.chain, self.certainty, self.guarded);
        let mut printed = self.pipeline(&list.first, scope, input.clone());
        self.guarded |= !list.additional.is_empty();
        for next in &list.additional {
            let pipeline = match next {
                ast::AndOr::And(pipeline) => pipeline,
                ast::AndOr::Or(pipeline) => {
                    self.fresh_chain();
                    self.emit.certainty = Certainty::Possible;
                    pipeline
                }
            };
            printed = printed.then(self.pipeline(pipeline, scope, input.clone()));
        }
        (self.emit.chain, self.emit.certainty, self.guarded) = (chain, certainty, guarded);
        printed
    }

    fn pipeline(&mut self, pipeline: &ast::Pipeline, scope: &mut Scope, input: Stream) -> Stream {
        let chain = self.chain;
        if pipeline.bang {
            self.fresh_chain();
        }
        let out = match pipeline.seq.as_slice() {
            [only] => self.command(only, scope, input),
            many => {
                let inner = self.chain;
                let mut stream = input;
                for (at, command) in many.iter().enumerate() {
                    // Only the last one's success is the pipeline's.
                    if at + 1 < many.len() {
                        self.fresh_chain();
                    } else {
                        self.emit.chain = inner;
                    }
                    stream = self.command(command, &mut scope.clone(), stream);
                }
                stream
            }
        };
        self.emit.chain = chain;
        out
    }

    fn command(&mut self, command: &ast::Command, scope: &mut Scope, input: Stream) -> Stream {
        match command {
            ast::Command::Simple(simple) => self.simple(simple, scope, input),
            ast::Command::Compound(compound, redirects) => {
                let (input, silent) = self.redirect_all(redirects.as_ref(), scope, input);
                let out = self.deeper(|walk| walk.compound(compound, scope, input));
                if silent { Stream::default() } else { out }
            }
            ast::Command::Function(definition) => {
                let function = scope.functions.entry(definition.fname.value.clone()).or_default();
                function.sure |= self.certainty == Certainty::Certain && !self.guarded;
                // Met again in a loop's next round, it is the same one.
                let known = function.bodies.iter().any(|body| format!("{body:?}") == format!("{definition:?}"));
                match (known, function.bodies.len() < MAX_BODIES) {
                    (true, _) => {}
                    (false, true) => function.bodies.push(Rc::new(definition.clone())),
                    (false, false) => self.opaque("shell", "a function has too many definitions to be followed"),
                }
                Stream::default()
            }
            ast::Command::ExtendedTest(test, redirects) => {
                self.redirect_all(redirects.as_ref(), scope, input);
                self.test(&test.expr, scope);
                Stream::default()
            }
        }
    }

    fn compound(&mut self, compound: &ast::CompoundCommand, scope: &mut Scope, input: Stream) -> Stream {
        use ast::CompoundCommand as C;
        match compound {
            C::Arithmetic(arithmetic) => {
                self.arithmetic(&arithmetic.expr.value, scope);
                Stream::default()
            }
            C::ArithmeticForClause(each) => {
                for part in [&each.initializer, &each.condition, &each.updater].into_iter().flatten() {
                    self.arithmetic(&part.value, scope);
                }
                self.rounds(&each.body.list, scope, input)
            }
            C::BraceGroup(group) => self.list(&group.list, scope, input),
            C::Subshell(shell) => self.list(&shell.list, &mut scope.clone(), input),
            C::ForClause(each) => self.for_each(each, scope, input),
            C::CaseClause(case) => {
                self.expand_one(&case.value.value, scope);
                let mut printed = Stream::default();
                for item in &case.cases {
                    for pattern in &item.patterns {
                        self.expand_one(&pattern.value, scope);
                    }
                    if let Some(list) = &item.cmd {
                        printed = printed.then(self.body(list, scope, input.clone()));
                    }
                }
                printed
            }
            C::IfClause(clause) => {
                let mut printed = self.list(&clause.condition, scope, input.clone());
                printed = printed.then(self.body(&clause.then, scope, input.clone()));
                for other in clause.elses.iter().flatten() {
                    if let Some(condition) = &other.condition {
                        self.body(condition, scope, input.clone());
                    }
                    printed = printed.then(self.body(&other.body, scope, input.clone()));
                }
                printed
            }
            C::WhileClause(ast::WhileOrUntilClauseCommand(condition, body, _))
            | C::UntilClause(ast::WhileOrUntilClauseCommand(condition, body, _)) => {
                self.list(condition, scope, input.clone());
                self.rounds(&body.list, scope, input)
            }
            C::Coprocess(process) => self.command(&process.body, &mut scope.clone(), Stream::unknown()),
        }
    }

    /// A loop's body, twice where the first round changes what the second meets.
    fn rounds(&mut self, list: &ast::CompoundList, scope: &mut Scope, input: Stream) -> Stream {
        let before = scope.clone();
        let printed = self.body(list, scope, input.clone());
        if scope.cwd == before.cwd && scope.vars == before.vars {
            return printed;
        }
        let again = self.body(list, scope, input);
        printed.then(again)
    }

    /// A branch: variables that it sets may or may not be set afterwards, so both values count as unknown.
    fn body(&mut self, list: &ast::CompoundList, scope: &mut Scope, input: Stream) -> Stream {
        let before = scope.clone();
        let chain = self.chain;
        self.fresh_chain();
        let printed = self.possibly(|walk| walk.list(list, scope, input));
        self.emit.chain = chain;
        scope.blur(&before);
        printed
    }

    fn for_each(&mut self, each: &ast::ForClauseCommand, scope: &mut Scope, input: Stream) -> Stream {
        let values = match &each.values {
            Some(words) => {
                let mut values = Vec::new();
                for word in words {
                    values.extend(self.expand(&word.value, scope));
                }
                values
            }
            None => scope.args.clone(),
        };
        let rounds = if values.len() > MAX_ROUNDS { vec![Arg::any_of(&values)] } else { values };
        let mut printed = Stream::default();
        for value in rounds {
            self.holds(&each.variable_name, &value);
            scope.set(&each.variable_name, Value::One(value));
            printed = printed.then(self.rounds(&each.body.list, scope, input.clone()));
        }
        printed
    }

    /// Operands of `[[ … ]]`: only substitutions in them do something, if need be in the subscripts that some hold.
    fn test(&mut self, expr: &ast::ExtendedTestExpr, scope: &mut Scope) {
        use ast::ExtendedTestExpr as T;
        match expr {
            T::And(a, b) | T::Or(a, b) => {
                self.test(a, scope);
                self.test(b, scope);
            }
            T::Not(a) | T::Parenthesized(a) => self.test(a, scope),
            T::UnaryTest(_, word) => {
                let text = self.expand_one(&word.value, scope);
                self.subscript(&text);
            }
            T::BinaryTest(_, a, b) => {
                for word in [a, b] {
                    let text = self.expand_one(&word.value, scope);
                    self.subscript(&text);
                }
            }
        }
    }

    fn simple(&mut self, command: &ast::SimpleCommand, scope: &mut Scope, input: Stream) -> Stream {
        self.steps += 1;
        if self.steps > MAX_STEPS || self.is_full() {
            self.give_up("the command runs too many commands to be followed");
            return Stream::unknown();
        }
        let reads_before = self.reads();
        let mut line = Line::default();
        let prefix = command.prefix.iter().flat_map(|p| &p.0);
        let suffix = command.suffix.iter().flat_map(|s| &s.0);
        let named = command.word_or_name.is_some();
        if let Some(word) = &command.word_or_name {
            line.words = self.expand(&word.value, scope);
        }
        for item in suffix {
            self.item(item, false, scope, &mut line);
        }
        for item in prefix {
            self.item(item, true, scope, &mut line);
        }
        let (mut input, silent) = self.redirects(&line.redirects, scope, input);
        let mut set = Vec::new();
        for assignment in &line.prefix {
            set.push(self.assigned(assignment, scope));
        }
        if !named {
            for (name, value) in set {
                scope.set(&name, value);
            }
            return Stream::default();
        }
        line.sources = self.read_since(reads_before);
        input.sources.extend(line.sources.iter().cloned());
        let hidden: Vec<_> = set.iter().map(|(name, _)| (name.clone(), scope.vars.get(name).cloned())).collect();
        let tainted = scope.tainted.clone();
        for (name, value) in set {
            scope.set(&name, value);
        }
        let out = self.dispatch(&line.words, &line.declared, scope, input);
        if !hidden.is_empty() {
            scope.tainted = tainted;
        }
        for (name, value) in hidden {
            scope.restore(&name, value);
        }
        if silent { Stream::default() } else { out }
    }

    fn item<'c>(
        &mut self,
        item: &'c ast::CommandPrefixOrSuffixItem,
        prefix: bool,
        scope: &mut Scope,
        line: &mut Line<'c>,
    ) {
        use ast::CommandPrefixOrSuffixItem as I;
        match item {
            I::IoRedirect(redirect) => line.redirects.push(redirect),
            I::Word(word) => line.words.extend(self.expand(&word.value, scope)),
            I::AssignmentWord(assignment, _) if prefix => line.prefix.push(assignment),
            I::AssignmentWord(assignment, word) => {
                // A `name=value` argument is not split; what it means depends on the command.
                let arg = match &assignment.value {
                    ast::AssignmentValue::Scalar(_) => self.expand_one(&word.value, scope),
                    ast::AssignmentValue::Array(_) => Arg::hole(),
                };
                let declared = self.assigned(assignment, scope);
                line.declared.push(declared);
                line.words.push(arg);
            }
            I::ProcessSubstitution(kind, shell) => {
                let input = match kind {
                    ast::ProcessSubstitutionKind::Read => Stream::default(),
                    ast::ProcessSubstitutionKind::Write => Stream::unknown(),
                };
                self.deeper(|walk| walk.list(&shell.list, &mut scope.clone(), input));
                line.words.push(Arg::known("/dev/fd/63"));
            }
        }
    }

    /// Name and new value of an assignment.
    fn assigned(&mut self, assignment: &ast::Assignment, scope: &mut Scope) -> (String, Value) {
        let (name, element) = match &assignment.name {
            ast::AssignmentName::VariableName(name) => (name.clone(), false),
            ast::AssignmentName::ArrayElementName(name, index) => {
                self.expand_one(index, scope);
                (name.clone(), true)
            }
        };
        let value = match &assignment.value {
            ast::AssignmentValue::Scalar(word) => {
                let value = self.expand_one(&word.value, scope);
                self.holds(&name, &value);
                Value::One(value)
            }
            ast::AssignmentValue::Array(items) => {
                let mut all = match (assignment.append, scope.vars.get(&name)) {
                    (true, Some(Value::Many(old))) => old.clone(),
                    (true, Some(Value::One(old))) => vec![old.clone()],
                    (true, Some(Value::Unset) | None) | (false, _) => Vec::new(),
                };
                for (key, word) in items {
                    if let Some(key) = key {
                        self.expand_one(&key.value, scope);
                    }
                    all.extend(self.expand(&word.value, scope));
                }
                for value in &all {
                    self.holds(&name, value);
                }
                return (name, Value::Many(all));
            }
        };
        match (element, assignment.append, value) {
            (false, false, value) => (name, value),
            (false, true, Value::One(Arg::Known(more))) => match scope.vars.get(&name) {
                Some(Value::One(Arg::Known(text))) => {
                    let joined = Arg::Known(format!("{text}{more}"));
                    self.holds(&name, &joined);
                    (name, Value::One(joined))
                }
                _ => (name, Value::One(Arg::hole())),
            },
            _ => (name, Value::One(Arg::hole())),
        }
    }

    /// The variable `name` gets a value that runs something once the variable is computed with or shown as a prompt.
    pub(super) fn holds(&mut self, name: &str, value: &Arg) {
        self.subscript(value);
        let runs = |text: &str| text.contains("$(") || text.contains('`');
        if matches!(name, "PS0" | "PS1" | "PS2" | "PS4" | "PROMPT_COMMAND") && value.text().is_none_or(runs) {
            self.opaque("shell", &format!("`{name}` runs commands"));
        }
    }

    /// Calls a function that the line defined.
    pub fn call(
        &mut self,
        name: &str,
        definition: &ast::FunctionDefinition,
        args: &[Arg],
        scope: &mut Scope,
        input: Stream,
    ) -> Stream {
        if self.calls.iter().any(|c| c == name) {
            self.opaque(name, "a function that calls itself is not followed");
            return Stream::unknown();
        }
        self.calls.push(name.to_owned());
        self.locals.push(Vec::new());
        let caller = std::mem::replace(&mut scope.args, args.to_vec());
        let ast::FunctionBody(body, redirects) = &definition.body;
        let (input, silent) = self.redirect_all(redirects.as_ref(), scope, input);
        let out = self.deeper(|walk| walk.compound(body, scope, input));
        scope.args = caller;
        for (name, value) in self.locals.pop().unwrap_or_default().into_iter().rev() {
            scope.restore(&name, value);
        }
        self.calls.pop();
        if silent { Stream::default() } else { out }
    }

    /// Runs `text` on another machine or in a container: what it does, it does there.
    pub fn elsewhere(&mut self, there: Resource, text: &str) -> Stream {
        let before = self.emit.remote.replace(there);
        let mut scope = Scope::new("/");
        scope.cwd = None;
        let out = self.nested(text, &mut scope);
        self.emit.remote = before;
        out
    }
}

/// A simple command under way.
#[derive(Default)]
struct Line<'c> {
    words: Vec<Arg>,
    redirects: Vec<&'c ast::IoRedirect>,
    prefix: Vec<&'c ast::Assignment>,
    /// `name=value` arguments, for `export` and its kin.
    declared: Vec<(String, Value)>,
    /// Files that substitutions in its words have read.
    sources: Vec<String>,
}
