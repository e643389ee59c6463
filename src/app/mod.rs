//! Composition root: command line, configuration, logging; wires the adapters together.
