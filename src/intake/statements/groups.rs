//! What a demand speaks of: groups of acts with the things they are done to, and the conditions these make.

use super::{
    build::Cond,
    items::{Item, Object, Placed},
    lexicon::{Cue, Form, Lexicon},
};

/// Acts with the same objects. `lists` must all hold; within a list any object will do.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Group {
    pub acts: Vec<usize>,
    pub lists: Vec<Vec<Object>>,
    /// The objects are meant to lie outside of these.
    pub outside: bool,
}

/// What one rule can say of a group: verbs and conditions; or why it cannot.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reach {
    pub verbs: Vec<String>,
    pub guard: Vec<Cond>,
    /// Words that were left out because they only narrow what is known.
    pub dropped: Option<String>,
    /// The acts are only some of those that change the place: to forbid it would forbid the others.
    pub shared: bool,
}

#[derive(Default)]
struct Gathering {
    groups: Vec<Group>,
    subject: Vec<Vec<Object>>,
    subject_outside: bool,
    /// The next object is one more of the list, not a further condition.
    joined: bool,
    outside: bool,
}

/// Groups of the acts in `items`. Third persons and the past tell, they do not demand; participles count after `be`.
pub(crate) fn groups(items: &[Placed]) -> Vec<Group> {
    let mut gathering = Gathering::default();
    let mut purpose = false;
    for (n, placed) in items.iter().enumerate() {
        match &placed.item {
            Item::Act { act, form, passive } => {
                let after_to = n.checked_sub(1).and_then(|p| items.get(p)).is_some_and(|p| p.item == Item::To);
                purpose |= after_to && *form == Form::Base && !gathering.groups.is_empty();
                let named = *form != Form::Noun || !items.get(..n).is_some_and(ends_in_words);
                let counts = *form != Form::Third && (*form != Form::Past || *passive) && named;
                if counts && !purpose {
                    gathering.act(*act);
                }
            }
            Item::Object(object) if !purpose => gathering.object(object.clone()),
            Item::Cue(Cue::Outside) => gathering.outside = true,
            Item::Preposition | Item::To => gathering.joined = false,
            Item::Join | Item::Comma => {
                purpose &= placed.item == Item::Join;
                gathering.joined = true;
            }
            Item::Cue(_) | Item::Filler | Item::Number | Item::Semicolon | Item::Colon | Item::Dash | Item::But => {}
            Item::Object(_) => {}
        }
    }
    gathering.finish()
}

/// In clauses about what comes first or later every form counts: `once it was backed up`, `before it goes out`.
pub(crate) fn groups_of_any_form(items: &[Placed]) -> Vec<Group> {
    let bare: Vec<Placed> = items
        .iter()
        .map(|placed| match placed.item {
            Item::Act { act, .. } => {
                Placed { item: Item::Act { act, form: Form::Gerund, passive: true }, ..placed.clone() }
            }
            _ => placed.clone(),
        })
        .collect();
    groups(&bare)
}

/// A noun after words we do not know is what these speak of, no act: `letters that are an answer`.
fn ends_in_words(before: &[Placed]) -> bool {
    let last = before.iter().rev().find(|p| p.item != Item::Filler);
    matches!(last.map(|p| &p.item), Some(Item::Object(Object::Unknown(_))))
}

impl Gathering {
    fn act(&mut self, act: usize) {
        match self.groups.last_mut() {
            Some(group) if group.lists.is_empty() => group.acts.push(act),
            _ => self.groups.push(Group { acts: vec![act], ..Group::default() }),
        }
        self.joined = false;
    }

