//! Rule text: conditions and consequences written the way the rule language prints them.

use std::fmt;

/// A guard.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cond {
    Effect(String),
    Resource(String),
    Recipient(String),
    Label(String),
    Requested,
    Not(Box<Cond>),
    All(Vec<Cond>),
    Any(Vec<Cond>),
}

impl Cond {
    pub(crate) fn not(self) -> Cond {
        match self {
            Cond::Not(inner) => *inner,
            other => Cond::Not(Box::new(other)),
        }
    }

    /// Says which things, not of what sort they are.
    pub(crate) fn is_place(&self) -> bool {
        match self {
            Cond::Resource(_) => true,
            Cond::Any(parts) | Cond::All(parts) => parts.iter().all(Cond::is_place),
            Cond::Not(inner) => inner.is_place(),
            Cond::Effect(_) | Cond::Recipient(_) | Cond::Label(_) | Cond::Requested => false,
        }
    }

    /// All of `parts`; a part alone is itself, nested ones are opened.
    pub(crate) fn all(parts: Vec<Cond>) -> Option<Cond> {
        let open = |c: Cond| if let Cond::All(inner) = c { inner } else { vec![c] };
        joined(parts.into_iter().flat_map(open), Cond::All)
    }

    pub(crate) fn any(parts: Vec<Cond>) -> Option<Cond> {
        let open = |c: Cond| if let Cond::Any(inner) = c { inner } else { vec![c] };
        joined(parts.into_iter().flat_map(open), Cond::Any)
    }
}

fn joined(parts: impl Iterator<Item = Cond>, join: fn(Vec<Cond>) -> Cond) -> Option<Cond> {
    let mut kept: Vec<Cond> = Vec::new();
    for part in parts {
        if !kept.contains(&part) {
            kept.push(part);
        }
    }
    if kept.len() > 1 { Some(join(kept)) } else { kept.pop() }
}

/// A string literal of the rule language.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

impl fmt::Display for Cond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cond::Effect(verb) => write!(f, "effect_is({verb})"),
            Cond::Resource(name) => write!(f, "resource_in({})", quoted(name)),
            Cond::Recipient(name) => write!(f, "recipient_in({})", quoted(name)),
            Cond::Label(label) => write!(f, "data_scope_is({})", quoted(label)),
            Cond::Requested => f.write_str("requested()"),
            Cond::Not(inner) => match inner.as_ref() {
                Cond::All(_) | Cond::Any(_) => write!(f, "not ({inner})"),
                _ => write!(f, "not {inner}"),
            },
            Cond::All(parts) => write_joined(f, parts, " and "),
            Cond::Any(parts) => write_joined(f, parts, " or "),
        }
    }
}

fn write_joined(f: &mut fmt::Formatter<'_>, parts: &[Cond], join: &str) -> fmt::Result {
    for (n, part) in parts.iter().enumerate() {
        if n > 0 {
            f.write_str(join)?;
        }
        match part {
            Cond::Any(_) if join == " and " => write!(f, "({part})")?,
            _ => write!(f, "{part}")?,
        }
    }
    Ok(())
}

/// What a rule demands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Then {
    Forbid(String),
    Approval,
    Before(String, Option<String>),
    Limit { attr: &'static str, max: f64, unit: Option<String>, window: String },
    Except(String),
}

impl fmt::Display for Then {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Then::Forbid(verb) => write!(f, "forbid_effect({verb})"),
            Then::Approval => f.write_str("require_approval()"),
            Then::Before(verb, None) => write!(f, "require_before({verb}, same_resource)"),
            Then::Before(verb, Some(name)) => write!(f, "require_before({verb}, {})", quoted(name)),
            Then::Limit { attr, max, unit, window } => {
                let unit = unit.as_ref().map(|u| format!(" {u}")).unwrap_or_default();
                write!(f, "limit({attr}, {max}{unit}, per {window})")
            }
            Then::Except(id) => write!(f, "except({id})"),
        }
    }
}

pub(crate) fn rule(guard: Vec<Cond>, then: &Then) -> String {
    match Cond::all(guard) {
        Some(guard) => format!("if {guard} then {then}"),
        None => format!("if always then {then}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_read_as_they_are_printed() {
        let at = |name: &str| Cond::Resource(name.into());
        let guard =
            vec![Cond::any(vec![at("a/**"), at("b\\*")]).unwrap(), Cond::all(vec![Cond::Requested.not()]).unwrap()];
        assert_eq!(
            rule(guard, &Then::Forbid("write".into())),
            r#"if (resource_in("a/**") or resource_in("b\\*")) and not requested() then forbid_effect(write)"#
        );
        assert_eq!(rule(vec![], &Then::Approval), "if always then require_approval()");
        let outside = Cond::any(vec![at("a/**"), at("b/**")]).unwrap().not();
        assert_eq!(
            rule(vec![outside], &Then::Before("backup".into(), None)),
            r#"if not (resource_in("a/**") or resource_in("b/**")) then require_before(backup, same_resource)"#
        );
    }
}
