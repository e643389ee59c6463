//! Frames as a person sees them, keys as a person presses them.
