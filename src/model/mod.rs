//! Sources of replies: an OpenAI-compatible endpoint, a session file that is played, a simulated agent that rehearses.
//!
//! What never lives here: what a reply means. A call is passed on as it was said; whoever gets it sends it
//! through the audit.

pub mod openai;
pub mod rehearsal;
pub mod script;
pub mod scripted;
mod template;

use rustls::crypto::ring;

/// Chooses the TLS implementation. Must have run before any HTTP client is built (building panics otherwise), so
/// it comes first in the program and in tests; running it again changes nothing.
pub fn install_tls() {
    // An error says that a provider is installed already, which is all that is wanted.
    let _ = ring::default_provider().install_default();
}
