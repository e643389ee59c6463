//! The customs house: foreign text (user turns, tool calls, shell, paths) to nouns of `domain`. Pure: what it needs to
//! know of the world it asks for as queries.

pub mod actions;
mod files;
pub mod intents;
pub mod labels;
pub mod offers;
pub mod paths;
pub mod request;
pub mod secrets;
mod services;
mod shell;
pub mod statements;
