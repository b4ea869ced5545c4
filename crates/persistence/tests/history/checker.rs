//! Checks a history. The checker knows nothing about the ledger except that moves are atomic and that balances start
//! at zero.
//!
//! Requests with the same key are one move; after one of them has succeeded, all return its response. A move that
//! succeeded took effect between its first invocation and its first completion. A move that was refused had no effect.
//! A move whose outcome is unknown took effect at some time after its invocation, or not at all. These rules determine
//! the lowest and the highest balance that each read may return.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::record::{AccountIndex, End, History, Operation, OperationResult, Request};

/// A move, with all of its requests.
#[derive(Debug)]
struct Move<'h> {
    changes: &'h [(AccountIndex, i64)],
    invoked: usize,
    /// The first completion that confirms the effect.
    confirmed: Option<usize>,
    /// The last invocation of a request that was refused.
    refused: Option<usize>,
    is_unknown: bool,
    responses: BTreeSet<&'h str>,
}

/// Sums of changes by the index at which they start to count.
#[derive(Debug, Default)]
struct Sums {
    changes: Vec<(usize, i64)>,
    /// The sum of all changes up to each position.
    totals: Vec<i64>,
}

impl Sums {
    fn from_changes(mut changes: Vec<(usize, i64)>) -> Self {
        changes.sort_unstable();
        let totals = changes.iter().scan(0, |total, (_, change)| {
            *total += change;
            Some(*total)
        });
        let totals = totals.collect();
        Self { changes, totals }
    }

    /// The sum of the changes before an index.
    fn before(&self, index: usize) -> i64 {
        let count = self.changes.partition_point(|(at, _)| *at < index);
        count.checked_sub(1).map_or(0, |last| self.totals[last])
    }
}

/// The moves of one account.
#[derive(Debug, Default)]
struct AccountMoves {
    /// Confirmed credits and debits, by invocation and by confirmation.
    credits_invoked: Sums,
    credits_confirmed: Sums,
    debits_invoked: Sums,
    debits_confirmed: Sums,
    /// Credits and debits with an unknown outcome, by invocation.
    unknown_credits: Sums,
    unknown_debits: Sums,
}

