//! The machine: its name, and which processes run.

use std::fs;

/// Name of the machine; `unknown` where the system does not tell.
pub fn host_name() -> String {
    let name = nix::unistd::gethostname().ok();
    name.and_then(|name| name.into_string().ok())
        .unwrap_or_else(|| "unknown".to_owned())
}

/// When a process started, as the machine counts it; `None` when there is none, or the system does not tell.
pub fn start_of(process: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // field 22; the name of the program, field 2, is in parentheses and may hold anything
    let (_, fields) = text.rsplit_once(')')?;
    fields.split_whitespace().nth(19).map(String::from)
}
