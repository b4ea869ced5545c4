//! The number of payments after which rounding errors may become visible in a wallet (behaviour 16.5).

use super::*;

/// The points whose amounts have the largest rounding errors down and up at this rate: the worst case.
struct WorstCase {
    down: i64,
    up: i64,
}

fn greatest_common_divisor(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// The x with `a × x ≡ 1` modulo `modulus`, by the extended Euclidean algorithm.
fn modular_inverse(a: i64, modulus: i64) -> i64 {
    let (mut old, mut new) = ((a % modulus, 1), (modulus, 0));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    old.1.rem_euclid(modulus)
}

/// The rounding error of the amount of `count` points, times the rate; negative if the amount was rounded
/// down.
fn rounding_error(rate: PointsPerDollar, count: i64) -> i64 {
    rate.to_amount(points(count)).unwrap().nanodollars() * rate.get() - count * 1_000_000_000
}

/// Returns the worst case at a rate; `None` for a rate that divides 10⁹, at which nothing is rounded.
fn worst_case(rate: PointsPerDollar) -> Option<WorstCase> {
    let common = greatest_common_divisor(1_000_000_000, rate.get());
    let modulus = rate.get() / common;
    if modulus == 1 {
        return None;
    }
    // Points whose remainder is just below, at, and just above one half. At one half, rounding depends on
    // parity.
    let inverse = modular_inverse(1_000_000_000 / common, modulus);
    let candidates: Vec<i64> = [modulus / 2, modulus / 2 + 1]
        .iter()
        .map(|remainder| remainder * inverse % modulus)
        .flat_map(|count| [count, count + modulus])
        .filter(|&count| count > 0)
        .collect();
    let down = *candidates.iter().min_by_key(|&&count| rounding_error(rate, count)).unwrap();
    let up = *candidates.iter().max_by_key(|&&count| rounding_error(rate, count)).unwrap();
    assert!(rounding_error(rate, down) < 0 && rounding_error(rate, up) > 0, "{rate:?}");
    Some(WorstCase { down, up })
}

/// The number of transfers for which a wallet must show exactly its received points less its spent points.
fn guaranteed_transfers(rate: PointsPerDollar) -> i64 {
    (20_000_000 / rate.get()).min(200_000)
}

/// Checks a wallet after `received` transfers of one size and `spent` of another, each rounded separately.
fn assert_wallet_shows(
    rate: PointsPerDollar,
    (received, size_in): (i64, i64),
    (spent, size_out): (i64, i64),
) {
    let each_in = rate.to_amount(points(size_in)).unwrap().nanodollars();
    let each_out = rate.to_amount(points(size_out)).unwrap().nanodollars();
    let balance = nanodollars(received * each_in - spent * each_out);
    let expected = received * size_in - spent * size_out;
    assert_eq!(
        rate.shown_points(balance).get(),
        expected,
        "{received} × {size_in} − {spent} × {size_out} at {rate:?}"
    );
}

#[test]
fn at_inexact_rates_a_wallet_shows_received_less_spent_for_all_guaranteed_transfers() {
    for rate in every_rate() {
        let Some(WorstCase { down, up }) = worst_case(rate) else { continue };
        let all = guaranteed_transfers(rate);
        for count in [1, 2, 3, all / 3, all / 2, all - 1, all] {
            assert_wallet_shows(rate, (count, down), (0, 0));
            assert_wallet_shows(rate, (count, up), (0, 0));
            // Incoming and outgoing points are both rounded to the wallet's loss, then both to its gain; the
            // incoming points exceed the outgoing ones.
            let modulus = rate.get() / greatest_common_divisor(1_000_000_000, rate.get());
            assert_wallet_shows(rate, (count - count / 2, down + 2 * modulus), (count / 2, up));
            assert_wallet_shows(rate, (count - count / 2, up + 2 * modulus), (count / 2, down));
        }
    }
}

#[test]
fn the_worst_case_has_the_largest_rounding_errors() {
    for r in [3, 6, 7, 96, 99, 101, 768, 997, 1_024, 3_072, 9_999] {
        let rate = rate(r);
        let WorstCase { down, up } = worst_case(rate).unwrap();
        for count in 1..=2 * r {
            let range = rounding_error(rate, down)..=rounding_error(rate, up);
            assert!(range.contains(&rounding_error(rate, count)), "{count} at {r}");
        }
    }
}

#[test]
fn a_wallet_of_sevenths_shows_every_one_of_200_000_transfers() {
    let rate = rate(7);
    let WorstCase { down, .. } = worst_case(rate).unwrap();
    let each = rate.to_amount(points(down)).unwrap();
    let (mut balance, mut expected) = (Amount::ZERO, 0);
    for _ in 0..200_000 {
        balance = balance.checked_add(each).unwrap();
        expected += down;
        assert_eq!(rate.shown_points(balance).get(), expected);
    }
}
