//! Numbers as strings.

use proptest::prelude::*;

use super::super::{Amount, Points, PointsPerDollar};

#[test]
fn an_amount_is_dollars_with_two_to_nine_decimals() {
    let check = |nanodollars: i64, shown: &str| {
        let amount = Amount::from_nanodollars(nanodollars);
        assert_eq!(amount.to_string(), shown);
        assert_eq!(shown.parse(), Ok(amount), "{shown}");
    };
    check(0, "0.00");
    check(2_500_000_000, "2.50");
    check(-1, "-0.000000001");
    check(333_333_333, "0.333333333");
    check(1_000_000_000_000, "1000.00");
    check(i64::MAX, "9223372036.854775807");
    check(i64::MIN, "-9223372036.854775808");
    assert_eq!("7".parse(), Ok(Amount::from_nanodollars(7_000_000_000)));
    let refused =
        ["", "-", ".", "1.", ".5", "1.0000000001", "9223372036.854775808", "+1", "--1", "1e3", " 1", "١"];
    for text in refused {
        let error = text.parse::<Amount>().unwrap_err().to_string();
        assert!(error.contains(&format!("{text:?}")), "{error}");
    }
}

#[test]
fn points_and_rates_are_whole_numbers_in_their_range() {
    assert_eq!("125".parse::<Points>().map(i64::from), Ok(125));
    assert_eq!("50".parse(), Ok(PointsPerDollar::DEFAULT));
    assert_eq!((Points::ZERO.to_string(), PointsPerDollar::DEFAULT.to_string()), ("0".into(), "50".into()));
    let error = Points::try_from(-1).unwrap_err().to_string();
    assert_eq!(error, "\"-1\" must be a whole number of points, at least 0");
    for refused in ["0", "10001", "-1", "x", ""] {
        assert!(refused.parse::<PointsPerDollar>().is_err(), "{refused}");
    }
}

proptest! {
    #[test]
    fn every_amount_is_parsed_from_its_own_text_form(nanodollars: i64) {
        let amount = Amount::from_nanodollars(nanodollars);
        prop_assert_eq!(amount.to_string().parse(), Ok(amount));
    }
}

#[test]
fn serde_accepts_the_same_values_as_the_types() {
    let amount = Amount::from_nanodollars(2_500_000_000);
    assert_eq!(serde_json::to_string(&(amount, PointsPerDollar::DEFAULT)).unwrap(), "[\"2.50\",50]");
    assert_eq!(serde_json::from_str::<Amount>("\"2.5\"").unwrap(), amount);
    assert!(serde_json::from_str::<Points>("-1").is_err());
    assert!(serde_json::from_str::<PointsPerDollar>("10001").is_err());
}

#[test]
fn points_are_displayed_with_separators_and_a_noun() {
    let check = |count, expected: &str| assert_eq!(Points::new(count).unwrap().to_text(), expected);
    check(0, "0 points");
    check(1, "1 point");
    check(999, "999 points");
    check(1_000, "1,000 points");
    check(i64::MAX, "9,223,372,036,854,775,807 points");
}
