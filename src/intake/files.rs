//! The `fs_*` tools to effects.

use super::{
    paths::{self, Place},
    shell::{Emit, describe},
};
use crate::domain::{Effect, PathKind, RawCall, Resource, Reversibility, Verb};

fn path_argument(call: &RawCall, name: &str) -> Result<String, String> {
    match call.text(name) {
        Some("") => Err(format!("the argument `{name}` is empty")),
        Some(text) if text.contains('\0') => Err(format!("the argument `{name}` holds a NUL byte")),
        Some(text) => Ok(text.to_owned()),
        None => Err(format!("the argument `{name}` is missing or no text")),
    }
}

fn text_argument<'c>(call: &'c RawCall, name: &str) -> Result<&'c str, String> {
    call.text(name).ok_or_else(|| format!("the argument `{name}` is missing or no text"))
}

pub(super) fn effects(call: &RawCall, emit: &mut Emit<'_>) -> Result<(), String> {
    let path = |name: &str| path_argument(call, name);
    match call.tool.as_str() {
        "fs_list" => {
            let name = if call.args.get("path").is_some() { path("path")? } else { ".".to_owned() };
            touch(emit, Verb::List, &name);
        }
        "fs_read" => touch(emit, Verb::Read, &path("path")?),
        "fs_search" => {
            text_argument(call, "pattern")?;
            let name = if call.args.get("path").is_some() { path("path")? } else { ".".to_owned() };
            below(emit, Verb::Read, &name);
        }
        "fs_write" => {
            let content = text_argument(call, "content")?;
            arrive(emit, &path("path")?, Some(content.len()));
        }
        "fs_edit" => {
            text_argument(call, "old")?;
            text_argument(call, "new")?;
            touch(emit, Verb::Modify, &path("path")?);
        }
        "fs_delete" => below(emit, Verb::Delete, &path("path")?),
        "fs_backup" => below(emit, Verb::Backup, &path("path")?),
        "fs_move" | "fs_copy" => {
            let (from, to) = (path("from")?, path("to")?);
            let verb = if call.tool == "fs_move" { Verb::Move } else { Verb::Copy };
            let mut effect = below_effect(emit, verb, &from);
            let target = place(emit, &to).target;
            let source = effect.resource.clone();
            effect = effect.with("to", target.as_str());
            emit.push(effect);
            emit.carry(&[source.to_string()], &target);
            arrive(emit, &to, None);
        }
        tool => return Err(format!("no tool is called `{tool}`")),
    }
    Ok(())
}

fn place(emit: &mut Emit<'_>, name: &str) -> Place {
    let absolute = emit.ask.around.places.absolute(name);
    // `..` stays for the world to resolve: a link may stand in front of it.
    let raw = if name.starts_with(['/', '~']) {
        absolute.clone()
    } else {
        paths::join(&emit.ask.around.places.workspace, name)
    };
    emit.ask.place(if name.contains("..") { &raw } else { &absolute })
}

/// One path, following links.
fn touch(emit: &mut Emit<'_>, verb: Verb, name: &str) {
    let place = place(emit, name);
    emit.push(describe(Effect::new(verb, Resource::path(&place.target)), &place));
}

/// A path with all that lies below it where it is a directory; deleting and moving take a link, not its target.
fn below(emit: &mut Emit<'_>, verb: Verb, name: &str) {
    let effect = below_effect(emit, verb, name);
    emit.push(effect);
}

fn below_effect(emit: &mut Emit<'_>, verb: Verb, name: &str) -> Effect {
    let place = place(emit, name);
    let itself = place.is_link() && matches!(verb, Verb::Delete | Verb::Move) && !name.ends_with('/');
    let resource = match (&place.seen, itself) {
        (_, true) => Resource::path(&place.given),
        (Some(_), false) if !place.is(PathKind::Directory) => Resource::path(&place.target),
        (Some(_) | None, false) => Resource::subtree(&place.target),
    };
    let mut effect = describe(Effect::new(verb, resource), &place);
    if verb == Verb::Delete && !itself {
        if place.is(PathKind::Missing) {
            effect.reversibility = Reversibility::Reversible;
        } else if emit.ask.is_committed(&place.target) {
            effect.reversibility = Reversibility::Reversible;
            effect = effect.with("committed", true);
        }
    }
    effect
}

/// A file arrives at `name`. What stood there is kept in weal's trash by the tool that writes, so that overwriting is
/// reversible here; a shell's redirection keeps nothing and is not.
fn arrive(emit: &mut Emit<'_>, name: &str, bytes: Option<usize>) {
    let place = place(emit, name);
    let verb = match &place.seen {
        Some(seen) if matches!(seen.kind, PathKind::Missing | PathKind::DanglingLink) => Verb::Create,
        Some(_) | None => Verb::Overwrite,
    };
    let mut effect = describe(Effect::new(verb, Resource::path(&place.target)), &place);
    effect.reversibility = Reversibility::Reversible;
    if let Some(bytes) = bytes {
        effect = effect.with("bytes", bytes as f64);
    }
    emit.push(effect);
}
