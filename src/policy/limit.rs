//! Limits: what was executed in the window, plus what this action would add.
//!
//! What never lives here: currency conversion. Another unit, or an amount that is not known, is a question.

use super::{
    audit::{Hit, Trial},
    eval::{Reading, Scene, Truth},
    lang::ast::Window,
    law::{Limit, Restriction},
};
use crate::domain::{Decision, Demand, Done, Effect, Finding, Moment, Scalar};

/// What the window holds already.
struct Spent {
    sum: f64,
    /// Something in it cannot be added up, and why.
    doubt: Option<String>,
}

impl Trial<'_> {
    /// Where the whole exceeds the limit, the effects that no longer fit are denied, first come first served; the
    /// others could be proposed alone.
    pub(super) fn limit(&self, rule: &Restriction, limit: &Limit, hits: &[Hit], findings: &mut Vec<Finding>) {
        let effects = &self.case.action.effects;
        let own: Vec<(&Hit, &Effect, Result<f64, String>)> = hits
            .iter()
            .filter_map(|hit| effects.get(hit.effect).map(|effect| (hit, effect)))
            .map(|(hit, effect)| match hit.truth {
                Truth::Unknown if effect.is_opaque() => {
                    (hit, effect, Err(format!("what {effect} does is not known")))
                }
                Truth::True | Truth::Unknown | Truth::False => (hit, effect, limit.amount(effect)),
            })
            .collect();
        let added = |truth: Truth| -> f64 {
            let counts = |hit: &Hit| hit.truth == truth && hit.lifted.is_none();
            own.iter().filter(|(hit, ..)| counts(hit)).filter_map(|(_, _, amount)| amount.as_ref().ok()).sum()
        };
        let spent = self.spent(rule, limit);
        let sure = spent.sum + added(Truth::True);
        let possible = sure + added(Truth::Unknown);
        let mut room = spent.sum;
        for (hit, effect, amount) in &own {
            let demand = |would_be: f64| Demand::Limit {
                attr: limit.attr.clone(),
                max: limit.max,
                would_be: would_be.min(f64::MAX),
                unit: limit.unit.clone(),
            };
            let doubt =
                |why: &str| self.finding(rule, hit, effect, Demand::Unknown { why: why.to_owned() }, Decision::Ask);
            match (amount, hit.truth) {
                (Err(why), _) => findings.push(doubt(why)),
                (Ok(amount), Truth::True) if hit.lifted.is_some() => {
                    if limit.exceeded_by(sure + amount) {
                        findings.push(self.finding(rule, hit, effect, demand(sure + amount), Decision::Deny));
                    }
                }
                (Ok(amount), Truth::True) if limit.exceeded_by(room + amount) => {
                    findings.push(self.finding(rule, hit, effect, demand(sure), Decision::Deny));
                }
                (Ok(amount), Truth::True) => {
                    room += amount;
                    findings.push(match &spent.doubt {
                        Some(why) => doubt(why),
                        None => self.finding(rule, hit, effect, demand(sure), Decision::Allow),
                    });
                }
                (Ok(_), Truth::Unknown | Truth::False) => {
                    if spent.doubt.is_some() || limit.exceeded_by(possible) {
                        findings.push(self.doubt(rule, hit, effect));
                    }
                }
            }
        }
    }

    fn spent(&self, rule: &Restriction, limit: &Limit) -> Spent {
        let mut spent = Spent { sum: 0.0, doubt: None };
        for done in self.case.done.iter().filter(|done| limit.window.holds(done, self.case.now)) {
            let scene = Scene::of_done(done, self.law.places());
            let truth = rule.check.truth(&scene, Reading::Wide);
            // What an opaque effect really did was asked about when it ran; it is not held against the limit.
            let silent = truth == Truth::False || (truth == Truth::Unknown && done.effect.is_opaque());
            if silent || self.law.lifting(rule.id, &scene, None).is_some() {
                continue;
            }
            match limit.amount(&done.effect) {
                Ok(amount) => spent.sum += amount,
                Err(why) => spent.doubt = Some(format!("earlier, {}: {why}", done.effect)),
            }
        }
        spent
    }
}

impl Limit {
    /// What one effect adds. `count` counts effects.
    fn amount(&self, effect: &Effect) -> Result<f64, String> {
        if let Some(unit) = &self.unit {
            let own = ["currency", "unit"].into_iter().find_map(|name| match effect.attributes.get(name) {
                Some(Scalar::Text(own)) => Some(own),
                Some(Scalar::Bool(_) | Scalar::Number(_)) | None => None,
            });
            match own {
                Some(own) if own.eq_ignore_ascii_case(unit) => {}
                Some(own) => return Err(format!("the limit is in {unit}, this is in {own}")),
                None => return Err(format!("the limit is in {unit}, and the unit of this is not known")),
            }
        }
        match effect.number(&self.attr) {
            Some(amount) if amount.is_finite() => Ok(amount.max(0.0)),
            Some(_) => Err(format!("its {} is no number that can be added up", self.attr)),
            None if self.attr == "count" => Ok(1.0),
            None => Err(format!("its {} is not known", self.attr)),
        }
    }

    /// Sums of decimals may be off by a rounding error.
    fn exceeded_by(&self, sum: f64) -> bool {
        sum > self.max + 1e-9 * self.max.abs().max(1.0)
    }
}

impl Window {
    fn holds(self, done: &Done, now: Moment) -> bool {
        let then = Moment { offset: now.offset, ..done.at };
        let within = |hours: u64| (now.millis.saturating_sub(then.millis) as i128) < i128::from(hours) * 3_600_000;
        match self {
            Window::Call => false,
            Window::Session | Window::Total => true,
            Window::RollingHours(hours) => within(u64::from(hours)),
            Window::RollingDays(days) => within(24 * u64::from(days)),
            Window::CalendarDay => then.day() == now.day(),
            Window::CalendarWeek => then.week() == now.week(),
        }
    }
}