    fn object(&mut self, object: Object) {
        let (lists, outside) = match self.groups.last_mut() {
            Some(group) => (&mut group.lists, &mut group.outside),
            None => (&mut self.subject, &mut self.subject_outside),
        };
        let place = matches!(object, Object::Resources(_) | Object::Unknown(_) | Object::Label(_));
        if self.outside && place {
            // `anything outside src/`: what stood before was only `anything`
            lists.clear();
            *outside = true;
            self.outside = false;
        }
        match lists.last_mut() {
            Some(list) if self.joined => list.push(object),
            // `a.txt or anything in x/`: what follows says where the last of them is
            Some(list) if list.len() > 1 || list.last() == Some(&Object::Any) => {
                if list.last() == Some(&Object::Any) {
                    list.pop();
                    list.push(object);
                }
            }
            _ => lists.push(vec![object]),
        }
        self.joined = false;
    }

    fn finish(mut self) -> Vec<Group> {
        if self.groups.is_empty() && !self.subject.is_empty() {
            self.groups.push(Group::default());
        }
        for group in &mut self.groups {
            if group.lists.is_empty() {
                group.lists = self.subject.clone();
                group.outside |= self.subject_outside;
            } else if self.subject_outside && !group.outside {
                group.lists.extend(self.subject.iter().cloned());
            }
        }
        // `delete or move anything in x/`: acts before the last take its objects
        let last = self.groups.last().cloned().unwrap_or_default();
        for group in &mut self.groups {
            if group.lists.is_empty() {
                group.lists = last.lists.clone();
                group.outside = last.outside;
            }
        }
        self.groups
    }
}

impl Group {
    pub(crate) fn has_things(&self) -> bool {
        self.lists.iter().flatten().any(|o| !matches!(o, Object::Pronoun | Object::Style))
    }

    /// Some object is one that we can name in a rule.
    pub(crate) fn is_concrete(&self) -> bool {
        let concrete = |o: &Object| {
            matches!(
                o,
                Object::Resources(_) | Object::Label(_) | Object::Address(_) | Object::Program(_) | Object::Kind(_)
            )
        };
        self.lists.iter().flatten().any(concrete)
    }

    pub(crate) fn is_style(&self) -> bool {
        let mut objects = self.lists.iter().flatten().peekable();
        objects.peek().is_some()
            && self.lists.iter().flatten().any(|o| *o == Object::Style)
            && objects.all(|o| matches!(o, Object::Style | Object::Unknown(_) | Object::Any | Object::Kind(_)))
    }

    /// Some act counts only with more around it than an act.
    pub(crate) fn is_strict(&self, lexicon: &Lexicon) -> bool {
        self.acts.iter().all(|a| lexicon.acts.get(*a).is_some_and(|a| a.strict))
    }

    /// Verbs and conditions; `else_verb` is what the demand means where no act is named.
    /// (several are divided by `|`).
    pub(crate) fn reach(&self, lexicon: &Lexicon, else_verb: &str) -> Result<Reach, String> {
        let mut verbs: Vec<String> = Vec::new();
        let mut guard: Vec<Cond> = Vec::new();
        let mut wider = None;
        for act in self.acts.iter().filter_map(|n| lexicon.acts.get(*n)) {
            match (&act.on, &act.unclear) {
                (Some(place), _) if !self.is_concrete() => {
                    guard.push(Cond::Resource(place.clone()));
                    wider = act.words.first().cloned();
                }
                (_, Some(why)) => return Err(why.clone()),
                (_, None) => {}
            }
            verbs.extend(act.verbs.iter().filter(|v| !verbs.contains(v)).cloned().collect::<Vec<_>>());
        }
        if verbs.is_empty() {
            verbs.extend(else_verb.split('|').map(str::to_owned));
        }
        if verbs.iter().any(|v| v == "write") {
            verbs.retain(|v| !matches!(v.as_str(), "create" | "modify" | "overwrite" | "delete" | "move"));
        }
        let shared = wider.is_some();
        let mut dropped = wider;
        let mut unknown = None;
        for list in &self.lists {
            match self.list(list, &verbs) {
                // one effect touches one thing: `from a/ to b/` is about what lies in `a/`
                Ok(Some(cond)) if cond.is_place() && guard.iter().any(Cond::is_place) => {}
                Ok(cond) => guard.extend(cond),
                Err(words) => unknown = unknown.or(Some(words)),
            }
        }
        if let Some(words) = unknown {
            if guard.is_empty() {
                let program = self.lists.iter().flatten().any(|o| matches!(o, Object::Program(own) if *own == words));
                return Err(if program { command_line(&words) } else { unknown_thing(&words) });
            }
            dropped = Some(words);
        }
        if self.outside {
            guard = Cond::all(guard).map(Cond::not).into_iter().collect();
        }
        Ok(Reach { verbs, guard, dropped, shared })
    }

