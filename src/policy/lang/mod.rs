//! The rule language: trees, reading, printing, diagnostics. What a rule means is in `policy::eval`.
//!
//! ```text
//! rule        = "if" guard "then" consequence
//! guard       = conjunction { "or" conjunction }
//! conjunction = part { "and" part }
//! part        = "not" part | "(" guard ")" | "always" | predicate
//! predicate   = intent_is(text) | data_scope_is(text) | tool_is(text)
//!             | effect_is(verb | write | any) | resource_in(pattern) | recipient_in(pattern)
//!             | reversible() | requested()
//!             | arg(name) OP value | name OP value | turn_of_task OP number        OP is < <= == != >= >
//! consequence = forbid_tool_call(text) | forbid_tool_arg(text, text, value) | forbid_env_action(text)
//!             | forbid_effect(verb | write | any) | require_approval()
//!             | require_before(verb, same_resource | pattern)
//!             | limit(name, number [unit], per window) | except(rule id)
//! window      = call | session | total | rolling N h | rolling N d | calendar day | calendar week
//! ```
//!
//! Text stands in double quotes, with `\"`, `\\` and `\n`; a single word may do without them where text is wanted.
//! A value is a number, a text or the name of a variable; `true` and `false` are the texts `"true"` and `"false"`. A
//! name is any word that is no keyword and no predicate. A rule without a condition is written `if always then …`:
//! there is one form, so that a forgotten condition is an error. Orders (`<`) compare numbers only.
//!
//! Invariant *round trip*: `parse(print(rule)) == rule` for every rule, and what the seeds write prints as it was.

pub mod ast;
mod consequence;
pub mod diagnostic;
mod lexer;
mod parse;
mod print;
mod words;

pub use diagnostic::Diagnostic;
pub use parse::parse;

#[cfg(test)]
mod tests;
