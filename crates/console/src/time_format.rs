//! Formats times and dates, all in UTC.

use maud::{Markup, html};
use time::format_description::StaticFormatDescription;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;
use time::{Date, OffsetDateTime, UtcOffset};

use crate::numbers;

const TIMESTAMP: StaticFormatDescription =
    format_description!("[year]-[month]-[day] [hour]:[minute]:[second]");
const HOUR: StaticFormatDescription = format_description!("[hour]:[minute]");
const TIME_OF_DAY: StaticFormatDescription = format_description!("[hour]:[minute]:[second]");
const DAY: StaticFormatDescription = format_description!("[day padding:none] [month repr:short]");
const DATE: StaticFormatDescription = format_description!("[year]-[month]-[day]");

fn format_utc(at: OffsetDateTime, form: StaticFormatDescription) -> String {
    at.checked_to_offset(UtcOffset::UTC).unwrap_or(at).format(form).unwrap_or_default()
}

/// Formats as `14:00`.
pub(crate) fn format_hour(at: OffsetDateTime) -> String {
    format_utc(at, HOUR)
}

/// Formats as `20 Nov`.
pub(crate) fn format_day(at: OffsetDateTime) -> String {
    format_utc(at, DAY)
}

/// Renders `2026-11-20 14:35:10` in a machine-readable `time` element.
pub(crate) fn render_timestamp(at: OffsetDateTime) -> Markup {
    let exact = at.checked_to_offset(UtcOffset::UTC).and_then(|utc| utc.format(&Rfc3339).ok());
    html! { time datetime=[exact] { (format_utc(at, TIMESTAMP)) } }
}

/// Renders `14:35:10` in a `time` element that contains the exact time in machine-readable form.
pub(crate) fn render_time_of_day(at: OffsetDateTime) -> Markup {
    let exact = at.checked_to_offset(UtcOffset::UTC).and_then(|utc| utc.format(&Rfc3339).ok());
    html! { time datetime=[exact] { (format_utc(at, TIME_OF_DAY)) } }
}

/// Renders the time and its age.
pub(crate) fn render_timestamp_with_age(now: OffsetDateTime, at: OffsetDateTime) -> Markup {
    html! { (render_timestamp(at)) " " span.ago.soft { "(" (format_age(now, at)) ")" } }
}

/// Formats an age as `3 min 4 s ago`, or a time in the future as `in 3 min 4 s`.
pub(crate) fn format_age(now: OffsetDateTime, at: OffsetDateTime) -> String {
    match (now - at).whole_seconds() {
        0 => "now".to_owned(),
        past @ 1.. => format!("{} ago", numbers::format_seconds(past)),
        future => format!("in {}", numbers::format_seconds(future.saturating_neg())),
    }
}

/// Formats as `2026-11-20`.
pub(crate) fn format_date(day: Date) -> String {
    day.format(DATE).unwrap_or_default()
}

/// Renders `2026-11-20` in a machine-readable `time` element.
pub(crate) fn render_date(day: Date) -> Markup {
    html! { time datetime=(format_date(day)) { (format_date(day)) } }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn times_are_formatted_in_utc() {
        let at = datetime!(2026-11-20 01:05:09.25 +2);
        assert_eq!((format_hour(at), format_day(at)), ("23:05".into(), "19 Nov".into()));
        let expected = "<time datetime=\"2026-11-19T23:05:09.25Z\">2026-11-19 23:05:09</time>";
        assert_eq!(render_timestamp(at).into_string(), expected);
        assert_eq!(format_date(datetime!(0099-01-02 00:00 UTC).date()), "0099-01-02");
    }

    #[test]
    fn ages_look_back_and_ahead() {
        let now = datetime!(2026-11-20 14:00 UTC);
        assert_eq!(format_age(now, datetime!(2026-11-20 13:57 UTC)), "3 min ago");
        assert_eq!(format_age(now, datetime!(2026-11-21 15:00 UTC)), "in 1 d 1 h");
        assert_eq!(format_age(now, now), "now");
    }
}