impl AccountMoves {
    fn new(moves: &[Move<'_>], account: AccountIndex) -> Self {
        let sums = |select: &dyn Fn(&Move<'_>) -> Option<usize>, is_credit: bool| {
            let changes = moves.iter().flat_map(|moved| {
                let own = moved
                    .changes
                    .iter()
                    .filter(move |(changed, change)| *changed == account && (*change > 0) == is_credit);
                own.filter_map(|(_, change)| Some((select(moved)?, *change)))
            });
            Sums::from_changes(changes.collect())
        };
        let invoked = |moved: &Move<'_>| moved.confirmed.map(|_| moved.invoked);
        let confirmed = |moved: &Move<'_>| moved.confirmed;
        let unknown =
            |moved: &Move<'_>| (moved.confirmed.is_none() && moved.is_unknown).then_some(moved.invoked);
        Self {
            credits_invoked: sums(&invoked, true),
            credits_confirmed: sums(&confirmed, true),
            debits_invoked: sums(&invoked, false),
            debits_confirmed: sums(&confirmed, false),
            unknown_credits: sums(&unknown, true),
            unknown_debits: sums(&unknown, false),
        }
    }

    /// The lowest and the highest balance between an invocation and a completion.
    fn bounds(&self, invoked: usize, completed: usize) -> (i64, i64) {
        let (credits, debits) =
            (self.credits_confirmed.before(invoked), self.debits_confirmed.before(invoked));
        let lowest = credits + self.debits_invoked.before(completed) + self.unknown_debits.before(completed);
        let highest =
            self.credits_invoked.before(completed) + self.unknown_credits.before(completed) + debits;
        (lowest, highest)
    }
}

/// Returns the anomalies of a history, one line each; none if every operation can be explained.
pub fn find_anomalies(history: &History) -> Vec<String> {
    let mut anomalies = Vec::new();
    let moves = collect_moves(history, &mut anomalies);
    let accounts: Vec<AccountMoves> =
        (0..history.accounts.len()).map(|account| AccountMoves::new(&moves, account)).collect();
    let mut claimed: HashMap<&str, usize> = HashMap::new();
    for operation in &history.operations {
        let (from, to) = (operation.invoked.index, operation.completed.index);
        let mut report = |problem: String| anomalies.push(format!("operation {from} to {to}: {problem}"));
        let mut check_balance = |account: AccountIndex, balance: i64| {
            let name = &history.accounts[account];
            let (lowest, highest) = accounts[account].bounds(from, to);
            if balance < lowest || balance > highest {
                report(format!("{name} has {balance}, which is not between {lowest} and {highest}"));
            }
            if balance < 0 && !history.outside.contains(&account) {
                report(format!("{name} has a negative balance of {balance}"));
            }
        };
        match (&operation.request, &operation.end) {
            (Request::Read { account }, End::Ok(OperationResult::Balance(balance))) => {
                check_balance(*account, *balance)
            }
            (Request::Snapshot, End::Ok(OperationResult::Balances(balances))) => {
                for (account, balance) in balances.iter().enumerate() {
                    check_balance(account, *balance);
                }
                let total: i64 = balances.iter().sum();
                if total != 0 {
                    report(format!("the balances of a snapshot sum up to {total} instead of zero"));
                }
            }
            (Request::Claim, End::Ok(OperationResult::Claimed(events))) => {
                for event in events {
                    if let Some(first) = claimed.insert(event, from) {
                        report(format!("event {event} is also claimed by operation {first}"));
                    }
                }
            }
            (Request::Count, End::Ok(OperationResult::Counted(count))) => {
                let confirmed = moves.iter().filter(|moved| moved.confirmed.is_some()).count();
                let unknown =
                    moves.iter().filter(|moved| moved.confirmed.is_none() && moved.is_unknown).count();
                let count = usize::try_from(*count).unwrap_or_default();
                if count < confirmed || count > confirmed + unknown {
                    report(format!(
                        "{count} journal entries for {confirmed} confirmed and {unknown} unknown moves"
                    ));
                }
            }
            (Request::Move { changes, .. }, End::Refused) => {
                anomalies.extend(explain_refusal(history, &accounts, operation, changes));
            }
            _ => {}
        }
    }
    anomalies
}

/// Combines the requests with the same key.
fn collect_moves<'h>(history: &'h History, anomalies: &mut Vec<String>) -> Vec<Move<'h>> {
    let mut keyed: BTreeMap<&str, Move<'h>> = BTreeMap::new();
    let mut moves = Vec::new();
    for operation in &history.operations {
        let Request::Move { changes, key } = &operation.request else { continue };
        let invoked = operation.invoked.index;
        let new_move = || Move {
            changes,
            invoked,
            confirmed: None,
            refused: None,
            is_unknown: false,
            responses: BTreeSet::new(),
        };
        let mut without_key = None;
        let moved = match key {
            Some(key) => keyed.entry(key.as_str()).or_insert_with(new_move),
            None => without_key.insert(new_move()),
        };
        moved.invoked = moved.invoked.min(invoked);
        match &operation.end {
            End::Ok(OperationResult::Moved(response)) => {
                let completed = operation.completed.index;
                moved.confirmed = Some(moved.confirmed.map_or(completed, |first| first.min(completed)));
                moved.responses.insert(response);
            }
            End::Refused => moved.refused = moved.refused.max(Some(invoked)),
            End::Unknown => moved.is_unknown = true,
            End::Ok(_) | End::Cancelled => {}
        }
        moves.extend(without_key);
    }
    for (key, moved) in &keyed {
        if moved.responses.len() > 1 {
            anomalies.push(format!("key {key}: different responses {:?}", moved.responses));
        }
        if moved.confirmed.is_some_and(|confirmed| moved.refused > Some(confirmed)) {
            anomalies.push(format!("key {key}: a request was executed, and a later one refused"));
        }
    }
    moves.extend(keyed.into_values());
    moves
}