    /// The condition of one list, `None` where it restricts nothing, the words where they name nothing.
    fn list(&self, list: &[Object], verbs: &[String]) -> Result<Option<Cond>, String> {
        let goes_out = verbs.iter().any(|v| v == "send");
        let mut any = Vec::new();
        for object in list {
            match object {
                Object::Any | Object::Pronoun | Object::Style => return Ok(None),
                Object::Kind(kind) if goes_out && matches!(kind.as_str(), "mail" | "contact" | "event") => {
                    return Ok(None);
                }
                Object::Kind(kind) => any.push(Cond::Resource(format!("{kind}:*"))),
                Object::Resources(names) => any.extend(names.iter().cloned().map(Cond::Resource)),
                Object::Label(label) => any.push(Cond::Label(label.clone())),
                Object::Address(name) if goes_out => any.push(Cond::Recipient(name.clone())),
                Object::Address(name) => any.push(Cond::Resource(name.clone())),
                Object::Program(words) | Object::Unknown(words) => return Err(words.clone()),
            }
        }
        Ok(Cond::any(any))
    }

    /// Groups that can each be one rule: acts of which none can be made, or a rule of their own, stand alone, and
    /// so do things that we do not know.
    pub(crate) fn split(self, lexicon: &Lexicon) -> Vec<Group> {
        let alone = |n: &usize| lexicon.acts.get(*n).is_some_and(|act| act.on.is_some() || act.unclear.is_some());
        let (own, shared): (Vec<usize>, Vec<usize>) = self.acts.iter().partition(|n| alone(n));
        if own.is_empty() || own.len() + shared.len() == 1 {
            return self.split_things();
        }
        let parts = own.into_iter().map(|act| vec![act]).chain((!shared.is_empty()).then_some(shared));
        parts.flat_map(|acts| Group { acts, ..self.clone() }.split_things()).collect()
    }

    fn split_things(self) -> Vec<Group> {
        let unknown = |o: &Object| matches!(o, Object::Unknown(_) | Object::Program(_));
        let mixed = |list: &Vec<Object>| list.iter().any(unknown) && !list.iter().all(unknown);
        if !self.lists.iter().any(mixed) {
            return vec![self];
        }
        let keep = |known: bool| Group {
            lists: self
                .lists
                .iter()
                .map(|list| {
                    if mixed(list) {
                        list.iter().filter(|o| unknown(o) != known).cloned().collect()
                    } else {
                        list.clone()
                    }
                })
                .collect(),
            ..self.clone()
        };
        vec![keep(true), keep(false)]
    }
}

fn unknown_thing(words: &str) -> String {
    format!("`{words}` names nothing that can be checked (write a path like `notes/` or a pattern like `*.txt`)")
}

fn command_line(words: &str) -> String {
    format!("`{words}` is a command line, and commands are judged by what they do (say what must not happen)")
}

/// `it`, `them` replaced by what was spoken of before.
pub(crate) fn resolved(mut groups: Vec<Group>, antecedent: &[Vec<Object>]) -> Vec<Group> {
    for group in &mut groups {
        let pronoun = group.lists.iter().flatten().all(|o| matches!(o, Object::Pronoun | Object::Any));
        let spoken = group.lists.iter().flatten().any(|o| *o == Object::Pronoun);
        if pronoun && spoken && !antecedent.is_empty() {
            group.lists = antecedent.to_vec();
        }
    }
    groups
}
