//! `--since`: a time, or an age.

use std::time::Duration;

use guerdon_domain::ports::{Clock as _, Timestamp};

use crate::commands::CommandError;
use crate::platform::SystemClock;

/// Parses a time in RFC 3339, or an age in seconds, minutes, hours or days such as `90s`, `30m`, `2h` or `7d`.
pub(crate) fn parse_time(text: &str, now: Timestamp) -> Result<Timestamp, String> {
    if let Ok(at) = Timestamp::parse(text) {
        return Ok(at);
    }
    let age = || {
        let (number, unit) = text.split_at_checked(text.len().checked_sub(1)?)?;
        let seconds = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            _ => return None,
        };
        let number: u32 = number.parse().ok().filter(|number| *number <= 100_000)?;
        Some(now - Duration::from_secs(u64::from(number) * seconds))
    };
    age().ok_or_else(|| {
        "must be a time such as 2026-11-20T20:01:02Z, or an age such as 30m, 2h or 7d".to_owned()
    })
}

/// Parses a time or an age, if one is given.
pub(crate) fn parse_optional_time(text: Option<&String>) -> Result<Option<Timestamp>, CommandError> {
    text.map(|text| parse_time(text, SystemClock.now())).transpose().map_err(CommandError::refused)
}

/// Checks a time or an age. Returns the string, because it may be sent to a running `serve`.
pub(crate) fn check_time(text: &str) -> Result<String, String> {
    parse_time(text, SystemClock.now()).map(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_counts_back_from_now() {
        let now = Timestamp::parse("2026-11-20T20:01:02Z").unwrap();
        let check = |text, expected: &str| assert_eq!(parse_time(text, now).unwrap().to_string(), expected);
        check("2h", "2026-11-20T18:01:02.000Z");
        check("90s", "2026-11-20T19:59:32.000Z");
        check("1m", "2026-11-20T20:00:02.000Z");
        check("7d", "2026-11-13T20:01:02.000Z");
        check("2026-11-01T00:00:00+01:00", "2026-10-31T23:00:00.000Z");
        for wrong in ["", "h", "2", "-1h", "1.5h", "2w", "100001d", "é"] {
            assert!(parse_time(wrong, now).is_err(), "{wrong}");
        }
    }
}
