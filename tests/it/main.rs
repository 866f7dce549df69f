//! Integration tests: one binary, one module per subject.

mod bad_input; // wrong scenarios and command lines: what the user reads
