//! Reading what stands behind `then`.

use super::{
    ast::{Consequence, Target, Window},
    diagnostic::did_you_mean,
    lexer::Token,
    parse::{Parser, Read},
    words::{CONSEQUENCES, WINDOWS, example, names},
};
use crate::domain::RuleId;

impl Parser {
    pub(super) fn consequence(&mut self) -> Read<Consequence> {
        let (token, span) = (self.peek().clone(), self.span());
        let all = || format!("the consequences are {}", names(&CONSEQUENCES).collect::<Vec<_>>().join(", "));
        let Token::Word(name) = token else {
            return if self.errors.is_empty() { self.expected("a consequence", Some(all())) } else { None };
        };
        let Some(example) = example(&CONSEQUENCES, &name) else {
            let hint = did_you_mean(&name, names(&CONSEQUENCES)).unwrap_or_else(all);
            return self.wrong(span, format!("there is no consequence `{name}`"), Some(hint));
        };
        self.bump();
        self.open(&name, example)?;
        let consequence = match name.as_str() {
            "forbid_tool_call" => Consequence::ForbidToolCall(self.text(example)?),
            "forbid_tool_arg" => {
                let tool = self.text(example)?;
                self.comma(example)?;
                let arg = self.text(example)?;
                self.comma(example)?;
                Consequence::ForbidToolArg { tool, arg, value: self.value()? }
            }
            "forbid_env_action" => Consequence::ForbidEnvAction(self.text(example)?),
            "forbid_effect" => Consequence::ForbidEffect(self.verb_class()?),
            "require_approval" => Consequence::RequireApproval,
            "require_before" => {
                let verb = self.verb()?;
                self.comma(example)?;
                let target = if self.eat_word("same_resource") {
                    Target::SameResource
                } else {
                    Target::Named(self.pattern("require_before(list, \"records/**\")")?)
                };
                Consequence::RequireBefore { verb, target }
            }
            "limit" => self.limit(example)?,
            _ => Consequence::Except(self.rule_id(example)?),
        };
        self.close(example)?;
        Some(consequence)
    }

    fn limit(&mut self, example: &str) -> Read<Consequence> {
        let attr = self.text(example)?;
        self.comma(example)?;
        let max = self.number(example)?;
        let unit = match self.peek() {
            Token::Comma => None,
            // The comma is missing, and the window is no unit.
            Token::Word(word) if word == "per" && *self.second() != Token::Comma => None,
            _ => Some(self.text(example)?),
        };
        self.comma(example)?;
        Some(Consequence::Limit { attr, max, unit, window: self.window()? })
    }

    fn window(&mut self) -> Read<Window> {
        let all = || Some(format!("the windows are {WINDOWS}"));
        if !self.eat_word("per") {
            return self.expected("`per`", all());
        }
        let span = self.span();
        let Token::Word(word) = self.peek().clone() else {
            return self.expected("a window", all());
        };
        self.bump();
        match word.as_str() {
            "call" => Some(Window::Call),
            "session" => Some(Window::Session),
            "total" => Some(Window::Total),
            "rolling" => self.rolling(),
            "calendar" if self.eat_word("day") => Some(Window::CalendarDay),
            "calendar" if self.eat_word("week") => Some(Window::CalendarWeek),
            "calendar" => self.expected("`day` or `week`", all()),
            "day" | "week" => {
                let hint = Some(format!("write `per calendar {word}`, or `per rolling 1 d`"));
                self.wrong(span, format!("`per {word}` can be meant in two ways"), hint)
            }
            word => {
                let hint = did_you_mean(word, ["call", "session", "total", "rolling", "calendar"]).or_else(all);
                self.wrong(span, format!("there is no window `{word}`"), hint)
            }
        }
    }

    fn rolling(&mut self) -> Read<Window> {
        let span = self.span();
        let count = self.number("per rolling 12 h")?;
        if count.fract() != 0.0 || !(1.0..=f64::from(u32::MAX)).contains(&count) {
            return self.wrong(
                span,
                "a rolling window has a whole number",
                Some("write `per rolling 12 h`".to_owned()),
            );
        }
        let count = count as u32;
        if self.eat_word("h") {
            Some(Window::RollingHours(count))
        } else if self.eat_word("d") {
            Some(Window::RollingDays(count))
        } else {
            self.expected("`h` or `d`", Some("hours or days: `per rolling 12 h`".to_owned()))
        }
    }

    fn rule_id(&mut self, example: &str) -> Read<RuleId> {
        let span = self.span();
        let id = self.text(example)?;
        match id.parse() {
            Ok(id) => Some(id),
            Err(_) => {
                let hint = Some("rules are named `c4`, `§2` (or `u2`) and `s1`".to_owned());
                self.wrong(span, format!("`{id}` is no rule id"), hint)
            }
        }
    }
}
