//! Sources of replies: an OpenAI-compatible endpoint, a script, a rehearsal.
