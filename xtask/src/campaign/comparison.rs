//! Compares the ledger with the journal of acknowledged requests.

use std::ops::AddAssign;
use std::time::Instant;

use anyhow::Result;

use super::ledger::{Ledger, RecognitionsByKey, plain_id};
use super::load::LoadTarget;
use super::request_log::{LoadRequest, RequestLog};

/// How the ledger differs from the acknowledged requests.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) acknowledged: usize,
    /// Acknowledged recognitions that are missing in the ledger.
    pub(super) lost: usize,
    /// Requests without a result, which a retry with the same key resolved.
    pub(super) unknown: usize,
    /// How many of the unknown requests had been committed.
    pub(super) unknown_committed: usize,
    pub(super) retried: usize,
    /// Responses to retries that differ from the first response.
    pub(super) changed: usize,
    /// Recognitions that were not requested, or that exist more than once.
    pub(super) duplicated: usize,
}

impl AddAssign for Comparison {
    fn add_assign(&mut self, other: Self) {
        self.acknowledged += other.acknowledged;
        self.lost += other.lost;
        self.unknown += other.unknown;
        self.unknown_committed += other.unknown_committed;
        self.retried += other.retried;
        self.changed += other.changed;
        self.duplicated += other.duplicated;
    }
}

/// Compares the new entries of the ledger with the requests, resolves unknown requests by retries with their keys, and
/// compares again. Also retries requests whose acknowledgement `is_uncertain`.
pub(super) fn compare_and_resolve(
    target: &LoadTarget<'_>,
    ledger: &Ledger,
    log: &mut RequestLog,
    is_uncertain: impl Fn(Instant) -> bool,
) -> Result<Comparison> {
    let before = ledger.read_recognitions()?;
    let acknowledged = log.count_acknowledged();
    let is_unknown = |request: &&LoadRequest| request.acknowledgement.is_none();
    let unknown = log.requests.iter().filter(is_unknown);
    let mut comparison = Comparison {
        acknowledged,
        lost: count_lost(&before, &log.requests),
        unknown: log.requests.len() - acknowledged,
        unknown_committed: unknown.filter(|request| before.contains_key(&request.idempotency_key())).count(),
        ..Comparison::default()
    };
    retry_uncertain(target, log, is_uncertain, &mut comparison)?;
    let after = ledger.read_recognitions()?;
    comparison.lost = comparison.lost.max(count_lost(&after, &log.requests));
    comparison.duplicated = count_duplicated(after, &log.requests);
    Ok(comparison)
}

/// Compares the whole ledger with all requests of a campaign, each of which must be acknowledged.
pub(super) fn compare_all<'r>(
    ledger: &Ledger,
    requests: impl IntoIterator<Item = &'r LoadRequest> + Clone,
) -> Result<Comparison> {
    let recorded = ledger.read_all_recognitions()?;
    let acknowledged = requests.clone().into_iter().count();
    let lost = count_lost(&recorded, requests.clone());
    Ok(Comparison {
        acknowledged,
        lost,
        duplicated: count_duplicated(recorded, requests),
        ..Comparison::default()
    })
}

/// Counts acknowledged recognitions that are not recorded with the key of their request.
fn count_lost<'r>(
    recorded: &RecognitionsByKey,
    requests: impl IntoIterator<Item = &'r LoadRequest>,
) -> usize {
    let acknowledged = requests.into_iter().filter(|request| request.acknowledgement.is_some());
    acknowledged.filter(|request| !is_recorded(recorded, request)).count()
}

/// Whether the acknowledged recognition is recorded with the key of the request.
pub(super) fn is_recorded(recorded: &RecognitionsByKey, request: &LoadRequest) -> bool {
    let acknowledged = request.acknowledgement.as_ref().map(|response| plain_id(&response.recognition));
    let recorded = recorded.get(&request.idempotency_key());
    acknowledged.is_some_and(|id| recorded.is_some_and(|ids| ids.contains(&id)))
}

/// Counts recorded recognitions beyond one for each request.
fn count_duplicated<'r>(
    mut recorded: RecognitionsByKey,
    requests: impl IntoIterator<Item = &'r LoadRequest>,
) -> usize {
    let mut repeated = 0;
    for request in requests {
        let ids = recorded.remove(&request.idempotency_key());
        repeated += ids.map_or(0, |ids| ids.len() - 1);
    }
    repeated + recorded.values().map(Vec::len).sum::<usize>()
}

/// Retries unknown requests and those whose acknowledgement is uncertain, with the same keys at another instance.
pub(super) fn retry_uncertain(
    target: &LoadTarget<'_>,
    log: &mut RequestLog,
    is_uncertain: impl Fn(Instant) -> bool,
    comparison: &mut Comparison,
) -> Result<()> {
    let mut connection = None;
    for request in &mut log.requests {
        if request.acknowledgement.as_ref().is_some_and(|first| !is_uncertain(first.received)) {
            continue;
        }
        // The requests of a client follow each other in the log.
        let mut open = match connection.take() {
            Some((client, open)) if client == request.client => open,
            _ => target.connect(request.client + 1)?,
        };
        let retried = target.retry_until_acknowledged(&mut open, request)?;
        connection = Some((request.client, open));
        comparison.retried += 1;
        match &request.acknowledgement {
            Some(first) => comparison.changed += usize::from(!first.equals(&retried)),
            None => request.acknowledgement = Some(retried),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use guerdon_test_harness::HttpResponse;

    use super::{count_duplicated, count_lost};
    use crate::campaign::ledger::{RecognitionsByKey, plain_id};
    use crate::campaign::request_log::{Acknowledgement, LoadRequest};

    const ID: &str = "01a1fdd4-8a51-741c-a29d-73192bacd34c";
    const OTHER_ID: &str = "01a1fdd4-8a51-741c-a29d-000000000000";

    fn request(number: usize, id: Option<&str>) -> LoadRequest {
        let acknowledge = |id: &str| {
            let body = format!(r#"{{"recognitions":[{{"id":"{id}"}}]}}"#).into_bytes();
            Acknowledgement::from_response(&HttpResponse { status: 201, head: String::new(), body }).unwrap()
        };
        let acknowledgement = id.map(acknowledge);
        LoadRequest { round: 1, client: 2, number, sent: Instant::now(), acknowledgement }
    }

    fn ledger(rows: &[(&str, &[&str])]) -> RecognitionsByKey {
        let ids = |ids: &[&str]| ids.iter().map(|id| plain_id(id)).collect();
        rows.iter().map(|(key, all)| ((*key).to_owned(), ids(all))).collect()
    }

    #[test]
    fn lost_and_duplicated_recognitions_are_counted() {
        let check = |rows: &[(&str, &[&str])], lost, duplicated| {
            let requests = [request(0, Some(ID)), request(1, None)];
            assert_eq!(count_lost(&ledger(rows), &requests), lost, "{rows:?}");
            assert_eq!(count_duplicated(ledger(rows), &requests), duplicated, "{rows:?}");
        };
        check(&[("1-2-0", &[ID])], 0, 0);
        check(&[("1-2-0", &[ID]), ("1-2-1", &[OTHER_ID])], 0, 0);
        check(&[], 1, 0);
        check(&[("1-2-1", &[OTHER_ID])], 1, 0);
        check(&[("1-2-0", &[OTHER_ID])], 1, 0);
        check(&[("1-2-0", &[ID, OTHER_ID])], 0, 1);
        check(&[("1-2-0", &[ID]), ("1-2-7", &[OTHER_ID])], 0, 1);
        check(&[("9-2-0", &[ID, OTHER_ID])], 1, 2);
    }
}
