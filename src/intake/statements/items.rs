//! A sentence as a row of items: cues, acts, things and what joins them. Names become resources here; what the
//! items mean together is in `units` and `read`.

use super::{
    super::shell,
    lexicon::{Before, Cue, Form, Lexicon, Meaning},
    limits::number_word,
    names::{branch, from_name, headed, is_name},
    text::{Sort, Token},
};

/// A thing that acts are done to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Object {
    /// Restricts nothing (`anything`, `files`).
    Any,
    /// One of these, as the rule language writes resources.
    Resources(Vec<String>),
    /// Everything of one kind.
    Kind(String),
    /// A data scope.
    Label(String),
    /// A person's address.
    Address(String),
    /// A program by its command word.
    Program(String),
    /// `it`, `them`: what was spoken of before.
    Pronoun,
    /// A matter of output, no thing in the world.
    Style,
    /// Words that name nothing we know.
    Unknown(String),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Item {
    Cue(Cue),
    Act {
        act: usize,
        form: Form,
        passive: bool,
    },
    Object(Object),
    /// A word that says nothing by itself.
    Filler,
    Number,
    Comma,
    Semicolon,
    Colon,
    Dash,
    /// `and`, `or`.
    Join,
    But,
    Preposition,
    /// `to` before a verb or a goal.
    To,
}

/// An item and the tokens it was made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Placed {
    pub item: Item,
    pub from: usize,
    pub to: usize,
}

impl Placed {
    pub(crate) fn is_cue(&self, cue: Cue) -> bool {
        self.item == Item::Cue(cue)
    }
}

pub(crate) fn items(tokens: &[Token], lexicon: &Lexicon) -> Vec<Placed> {
    let mut reader = Reader { tokens, lexicon, items: Vec::new() };
    let mut at = 0;
    while at < tokens.len() {
        at = reader.item(at);
    }
    merged(reader.items)
}

struct Reader<'a> {
    tokens: &'a [Token],
    lexicon: &'a Lexicon,
    items: Vec<Placed>,
}

