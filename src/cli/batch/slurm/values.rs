//! Values that stand in job scripts: checked when they are read, quoted when they are written.

use std::str::FromStr;

/// Options of `sbatch` that the batch sets itself.
const TAKEN: [&str; 19] = [
    "account",
    "array",
    "chdir",
    "cpus-per-task",
    "dependency",
    "error",
    "job-name",
    "mem",
    "no-requeue",
    "nodes",
    "ntasks",
    "open-mode",
    "output",
    "parsable",
    "partition",
    "requeue",
    "signal",
    "time",
    "wrap",
];

/// A time limit as `sbatch --time` takes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimeLimit {
    /// As given.
    pub text: String,
    /// Its length \[s\].
    pub seconds: u64,
}

impl FromStr for TimeLimit {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is no time limit: expected minutes, minutes:seconds, hours:minutes:seconds, days-hours, \
                 days-hours:minutes or days-hours:minutes:seconds, such as 01:30:00"
            )
        };
        let (days, rest) = match text.split_once('-') {
            Some((days, rest)) => (Some(number(days).ok_or_else(wrong)?), rest),
            None => (None, text),
        };
        let parts: Option<Vec<u64>> = rest.split(':').map(number).collect();
        let parts = parts.ok_or_else(wrong)?;
        let (hours, minutes, seconds) = match (days.is_some(), parts.as_slice()) {
            (false, [minutes]) => (0, *minutes, 0),
            (false, [minutes, seconds]) => (0, *minutes, *seconds),
            (true, [hours]) => (*hours, 0, 0),
            (true, [hours, minutes]) => (*hours, *minutes, 0),
            (_, [hours, minutes, seconds]) => (*hours, *minutes, *seconds),
            _ => return Err(wrong()),
        };
        let hours = days.unwrap_or(0) * 24 + hours;
        let seconds = (hours * 60 + minutes) * 60 + seconds;
        if seconds == 0 {
            return Err(format!(
                "`{text}`: a time limit of 0 is none: it must be finite, for states to be saved"
            ));
        }
        let text = text.to_owned();
        Ok(Self { text, seconds })
    }
}

/// At most eight digits, so that nothing overflows.
fn number(text: &str) -> Option<u64> {
    let is_short = (1..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    is_short.then(|| text.parse().ok()).flatten()
}

/// Memory of a job as `sbatch --mem` takes it.
///
/// # Errors
/// When it is not a whole number with K, M, G, T or nothing behind it.
pub(super) fn memory(text: &str) -> Result<String, String> {
    let digits = text.strip_suffix(['K', 'M', 'G', 'T', 'k', 'm', 'g', 't']);
    match number(digits.unwrap_or(text)) {
        Some(1..) => Ok(text.to_owned()),
        _ => {
            Err("expected a whole number of MiB, or with K, M, G or T behind it, such as 4G".into())
        }
    }
}

/// A name of a partition, an account or a job.
///
/// # Errors
/// When it has other characters than such names have.
pub(super) fn name(text: &str) -> Result<String, String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.,:@+/=".contains(c);
    if !text.is_empty() && !text.starts_with('-') && text.chars().all(fits) {
        return Ok(text.to_owned());
    }
    Err("expected letters, digits and `_-.,:@+/=`, not starting with `-`".into())
}

/// A further option of `sbatch`: `--name` or `--name=value`.
///
/// # Errors
/// When it has another form, or the batch sets it itself.
pub(super) fn option(text: &str) -> Result<String, String> {
    let form = || {
        "expected `--name` or `--name=value`, such as --sbatch-option=--constraint=ib".to_owned()
    };
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let name = name.strip_prefix("--").ok_or_else(form)?;
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || !name.chars().all(fits) || value.chars().any(char::is_control) {
        return Err(form());
    }
    if TAKEN.contains(&name) {
        return Err(format!(
            "`--{name}` is set by the batch itself or has a flag of its own"
        ));
    }
    Ok(text.to_owned())
}

/// A value in a line `#SBATCH --option=VALUE`.
///
/// sbatch takes quotes and backslashes as a shell does, and `#` outside quotes starts a comment.
pub(super) fn for_directive(value: &str) -> String {
    if is_plain(value) {
        return value.to_owned();
    }
    let mut quoted = String::from("\"");
    for c in value.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted + "\""
}

/// A word of a shell command.
pub(super) fn for_shell(value: &str) -> String {
    if is_plain(value) {
        return value.to_owned();
    }
    format!("'{}'", value.replace('\'', "'\\''"))
}

/// Whether nothing in a value means anything to a shell or to sbatch.
fn is_plain(value: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "_-.,:@+/=".contains(c);
    !value.is_empty() && value.chars().all(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_limits_are_those_of_slurm() {
        for (text, seconds) in [
            ("90", 5400),
            ("1:30", 90),
            ("01:00:00", 3600),
            ("2-0", 172_800),
            ("1-2:30", 95_400),
            ("1-02:30:05", 95_405),
        ] {
            let limit: TimeLimit = text.parse().unwrap();
            assert_eq!((limit.text.as_str(), limit.seconds), (text, seconds));
        }
        for text in [
            "",
            "0",
            "00:00:00",
            "1h",
            "-5",
            "1:2:3:4",
            "1-",
            "UNLIMITED",
            "1:",
            "999999999",
            "1 0",
        ] {
            assert!(text.parse::<TimeLimit>().is_err(), "{text}");
        }
    }

    #[test]
    fn wrong_values_are_refused() {
        for text in ["4G", "512", "16000M"] {
            assert_eq!(memory(text).as_deref(), Ok(text));
        }
        for text in ["", "0", "0G", "4GB", "4.5G", "-1", "G"] {
            assert!(memory(text).is_err(), "{text}");
        }
        for text in ["long", "gpu,cpu", "user@project"] {
            assert_eq!(name(text).as_deref(), Ok(text));
        }
        for text in ["", "a b", "-x", "a\nb", "a\"", "$(id)"] {
            assert!(name(text).is_err(), "{text}");
        }
        for text in ["--exclusive", "--constraint=a&b", "--comment=two words"] {
            assert_eq!(option(text).as_deref(), Ok(text));
        }
        for text in [
            "exclusive",
            "-C ib",
            "--",
            "--array=0-3",
            "--time=1",
            "--a\nb",
            "--comment=a\nb",
            "--no-requeue",
        ] {
            assert!(option(text).is_err(), "{text}");
        }
    }

    #[test]
    fn values_are_quoted_where_they_need_it() {
        assert_eq!(for_directive("/a/b-1.x"), "/a/b-1.x");
        assert_eq!(for_directive(r#"/a b/"c"\d#e"#), r#""/a b/\"c\"\\d#e""#);
        assert_eq!(for_shell("/a/b-1.x"), "/a/b-1.x");
        assert_eq!(for_shell("/it's $HOME `x`"), r"'/it'\''s $HOME `x`'");
        assert_eq!(for_shell(""), "''");
    }
}