/// A refusal is explained if the balance of an account may have been too low for the debit.
fn explain_refusal(
    history: &History,
    accounts: &[AccountMoves],
    operation: &Operation,
    changes: &[(AccountIndex, i64)],
) -> Option<String> {
    let (from, to) = (operation.invoked.index, operation.completed.index);
    let may_be_short = |(account, change): &(AccountIndex, i64)| {
        let (lowest, _) = accounts[*account].bounds(from, to);
        *change < 0 && !history.outside.contains(account) && lowest < -change
    };
    let is_explained = changes.iter().any(may_be_short);
    (!is_explained)
        .then(|| format!("operation {from} to {to}: refused although every balance sufficed: {changes:?}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::find_anomalies;
    use crate::history::record::{End, History, Moment, Operation, OperationResult, Request};

    fn operation(invoked: usize, completed: usize, request: Request, end: End) -> Operation {
        let moment = |index| Moment { index, time: Duration::ZERO };
        Operation { process: 0, invoked: moment(invoked), completed: moment(completed), request, end }
    }

    fn moved(points: i64, key: Option<&str>) -> Request {
        Request::Move { changes: vec![(0, -points), (1, points)], key: key.map(str::to_owned) }
    }

    fn ok(response: &str) -> End {
        End::Ok(OperationResult::Moved(response.to_owned()))
    }

    fn read(balance: i64) -> (Request, End) {
        (Request::Read { account: 1 }, End::Ok(OperationResult::Balance(balance)))
    }

    /// Checks a history of two accounts, of which the first is outside.
    fn check(operations: Vec<Operation>, expected: &str) {
        let accounts = ["outside", "wallet"].map(str::to_owned).to_vec();
        let found = find_anomalies(&History { accounts, outside: vec![0], operations }).join("; ");
        assert!(if expected.is_empty() { found.is_empty() } else { found.contains(expected) }, "{found}");
    }

    #[test]
    fn reads_see_what_was_confirmed_and_may_see_what_is_in_progress() {
        for (balance, expected) in [(5, ""), (8, ""), (4, "not between 5 and 8"), (9, "not between 5 and 8")]
        {
            let (request, end) = read(balance);
            let operations = vec![
                operation(0, 1, moved(5, None), ok("a")),
                operation(2, 5, moved(3, None), ok("b")),
                operation(3, 4, request, end),
            ];
            check(operations, expected);
        }
    }

    #[test]
    fn an_unknown_outcome_may_appear_at_any_time() {
        for (balance, expected) in [(0, ""), (3, ""), (-1, "negative"), (4, "not between")] {
            let (request, end) = read(balance);
            check(
                vec![operation(0, 1, moved(3, None), End::Unknown), operation(2, 3, request, end)],
                expected,
            );
        }
    }

    #[test]
    fn requests_with_one_key_have_one_effect_and_one_response() {
        let first = operation(0, 1, moved(3, Some("k")), ok("a"));
        let (request, end) = read(3);
        let last = operation(4, 5, request, end);
        let retry = |end| operation(2, 3, moved(3, Some("k")), end);
        check(vec![first.clone(), retry(ok("a")), last.clone()], "");
        check(vec![first.clone(), retry(ok("b")), last.clone()], "different responses");
        check(vec![first, retry(End::Refused), last], "and a later one refused");
    }

    #[test]
    fn refusals_need_a_reason() {
        let give_back = Request::Move { changes: vec![(1, -3), (0, 3)], key: None };
        check(vec![operation(0, 1, give_back.clone(), End::Refused)], "");
        let deposit = operation(0, 1, moved(3, None), ok("a"));
        check(vec![deposit, operation(2, 3, give_back, End::Refused)], "every balance sufficed");
    }

    #[test]
    fn snapshots_sum_up_to_zero() {
        let snapshot =
            |balances| operation(2, 3, Request::Snapshot, End::Ok(OperationResult::Balances(balances)));
        let deposit = || operation(0, 4, moved(3, None), ok("a"));
        check(vec![deposit(), snapshot(vec![-3, 3])], "");
        check(vec![deposit(), snapshot(vec![0, 3])], "instead of zero");
    }

    #[test]
    fn events_are_claimed_once_and_entries_match_moves() {
        let claim = |index: usize| {
            let end = End::Ok(OperationResult::Claimed(vec!["event".to_owned()]));
            operation(index, index + 1, Request::Claim, end)
        };
        check(vec![claim(0)], "");
        check(vec![claim(0), claim(2)], "also claimed");
        let count = |count| operation(2, 3, Request::Count, End::Ok(OperationResult::Counted(count)));
        let deposit = || operation(0, 1, moved(3, None), ok("a"));
        check(vec![deposit(), count(1)], "");
        check(vec![deposit(), count(2)], "2 journal entries for 1 confirmed");
    }
}
