//! What of the law the model is told: rank, budget, rendered fragments, compaction of the conversation. Pure.
