//! Posterior of the residual hazard and its projections. Pure.