impl<'a> Reader<'a> {
    fn token(&self, at: usize) -> Option<&'a Token> {
        self.tokens.get(at)
    }

    fn word(&self, at: usize) -> Option<&'a str> {
        self.token(at).filter(|t| !matches!(t.sort, Sort::Open | Sort::Close)).map(|t| t.norm.as_str())
    }

    fn push(&mut self, item: Item, from: usize, to: usize) -> usize {
        self.items.push(Placed { item, from, to });
        to
    }

    /// Reads one item; returns the token after it.
    fn item(&mut self, at: usize) -> usize {
        let Some(token) = self.token(at) else { return at + 1 };
        match token.sort {
            Sort::Comma => self.push(Item::Comma, at, at + 1),
            Sort::Semicolon => self.push(Item::Semicolon, at, at + 1),
            Sort::Colon => self.push(Item::Colon, at, at + 1),
            Sort::Dash => self.push(Item::Dash, at, at + 1),
            Sort::Open => self.bracket(at),
            Sort::Close | Sort::Stop | Sort::Question | Sort::Break | Sort::Bullet => at + 1,
            Sort::Number => self.number(at),
            Sort::Name => self.name(at, token),
            Sort::Code => self.code(at, token),
            Sort::Quoted => self.push(Item::Filler, at, at + 1),
            Sort::Word => self.words(at, token),
        }
    }

    /// What stands in brackets explains; it is left out unless the whole sentence does.
    fn bracket(&mut self, at: usize) -> usize {
        if at == 0 {
            return at + 1;
        }
        let close = self.tokens.iter().skip(at).position(|t| t.sort == Sort::Close);
        close.map_or(at + 1, |n| at + n + 1)
    }

    /// A number, unless a phrase begins with it.
    fn number(&mut self, at: usize) -> usize {
        self.push(Item::Number, at, at + 1)
    }

    fn name(&mut self, at: usize, token: &Token) -> usize {
        let head = self.word(at + 1).and_then(|w| self.lexicon.heads.get(w));
        if let Some(head) = head {
            let object = headed(head, &token.text);
            return self.push(Item::Object(object), at, at + 2);
        }
        let plural = matches!(self.word(at + 1), Some("files" | "file"));
        if plural && !token.text.contains('/') && token.text.starts_with('.') {
            let word = token.norm.trim_start_matches('.').to_owned();
            let phrase = [word.as_str(), "files"];
            let found = self.lexicon.longest(&|i| phrase.get(i).copied(), 0, |m| matches!(m, Meaning::Thing(_)));
            let object = match found {
                Some((Meaning::Thing(n), 2)) => self.thing(n),
                _ => Object::Resources(vec![format!("**/*{}", token.text)]),
            };
            return self.push(Item::Object(object), at, at + 2);
        }
        let end = if plural { at + 2 } else { at + 1 };
        if !is_name(&token.text) {
            return self.code_word(at, token);
        }
        let object = from_name(&token.text);
        self.push(Item::Object(object), at, end)
    }

    /// One word in backticks: a command, a branch, or a name that we cannot place.
    fn code_word(&mut self, at: usize, token: &Token) -> usize {
        let found =
            self.lexicon.longest(&|i| (i == 0).then_some(token.norm.as_str()), 0, |m| matches!(m, Meaning::Act(..)));
        let item = match found {
            Some((Meaning::Act(act, form), _)) => Item::Act { act, form, passive: false },
            _ if self.lexicon.branches.contains(&token.norm) => Item::Object(branch(&token.text)),
            _ => Item::Object(Object::Unknown(token.text.clone())),
        };
        self.push(item, at, at + 1)
    }

    /// A command line in backticks: an act we know, else a program.
    fn code(&mut self, at: usize, token: &Token) -> usize {
        let words: Vec<&str> = token.norm.split_whitespace().collect();
        let found = self.lexicon.longest(&|i| words.get(i).copied(), 0, |m| matches!(m, Meaning::Act(..)));
        let item = match found {
            Some((Meaning::Act(act, form), _)) => Item::Act { act, form, passive: false },
            _ => Item::Object(Object::Program(token.text.clone())),
        };
        self.push(item, at, at + 1)
    }

    fn words(&mut self, at: usize, token: &Token) -> usize {
        if let Some(end) = self.headed(at, token).or_else(|| self.extension(at, token)) {
            return end;
        }
        let found = self.lexicon.longest(&|i| self.word(at + i), 0, |_| true);
        let found = self.banned_stop(at).or(found);
        let found = found.filter(|(meaning, taken)| self.is_followed(*meaning, at + taken));
        let found = found.map(|(meaning, taken)| (self.as_thing(at, meaning, taken), taken));
        if let Some((Meaning::Thing(n), taken)) = found
            && self.is_some_of_them(at, n, taken)
        {
            return self.push(Item::Object(Object::Unknown(format!("the {}", token.text))), at, at + taken);
        }
        if let Some((Meaning::Act(..), taken)) = found
            && let Some(object) = self.as_named(at, taken)
        {
            return self.push(Item::Object(object), at, at + taken);
        }
        if let Some((meaning, taken)) = found {
            let item = match meaning {
                Meaning::Cue(cue) => Item::Cue(cue),
                Meaning::Act(act, form) => self.act(at, act, form),
                Meaning::Thing(n) => Item::Object(self.thing(n)),
            };
            return self.push(item, at, at + taken);
        }
        let branch_here = self.lexicon.branches.contains(&token.norm) && self.names_a_branch(at);
        let item = match token.norm.as_str() {
            _ if self.is_used(at) => Item::Object(Object::Program(token.text.clone())),
            _ if branch_here => Item::Object(branch(&token.text)),
            word if self.lexicon.is("joins", word) => Item::Join,
            word if self.lexicon.is("buts", word) => Item::But,
            "to" => Item::To,
            "one" if !self.items.last().is_some_and(|p| p.is_cue(Cue::Most) || p.is_cue(Cue::Over)) => Item::Filler,
            word if number_word(word).is_some() => Item::Number,
            word if self.lexicon.is("pronouns", word) => Item::Object(Object::Pronoun),
            word if self.lexicon.is("prepositions", word) => Item::Preposition,
            word if self.lexicon.style.contains(word) => Item::Object(Object::Style),
            word if self.lexicon.fillers.contains(word) => Item::Filler,
            _ => Item::Object(Object::Unknown(token.text.clone())),
        };
        self.push(item, at, at + 1)
    }

    /// `delete mails` deletes a thing, it does not also mail.
    fn as_thing(&self, at: usize, meaning: Meaning, taken: usize) -> Meaning {
        let Meaning::Act(_, form) = meaning else { return meaning };
        let noun = matches!(form, Form::Third | Form::Noun) && self.is_suffering(at + taken)
            || form == Form::Third && !self.word(at).is_some_and(|w| self.lexicon.style.contains(w))
            || form == Form::Base && (self.has_article(at) || self.follows_act());
        let thing = self.lexicon.longest(&|i| self.word(at + i), 0, |m| matches!(m, Meaning::Thing(_)));
        match thing {
            Some((thing, same)) if noun && same == taken => thing,
            _ => meaning,
        }
    }

    /// `touch the archive`, `anything in the backups`: the noun names a thing, and none that we know.
    fn as_named(&self, at: usize, taken: usize) -> Option<Object> {
        let words = self.tokens.get(at..at + taken)?;
        let text = words.iter().map(|t| t.text.as_str()).collect::<Vec<_>>().join(" ");
        let Some((Meaning::Act(_, form), _)) = self.lexicon.longest(&|i| self.word(at + i), 0, |_| true) else {
            return None;
        };
        let suffers = self.is_suffering(at + taken);
        let nominal = form == Form::Noun
            || matches!(form, Form::Base | Form::Third) && self.has_article(at)
            || form == Form::Third && suffers;
        let last = self.items.iter().rev().find(|p| p.item != Item::Filler).map(|p| &p.item);
        let led = |cue: Cue| matches!(cue, Cue::Leave | Cue::BanThing | Cue::KeepOut);
        let inside = suffers
            || match last {
                Some(Item::Act { .. } | Item::Preposition | Item::To) => true,
                Some(Item::Cue(cue)) => led(*cue),
                _ => false,
            };
        if nominal && words.iter().all(|t| self.lexicon.style.contains(&t.norm)) {
            return Some(Object::Style);
        }
        let thing = self.lexicon.longest(&|i| self.word(at + i), 0, |m| matches!(m, Meaning::Thing(_)));
        match thing {
            Some((Meaning::Thing(n), same)) if nominal && inside && same == taken => Some(self.thing(n)),
            _ => (nominal && inside).then_some(Object::Unknown(text)),
        }
    }

    /// `never stop the server` forbids to stop it. With a gerund behind it `stop` is the ban itself.
    fn banned_stop(&self, at: usize) -> Option<(Meaning, usize)> {
        self.items.last().filter(|p| p.is_cue(Cue::Ban))?;
        let act = |at: usize| self.lexicon.longest(&|i| self.word(at + i), 0, |m| matches!(m, Meaning::Act(..)));
        let next_acts = |taken: usize| matches!(act(at + taken), Some((Meaning::Act(_, Form::Gerund), _)));
        let stops =
            matches!(self.lexicon.longest(&|i| self.word(at + i), 0, |_| true), Some((Meaning::Cue(Cue::Ban), 1)));
        act(at).filter(|(_, taken)| stops && !next_acts(*taken))
    }

    /// What an act asks to stand behind it does.
    fn is_followed(&self, meaning: Meaning, at: usize) -> bool {
        let Meaning::Act(act, _) = meaning else { return true };
        match self.lexicon.acts.get(act).and_then(|a| a.before) {
            Some(Before::Program) => self.is_program(at),
            Some(Before::Name) => self.token(at).is_some_and(|t| t.sort == Sort::Name),
            None => true,
        }
    }

    /// A known program, and no noun behind it that it could describe.
    fn is_program(&self, at: usize) -> bool {
        let plain = self.token(at + 1).is_none_or(|next| next.sort != Sort::Word || self.lexicon.knows(&next.norm));
        plain && self.word(at).is_some_and(shell::knows)
    }

    /// The program that an act of using wants.
    fn is_used(&self, at: usize) -> bool {
        let Some(Item::Act { act, .. }) = self.items.last().map(|p| &p.item) else { return false };
        let uses = self.lexicon.acts.get(*act).is_some_and(|a| a.before == Some(Before::Program));
        uses && self.is_program(at)
    }

    /// `the files` are some that were spoken of, unless it is said where they are.
    fn is_some_of_them(&self, at: usize, thing: usize, taken: usize) -> bool {
        let any = self.thing(thing) == Object::Any && self.word(at).is_some_and(|w| self.lexicon.is("unnamed", w));
        let the =
            at.checked_sub(1).and_then(|i| self.word(i)).is_some_and(|w| matches!(w, "the" | "these" | "those"));
        let told = self.token(at + taken).is_some_and(|t| t.sort != Sort::Word || self.lexicon.is("inside", &t.norm));
        any && the && !told
    }

    /// What goes on at `at` forbids that something be done to what stands before.
    fn is_suffering(&self, at: usize) -> bool {
        let cue = |at: usize| match self.lexicon.longest(&|i| self.word(at + i), 0, |_| true) {
            Some((Meaning::Cue(cue), taken)) => Some((cue, at + taken)),
            _ => None,
        };
        let be = |at: usize| self.word(at).is_some_and(|w| self.lexicon.is("be", w));
        let done = |at: usize| {
            let found = self.lexicon.longest(&|i| self.word(at + i), 0, |_| true);
            matches!(found, Some((Meaning::Act(_, Form::Past), _)))
        };
        let behind = |at: usize| match cue(at) {
            Some((Cue::OffLimits, _)) => true,
            Some((Cue::Ban, end)) => be(end) && done(end + 1) || be(end - 1) && done(end),
            _ => false,
        };
        behind(at) || be(at) && behind(at + 1)
    }

    fn has_article(&self, at: usize) -> bool {
        let before = at.checked_sub(1).and_then(|i| self.word(i));
        before.is_some_and(|w| self.lexicon.is("articles", w))
    }

    fn follows_act(&self) -> bool {
        let last = self.items.iter().rev().find(|p| p.item != Item::Filler);
        matches!(last.map(|p| &p.item), Some(Item::Act { .. }))
    }

    fn act(&self, at: usize, act: usize, form: Form) -> Item {
        let near = |n: usize| at.checked_sub(n).and_then(|i| self.word(i));
        let passive = form == Form::Past && (1..=4).any(|n| near(n).is_some_and(|w| self.lexicon.is("be", w)));
        let nominal = self.has_article(at) && matches!(form, Form::Base | Form::Third);
        let form = if nominal { Form::Noun } else { form };
        // `nothing goes out` forbids as much as `nothing may go out`
        let none = form == Form::Third && near(1).is_some_and(|w| self.lexicon.is("none", w));
        let (form, passive) = if none { (Form::Past, true) } else { (form, passive) };
        Item::Act { act, form, passive }
    }

    fn thing(&self, n: usize) -> Object {
        let Some(thing) = self.lexicon.things.get(n) else { return Object::Any };
        if let Some(label) = &thing.label {
            return Object::Label(label.clone());
        }
        if let Some(kind) = &thing.kind {
            return Object::Kind(kind.clone());
        }
        let names: Vec<String> = thing.globs.iter().chain(&thing.names).cloned().collect();
        if names.is_empty() { Object::Any } else { Object::Resources(names) }
    }

    /// `main` names a branch after a preposition or an act, where no noun follows that it could describe.
    fn names_a_branch(&self, at: usize) -> bool {
        let led = self.items.last().is_some_and(|p| {
            matches!(
                p.item,
                Item::To | Item::Preposition | Item::Act { .. } | Item::Join | Item::Comma | Item::Filler
            )
        });
        let plain = self.token(at + 1).is_none_or(|next| {
            next.sort != Sort::Word || self.lexicon.knows(&next.norm) || !next.norm.chars().all(char::is_alphabetic)
        });
        led && plain
    }

    /// `the records folder`, `the folder called records`.
    fn headed(&mut self, at: usize, token: &Token) -> Option<usize> {
        let lexicon = self.lexicon;
        let names = |i: usize| {
            let word = self.token(i)?;
            let plain = matches!(word.sort, Sort::Word | Sort::Name) && !lexicon.adjectives.contains(&word.norm);
            let determined = i > 0 && matches!(self.word(i - 1), Some("the" | "my" | "our"));
            let free = !lexicon.entries_begin(&word.norm) || determined;
            (plain && free && !lexicon.fillers.contains(&word.norm)).then_some(word)
        };
        if let (Some(word), Some(head)) = (names(at), self.word(at + 1).and_then(|w| lexicon.heads.get(w))) {
            let object = headed(head, &word.text);
            return Some(self.push(Item::Object(object), at, at + 2));
        }
        let head = lexicon.heads.get(&token.norm)?;
        let called = matches!(self.word(at + 1), Some("called" | "named"));
        let at_name = if called { at + 2 } else { at + 1 };
        let word = names(at_name)?;
        if !called && self.token(at_name + 1).is_some_and(|t| t.sort == Sort::Word && !lexicon.knows(&t.norm)) {
            return None;
        }
        let object = headed(head, &word.text);
        Some(self.push(Item::Object(object), at, at_name + 1))
    }

    /// `log files`, `any csv file`.
    fn extension(&mut self, at: usize, token: &Token) -> Option<usize> {
        let extension = self.lexicon.extensions.get(&token.norm)?;
        matches!(self.word(at + 1), Some("files" | "file")).then_some(())?;
        let object = Object::Resources(vec![format!("**/*.{extension}")]);
        Some(self.push(Item::Object(object), at, at + 2))
    }
}

impl Lexicon {
    fn entries_begin(&self, word: &str) -> bool {
        self.knows(word) && !self.fillers.contains(word)
    }
}

/// Unknown words beside one another are one unknown thing, and so is a class with unknown words before it.
fn merged(items: Vec<Placed>) -> Vec<Placed> {
    let mut out: Vec<Placed> = Vec::with_capacity(items.len());
    for placed in items {
        if let (Some(last), Item::Object(now)) = (out.last_mut(), &placed.item)
            && let Item::Object(Object::Unknown(words)) = &last.item
            && last.to == placed.from
        {
            let joined = match now {
                Object::Unknown(more) => Some(Object::Unknown(format!("{words} {more}"))),
                Object::Any | Object::Kind(_) => Some(Object::Unknown(words.clone())),
                Object::Style => Some(Object::Style),
                Object::Resources(_)
                | Object::Label(_)
                | Object::Address(_)
                | Object::Program(_)
                | Object::Pronoun => None,
            };
            if let Some(joined) = joined {
                last.item = Item::Object(joined);
                last.to = placed.to;
                continue;
            }
        }
        out.push(placed);
    }
    out
}
