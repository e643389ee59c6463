//! Posterior of the residual hazard and its projections. Pure.
//!
//! A safety-critical opportunity is a proposal with an effect that is not reversible; it is an entry when its first
//! audit denied it or found a prerequisite unmet (GHOST, residual conditional entry hazard h_k). Entries are taken as
//! Bernoulli with a Beta prior, kept apart by the length of the context, because longer histories weaken what was
//! said early (GHOST, context-conditioned corollary).

use crate::domain::Hazard;
use statrs::distribution::{Beta, ContinuousCDF};

/// Prior of the proposal-level hazard: mean 0.05, worth ten opportunities.
const PRIOR: (f64, f64) = (0.5, 9.5);

/// Upper ends, in tokens, of the context-length bands; the last band is open.
const BANDS: [u64; 3] = [4_000, 16_000, 64_000];

/// Posterior of one band.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Which band: 0 holds the shortest contexts.
    pub band: usize,
    pub opportunities: u32,
    pub entries: u32,
    /// ĥ: posterior mean.
    pub mean: f64,
    /// Bounds of the central 80 % interval; each alone is a one-sided 90 % bound.
    pub lower: f64,
    pub upper: f64,
    /// Σĥ over all opportunities so far, each with the estimate that stood before it.
    pub sum: f64,
    /// Chance of at least one entry over the next ten opportunities without an audit: 1 − Π(1 − ĥ).
    pub next_ten: f64,
}

/// Which band a context of so many tokens falls in.
pub fn band(tokens: u64) -> usize {
    BANDS.iter().take_while(|end| tokens >= **end).count()
}

/// A band in words.
pub fn band_name(band: usize) -> &'static str {
    match band {
        0 => "under 4k tokens",
        1 => "4k to 16k tokens",
        2 => "16k to 64k tokens",
        _ => "over 64k tokens",
    }
}

/// The posterior of the band of the latest opportunity (of the shortest where there is none).
pub fn estimate(hazards: &[Hazard]) -> Estimate {
    let at = hazards.last().map_or(0, |h| band(h.tokens));
    let mut counts = [(0u32, 0u32); BANDS.len() + 1];
    let mut sum = 0.0;
    for hazard in hazards {
        if let Some((seen, entries)) = counts.get_mut(band(hazard.tokens)) {
            sum += mean(*seen, *entries);
            *seen += 1;
            *entries += u32::from(hazard.entry);
        }
    }
    let (opportunities, entries) = counts.get(at).copied().unwrap_or_default();
    let mean = mean(opportunities, entries);
    let (lower, upper) = bounds(opportunities, entries);
    Estimate { band: at, opportunities, entries, mean, lower, upper, sum, next_ten: 1.0 - (1.0 - mean).powi(10) }
}

fn mean(opportunities: u32, entries: u32) -> f64 {
    (PRIOR.0 + f64::from(entries)) / (PRIOR.0 + PRIOR.1 + f64::from(opportunities))
}

fn bounds(opportunities: u32, entries: u32) -> (f64, f64) {
    let (a, b) = (PRIOR.0 + f64::from(entries), PRIOR.1 + f64::from(opportunities.saturating_sub(entries)));
    match Beta::new(a, b) {
        Ok(beta) => (beta.inverse_cdf(0.1), beta.inverse_cdf(0.9)),
        Err(_) => (0.0, 1.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::ProposalId;

    fn seen(entries: &[bool], tokens: u64) -> Vec<Hazard> {
        let hazard = |(i, entry): (usize, &bool)| Hazard { proposal: ProposalId(i as u32), tokens, entry: *entry };
        entries.iter().enumerate().map(hazard).collect()
    }

    #[test]
    fn prior_and_posterior_have_the_known_means() {
        assert!((estimate(&[]).mean - 0.05).abs() < 1e-12);
        let e = estimate(&seen(&[true, false, true, false], 100));
        assert!((e.mean - 2.5 / 14.0).abs() < 1e-12);
        assert!(e.lower < e.mean && e.mean < e.upper, "{e:?}");
        assert!((e.next_ten - (1.0 - (1.0 - e.mean).powi(10))).abs() < 1e-12);
    }

    #[test]
    fn bounds_are_the_quantiles_of_the_beta_distribution() {
        // Beta(1.5, 9.5): P(x < lower) = 0.1, checked by integrating the density.
        let (lower, _) = bounds(1, 1);
        let density = |x: f64| x.powf(0.5) * (1.0 - x).powf(8.5);
        let integral = |to: f64| (0..100_000).map(|i| density((i as f64 + 0.5) * to / 1e5) * to / 1e5).sum::<f64>();
        assert!((integral(lower) / integral(1.0) - 0.1).abs() < 1e-4);
    }

    #[test]
    fn bands_are_kept_apart() {
        let mut hazards = seen(&[true; 8], 1_000);
        hazards.extend(seen(&[false; 3], 20_000));
        let e = estimate(&hazards);
        assert_eq!((e.band, e.opportunities, e.entries), (2, 3, 0));
        assert!(e.sum > 8.0 * 0.05, "{e:?}");
    }
}
