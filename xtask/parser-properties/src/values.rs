//! The values of the domain.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use guerdon_domain::companies::OwnerName;
use guerdon_domain::events::EventFacts;
use guerdon_domain::money::{Amount, Points, PointsPerDollar};
use guerdon_domain::recognitions::Receivers;
use guerdon_domain::values::{
    CalendarDate, CountryCode, DomainName, EmailAddress, EntityId, Groups, IsoDate, Message, MonthDay,
    PemCertificate, SingleLine, Timestamp, UserId, WebUrl,
};

use crate::with_text;

/// Asserts that the string form of a parsed value is parsed to the same value.
fn assert_round_trip<T: Display + PartialEq + Debug, E>(text: &str, parse: impl Fn(&str) -> Result<T, E>) {
    if let Ok(value) = parse(text) {
        let again = parse(&value.to_string()).ok();
        assert_eq!(again.as_ref(), Some(&value), "{text:?} is shown as {value}");
    }
}

fn assert_from_str<T: FromStr + Display + PartialEq + Debug>(text: &str) {
    assert_round_trip(text, str::parse::<T>);
}

pub(crate) fn check_email(input: &[u8]) {
    with_text(input, |text| {
        let Ok(address) = EmailAddress::parse(text) else { return };
        assert_eq!(address.as_str(), text);
        let folded = EmailAddress::parse(address.folded());
        assert!(folded.is_ok_and(|folded| folded == address && folded.as_str() == address.folded()));
    });
}

pub(crate) fn check_domain(input: &[u8]) {
    with_text(input, |text| assert_round_trip(text, DomainName::parse));
}

pub(crate) fn check_url(input: &[u8]) {
    with_text(input, |text| {
        assert_round_trip(text, WebUrl::parse);
        assert!(WebUrl::parse(text).map_or(true, |url| url.as_str() == text));
    });
}

pub(crate) fn check_text(input: &[u8]) {
    with_text(input, |text| {
        assert_round_trip(text, SingleLine::parse);
        assert_round_trip(text, Message::parse);
        assert_round_trip(text, CountryCode::parse);
        assert!(EntityId::parse(text).map_or(true, |id| id.as_str() == text));
        if let Ok(Some(groups)) = Groups::parse(text) {
            assert_eq!(Groups::parse(groups.as_str()), Ok(Some(groups)));
        }
        if let Ok((first, last)) = OwnerName::new(text).into_parts() {
            let last = last.map(|last| format!(" {last}")).unwrap_or_default();
            assert_eq!(format!("{first}{last}"), text);
        }
    });
}

pub(crate) fn check_time(input: &[u8]) {
    with_text(input, |text| {
        assert_round_trip(text, IsoDate::parse);
        assert_round_trip(text, MonthDay::parse);
        assert_round_trip(text, CalendarDate::parse);
        let Ok(timestamp) = Timestamp::parse(text) else { return };
        assert_eq!(Timestamp::from_unix_micros(timestamp.unix_micros()), Some(timestamp));
        let shown = Timestamp::parse(&timestamp.to_string());
        assert!(shown.is_ok_and(|shown| shown.unix_micros() == timestamp.unix_micros() / 1_000 * 1_000));
    });
}

pub(crate) fn check_money(input: &[u8]) {
    with_text(input, |text| {
        assert_from_str::<Amount>(text);
        assert_from_str::<PointsPerDollar>(text);
        let (number, rate) = text.split_once(' ').unwrap_or((text, "50"));
        let (Ok(points), Ok(rate)) = (number.parse::<Points>(), rate.parse::<PointsPerDollar>()) else {
            return;
        };
        if let Some(amount) = rate.to_amount(points) {
            assert_eq!(rate.shown_points(amount), points, "at {rate}");
        }
    });
}

pub(crate) fn check_ids(input: &[u8]) {
    with_text(input, |text| {
        assert_from_str::<UserId>(text);
        assert_round_trip(text, |text| EventFacts::parse(text).ok_or(()));
        let Ok(receivers) = Receivers::parse(text) else { return };
        let joined: Vec<String> = receivers.ids().iter().map(ToString::to_string).collect();
        assert_eq!(Receivers::parse(&joined.join(",")), Ok(receivers));
    });
}

pub(crate) fn check_certificate(input: &[u8]) {
    with_text(input, |text| {
        let Ok(certificate) = PemCertificate::parse(text) else { return };
        assert_eq!(certificate.as_str(), text);
        let shown = certificate.expires_at().to_string();
        assert!(
            Timestamp::parse(&shown).is_ok() || certificate.expires_at() < Timestamp::UNIX_EPOCH,
            "{shown}"
        );
    });
}
