//! Formats numbers.

/// Formats with thousands separators: `1,234,567`.
pub fn format_integer(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let sign = if value < 0 { "−" } else { "" };
    let mut text = String::from(sign);
    for (place, digit) in (0..digits.len()).rev().zip(digits.chars()) {
        text.push(digit);
        if place > 0 && place % 3 == 0 {
            text.push(',');
        }
    }
    text
}

/// Formats a count. A count above `i64::MAX` is shown as `i64::MAX`.
pub(crate) fn format_count(value: u64) -> String {
    format_integer(i64::try_from(value).unwrap_or(i64::MAX))
}

/// Formats a count with its noun: `1 event`, `12 events`.
pub fn count_with_noun(value: u64, one: &str, many: &str) -> String {
    format!("{} {}", format_count(value), if value == 1 { one } else { many })
}

/// Formats in at most about six characters: `9,999`, `12.3k`, `4M`, `9,223,372T`. Truncates instead of rounding, so
/// that nothing looks larger than it is.
pub(crate) fn format_compact(value: i64) -> String {
    const UNITS: [(u64, &str); 4] =
        [(1_000_000_000_000, "T"), (1_000_000_000, "B"), (1_000_000, "M"), (1_000, "k")];
    let magnitude = value.unsigned_abs();
    let unit = UNITS.iter().find(|(unit, _)| magnitude >= *unit);
    let (Some((unit, letter)), true) = (unit, magnitude >= 10_000) else { return format_integer(value) };
    let (whole, tenth) = (magnitude / unit, magnitude % unit * 10 / unit);
    let sign = if value < 0 { "−" } else { "" };
    if tenth == 0 || whole >= 1_000 {
        format!("{sign}{}{letter}", format_count(whole))
    } else {
        format!("{sign}{whole}.{tenth}{letter}")
    }
}

/// Formats a duration in microseconds to two or three digits: `850 µs`, `1.2 ms`, `15 s`.
pub(crate) fn format_micros(value: i64) -> String {
    let short = |value: i64, unit: i64, name: &str| {
        let (whole, tenth) = (value / unit, value % unit * 10 / unit);
        if tenth == 0 || whole >= 100 { format!("{whole} {name}") } else { format!("{whole}.{tenth} {name}") }
    };
    match value.max(0) {
        micros @ 0..1_000 => format!("{micros} µs"),
        micros @ 1_000..1_000_000 => short(micros, 1_000, "ms"),
        micros @ 1_000_000..60_000_000 => short(micros, 1_000_000, "s"),
        micros => format_seconds(micros / 1_000_000),
    }
}

/// Formats a duration in seconds in its two largest units: `45 s`, `9 min 42 s`, `3 d 4 h`.
pub fn format_seconds(value: i64) -> String {
    let value = value.max(0);
    let units = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let first = units.iter().position(|(unit, _)| value >= *unit).unwrap_or(3);
    let mut left = value;
    let mut parts = Vec::new();
    for (unit, name) in units.iter().skip(first).take(2) {
        let part = left / unit;
        left %= unit;
        if part > 0 || parts.is_empty() {
            parts.push(format!("{} {name}", format_integer(part)));
        }
    }
    parts.join(" ")
}

/// Formats a size: `512 B`, `48.2 MiB`.
pub(crate) fn format_bytes(value: u64) -> String {
    const UNITS: [(u64, &str); 4] = [(1 << 40, "TiB"), (1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match UNITS.iter().find(|(unit, _)| value >= *unit) {
        Some((unit, name)) => {
            let tenth = u128::from(value % unit) * 10 / u128::from(*unit);
            format!("{}.{tenth} {name}", format_count(value / unit))
        }
        None => format!("{value} B"),
    }
}

/// Formats a share in percent, truncated, so that `100%` is shown only for the whole. `None` if `whole` is 0.
pub(crate) fn format_percent(part: u64, whole: u64) -> Option<String> {
    let hundredths = (u128::from(part) * 10_000).checked_div(u128::from(whole))?;
    let (percent, rest) = (hundredths / 100, hundredths % 100);
    Some(if rest == 0 { format!("{percent}%") } else { format!("{percent}.{rest:02}%") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_thousands_separators() {
        let check = |value: i64, expected: &str| assert_eq!(format_integer(value), expected);
        check(0, "0");
        check(999, "999");
        check(1_000, "1,000");
        check(-1_234_567, "−1,234,567");
        check(i64::MAX, "9,223,372,036,854,775,807");
        check(i64::MIN, "−9,223,372,036,854,775,808");
        assert_eq!(format_count(u64::MAX), format_integer(i64::MAX));
        assert_eq!(
            (count_with_noun(1, "event", "events"), count_with_noun(0, "event", "events")),
            ("1 event".into(), "0 events".into())
        );
    }

    #[test]
    fn large_numbers_are_short() {
        let check = |value: i64, expected: &str| assert_eq!(format_compact(value), expected);
        check(0, "0");
        check(9_999, "9,999");
        check(10_000, "10k");
        check(12_399, "12.3k");
        check(-12_399, "−12.3k");
        check(999_999, "999.9k");
        check(4_000_000, "4M");
        check(9_000_000_000, "9B");
        check(i64::MAX, "9,223,372T");
        check(i64::MIN, "−9,223,372T");
    }

    #[test]
    fn durations_use_fitting_units() {
        let check = |value: i64, expected: &str| assert_eq!(format_micros(value), expected);
        check(-5, "0 µs");
        check(850, "850 µs");
        check(1_250, "1.2 ms");
        check(412_900, "412 ms");
        check(15_000_000, "15 s");
        check(582_000_000, "9 min 42 s");
        check(i64::MAX, "106,751,991 d 4 h");
        assert_eq!(
            (format_seconds(0), format_seconds(3_600), format_seconds(86_460)),
            ("0 s".into(), "1 h".into(), "1 d".into())
        );
    }

    #[test]
    fn sizes_and_shares() {
        assert_eq!(
            (format_bytes(0), format_bytes(1_536), format_bytes(u64::MAX)),
            ("0 B".into(), "1.5 KiB".into(), "16,777,215.9 TiB".into())
        );
        let check = |part, whole, expected: Option<&str>| {
            assert_eq!(format_percent(part, whole).as_deref(), expected)
        };
        check(0, 0, None);
        check(1, 1, Some("100%"));
        check(999_999, 1_000_000, Some("99.99%"));
        check(1, 3, Some("33.33%"));
        check(u64::MAX, u64::MAX, Some("100%"));
    }
}
