//! A shell line to effects. `parse` reads it, `walk` follows it, `words` expands, `commands` and its neighbours say
//! what single tools do (by the tables under `assets/commands/` where a table is enough), `emit` makes effects.
//! Runs nothing, reads nothing: what it must know of the world it asks for.

mod braces;
mod builtins;
mod commands;
mod copy;
mod emit;
mod fields;
mod find;
mod git;
mod network;
mod options;
mod parse;
pub(super) mod plain;
mod programs;
mod redirect;
mod scope;
mod stream;
mod table;
#[cfg(test)]
mod tests;
mod walk;
mod words;

pub(super) use emit::{Emit, describe};

use super::{actions::Surroundings, paths::Ask};
use crate::domain::Facts;
use scope::Scope;
use std::thread;
use walk::Walk;

/// A program that the table of tools describes.
pub(super) fn knows(program: &str) -> bool {
    table::TOOLS.get(program).is_some()
}

/// Stack for a line that nests deeply; only what is used of it costs memory.
const DEEP_STACK: usize = 256 << 20;

/// All that running `line` in the directory `cwd` would do.
pub(super) fn effects<'a>(facts: &'a Facts, around: &'a Surroundings, line: &str, cwd: &str) -> Emit<'a> {
    let run = || {
        let mut walk = Walk::new(Emit::new(Ask::new(facts, around)));
        walk.nested(line, &mut Scope::new(cwd));
        walk.emit
    };
    if parse::openers(line) <= parse::SHALLOW {
        return run();
    }
    // The parser recurses with the text; a caller's stack may be small.
    let deep = thread::scope(|threads| {
        let thread = thread::Builder::new().stack_size(DEEP_STACK).spawn_scoped(threads, run);
        thread.ok().and_then(|t| t.join().ok())
    });
    deep.unwrap_or_else(|| {
        let mut emit = Emit::new(Ask::new(facts, around));
        emit.opaque("shell", "the command could not be read");
        emit
    })
}
