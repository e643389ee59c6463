//! Posterior of the residual hazard and its projections. Pure.

use crate::domain::Hazard;

/// The posterior of the proposal-level hazard under the prior Beta(0.5, 9.5).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    pub entries: u32,
    pub opportunities: u32,
    pub mean: f64,
    pub lower: f64,
    pub upper: f64,
    /// Chance of at least one entry over the next ten opportunities.
    pub next_ten: f64,
}

/// The estimate after `hazards`.
pub fn estimate(hazards: &[Hazard]) -> Estimate {
    let opportunities = u32::try_from(hazards.len()).unwrap_or(u32::MAX);
    let entries = u32::try_from(hazards.iter().filter(|h| h.entry).count()).unwrap_or(u32::MAX);
    let (a, b) = (0.5 + f64::from(entries), 9.5 + f64::from(opportunities - entries));
    let mean = a / (a + b);
    let spread = 1.645 * (mean * (1.0 - mean) / (a + b + 1.0)).sqrt();
    let (lower, upper) = ((mean - spread).max(0.0), (mean + spread).min(1.0));
    Estimate { entries, opportunities, mean, lower, upper, next_ten: 1.0 - (1.0 - mean).powi(10) }
}
