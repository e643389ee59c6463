//! The words of the language, with an example of each for the hints.

pub(super) const KEYWORDS: [&str; 6] = ["if", "then", "and", "or", "not", "always"];

/// Every predicate with an example of its use.
pub(super) const PREDICATES: [(&str, &str); 10] = [
    ("intent_is", "intent_is(\"database_export\")"),
    ("data_scope_is", "data_scope_is(\"internal\")"),
    ("tool_is", "tool_is(\"fs_delete\")"),
    ("effect_is", "effect_is(delete)"),
    ("resource_in", "resource_in(\"records/**\")"),
    ("recipient_in", "recipient_in(\"mail:*@example.org\")"),
    ("reversible", "reversible()"),
    ("requested", "requested()"),
    ("arg", "arg(path) == \"notes.txt\""),
    ("turn_of_task", "turn_of_task > 3"),
];

/// Every consequence with an example of its use.
pub(super) const CONSEQUENCES: [(&str, &str); 8] = [
    ("forbid_tool_call", "forbid_tool_call(\"fs_delete\")"),
    ("forbid_tool_arg", "forbid_tool_arg(\"shell_exec\", \"command\", \"reboot\")"),
    ("forbid_env_action", "forbid_env_action(\"harvest\")"),
    ("forbid_effect", "forbid_effect(delete)"),
    ("require_approval", "require_approval()"),
    ("require_before", "require_before(backup, same_resource)"),
    ("limit", "limit(amount, 50 EUR, per calendar day)"),
    ("except", "except(§2)"),
];

/// Every window, as it is written in a limit.
pub(super) const WINDOWS: &str = "`per call`, `per session`, `per total`, `per rolling 12 h`, `per rolling 7 d`, `per calendar day`, `per calendar week`";

pub(super) fn names(of: &'static [(&'static str, &'static str)]) -> impl Iterator<Item = &'static str> {
    of.iter().map(|(name, _)| *name)
}

pub(super) fn example(of: &'static [(&'static str, &'static str)], name: &str) -> Option<&'static str> {
    of.iter().find(|(known, _)| *known == name).map(|(_, example)| *example)
}
