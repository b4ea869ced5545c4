//! Recognises valid credentials from an address that is locked out because of failed logins.
//!
//! A client with a new secret must be admitted even while another process at its address still sends the old one. A
//! lookup for each request would undo the lockout. Instead, all requests that arrive at about the same time share one
//! load of the secrets of all providers; if the load fails, all these requests fail. Only one load runs at a time,
//! however many requests wait for it, and loads of up to 100 ms take at most a tenth of one thread's time. A cache with
//! a time to live cannot replace this: its entries may be older than the request, and it does not limit how often they
//! are loaded.

use std::collections::HashMap;
use std::time::Duration;

use guerdon_domain::ports::{Deadlines, Timestamp};
use guerdon_domain::providers::Provider;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until, timeout};

use super::basic_auth::Credentials;
use crate::api::SecretVerifier;
use crate::operation::ApiError;

/// The shortest interval between the starts of two loads.
const INTERVAL_MIN: Duration = Duration::from_millis(5);
/// The interval between the starts of two loads is the duration of the earlier one times this factor, but at least
/// [`INTERVAL_MIN`] and at most [`INTERVAL_MAX`].
const INTERVAL_FACTOR: u32 = 10;
/// The longest interval between the starts of two loads, however slow a load is.
const INTERVAL_MAX: Duration = Duration::from_secs(1);

/// The secret of an unknown key is compared with this, so that the comparison takes as long as for a known key.
pub(super) const NO_HASH: [u8; 32] = [0; 32];

/// Hashes of the valid API secrets of each provider, by API key.
pub(super) type Hashes = HashMap<String, Vec<Vec<u8>>>;

/// The last load, shared by all requests that arrived before it started.
#[derive(Default)]
pub(super) struct CurrentSecrets(Mutex<SecretsLoad>);

#[derive(Default)]
struct SecretsLoad {
    /// The start and the result of the last load that ended.
    last: Option<(Instant, Result<Hashes, ApiError>)>,
    /// When the next load may start.
    next_at: Option<Instant>,
    duration: Duration,
}

impl SecretsLoad {
    fn delay_next(&mut self, started_at: Instant) {
        let interval = (self.duration * INTERVAL_FACTOR).clamp(INTERVAL_MIN, INTERVAL_MAX);
        self.next_at = Some(started_at + interval);
    }

    /// The result of the last load, unless that load started before `arrived_at`.
    fn result_since(&self, arrived_at: Instant) -> Option<&Result<Hashes, ApiError>> {
        self.last.as_ref().filter(|(started_at, _)| *started_at >= arrived_at).map(|(_, result)| result)
    }
}

impl CurrentSecrets {
    /// Whether `credentials` are valid now, according to a load that starts after this call. Requests that arrive
    /// before the load starts share it. Fails if `read` fails. Also fails with 503 if the load does not start
    /// within `Deadlines::CREDENTIALS`, or if `read` takes longer than that.
    pub(super) async fn are_valid_now(
        &self,
        credentials: &Credentials,
        secrets: &dyn SecretVerifier,
        read: impl AsyncFnOnce() -> Result<Hashes, ApiError>,
    ) -> Result<bool, ApiError> {
        let arrived_at = Instant::now();
        let wait = async {
            let load = self.0.lock().await;
            if load.result_since(arrived_at).is_none()
                && let Some(next_at) = load.next_at
            {
                sleep_until(next_at).await;
            }
            load
        };
        let mut load = timeout(Deadlines::CREDENTIALS, wait).await.map_err(|_elapsed| ApiError::busy())?;
        if load.result_since(arrived_at).is_none() {
            let started_at = Instant::now();
            // Set before the load, because the client may disconnect during the load. Even then, the next load
            // must not start earlier.
            load.delay_next(started_at);
            let result = timeout(Deadlines::CREDENTIALS, read())
                .await
                .unwrap_or_else(|_elapsed| Err(ApiError::busy()));
            load.duration = started_at.elapsed();
            load.delay_next(started_at);
            load.last = Some((started_at, result));
        }
        let hashes = match load.result_since(arrived_at) {
            Some(Ok(hashes)) => hashes,
            Some(Err(failure)) => return Err(failure.clone()),
            None => return Err(ApiError::busy()),
        };
        let matches = |hash: &[u8]| secrets.verify_secret(&credentials.secret, hash);
        Ok(match hashes.get(&credentials.key) {
            Some(hashes) => hashes.iter().any(|hash| matches(hash)),
            None => matches(&NO_HASH),
        })
    }
}

/// The hashes of the secrets that are valid at `now`; suspended providers have none.
pub(super) fn current_hashes(providers: &[Provider], now: Timestamp) -> Hashes {
    let active = providers.iter().filter(|provider| !provider.suspended);
    let hashes = |provider: &Provider| provider.api_secret_hashes(now).map(<[u8]>::to_vec).collect();
    active.map(|provider| (provider.api_key.clone(), hashes(provider))).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use zeroize::Zeroizing;

    use super::*;
    use crate::request_info::example_provider;

    /// A secret matches the hash of the same bytes.
    struct PlainTextVerifier;

    impl SecretVerifier for PlainTextVerifier {
        fn verify_secret(&self, secret: &str, hash: &[u8]) -> bool {
            secret.as_bytes() == hash
        }
    }

    fn new_credentials(key: &str, secret: &str) -> Credentials {
        Credentials { key: key.to_owned(), secret: Zeroizing::new(secret.to_owned()) }
    }

    fn hashes_of_secret(secret: &str) -> Hashes {
        Hashes::from([("key".to_owned(), vec![secret.as_bytes().to_vec()])])
    }

    #[test]
    fn the_secrets_of_suspended_providers_are_not_valid() {
        let now = Timestamp::UNIX_EPOCH;
        let (active, suspended) = (example_provider(), Provider { suspended: true, ..example_provider() });
        let expected = Hashes::from([("key".to_owned(), vec![vec![1]])]);
        assert_eq!(current_hashes(&[active], now), expected);
        assert_eq!(current_hashes(&[suspended], now), Hashes::default());
    }

    #[tokio::test(start_paused = true)]
    async fn credentials_are_compared_with_a_load_that_starts_after_their_arrival() {
        let current = CurrentSecrets::default();
        let check = async |key: &str, secret: &str, read: &str, expected: bool| {
            tokio::time::advance(Duration::from_nanos(1)).await;
            let found = current
                .are_valid_now(&new_credentials(key, secret), &PlainTextVerifier, async || {
                    Ok(hashes_of_secret(read))
                })
                .await;
            assert!(found.is_ok_and(|is_current| is_current == expected), "{key} {secret} {read}");
        };
        check("key", "old", "old", true).await;
        check("key", "new", "new", true).await;
        check("key", "old", "new", false).await;
        check("another", "new", "new", false).await;
    }

    #[tokio::test(start_paused = true)]
    async fn requests_share_loads_which_take_at_most_a_tenth_of_the_time() {
        let (current, loads, duration) =
            (CurrentSecrets::default(), Cell::new(0_u32), Duration::from_millis(40));
        let request = async |secret: &str| {
            let read = async || {
                loads.set(loads.get() + 1);
                tokio::time::sleep(duration).await;
                Ok(hashes_of_secret("new"))
            };
            current.are_valid_now(&new_credentials("key", secret), &PlainTextVerifier, read).await
        };
        let started_at = Instant::now();
        for round in 1..=5 {
            let results = futures_util::future::join_all((0..100).map(|_| request("wrong"))).await;
            assert!(results.iter().all(|result| matches!(result, Ok(false))));
            assert_eq!(loads.get(), round);
        }
        assert!(started_at.elapsed() >= 4 * INTERVAL_FACTOR * duration);
    }

    #[tokio::test(start_paused = true)]
    async fn a_load_that_fails_or_is_abandoned_does_not_count_for_later_requests() {
        let current = CurrentSecrets::default();
        let right = new_credentials("key", "new");
        let failed = current
            .are_valid_now(&right, &PlainTextVerifier, async || Err(ApiError::unavailable("away", 1)))
            .await;
        assert!(failed.is_err());
        tokio::time::advance(Duration::from_nanos(1)).await;
        let never = current.are_valid_now(&right, &PlainTextVerifier, async || std::future::pending().await);
        assert!(tokio::time::timeout(Duration::from_secs(1), never).await.is_err());
        let read =
            current.are_valid_now(&right, &PlainTextVerifier, async || Ok(hashes_of_secret("new"))).await;
        assert!(matches!(read, Ok(true)));
    }

    #[tokio::test(start_paused = true)]
    async fn requests_that_arrived_before_a_load_share_its_failure() {
        let (current, loads, right) =
            (CurrentSecrets::default(), Cell::new(0_u32), new_credentials("key", "new"));
        let read = async || {
            loads.set(loads.get() + 1);
            tokio::time::sleep(Duration::from_millis(900)).await;
            Err(ApiError::unavailable("away", 1))
        };
        let requests = (0..100).map(|_| current.are_valid_now(&right, &PlainTextVerifier, read));
        let results = futures_util::future::join_all(requests).await;
        assert!(
            results.iter().all(|result| result
                .as_ref()
                .is_err_and(|error| error.status_and_message() == (503, "away")))
        );
        assert_eq!(loads.get(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn a_database_that_hangs_delays_no_request_beyond_the_deadlines() {
        let (current, right) = (CurrentSecrets::default(), new_credentials("key", "new"));
        let started_at = Instant::now();
        let hangs = async || std::future::pending().await;
        let refused = current.are_valid_now(&right, &PlainTextVerifier, hangs).await;
        assert!(refused.is_err_and(|error| error.status_and_message().0 == 503));
        assert_eq!(started_at.elapsed().as_secs(), Deadlines::CREDENTIALS.as_secs());

        let hanging = current.are_valid_now(&right, &PlainTextVerifier, hangs);
        let later = async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            let arrived_at = Instant::now();
            let read =
                current.are_valid_now(&right, &PlainTextVerifier, async || Ok(hashes_of_secret("new"))).await;
            assert!(matches!(read, Ok(true)) && arrived_at.elapsed() <= Deadlines::CREDENTIALS);
        };
        let (refused, ()) = futures_util::future::join(hanging, later).await;
        assert!(refused.is_err());
        let healed_at = Instant::now();
        assert!(
            current
                .are_valid_now(&right, &PlainTextVerifier, async || Ok(hashes_of_secret("new")))
                .await
                .is_ok()
        );
        assert!(healed_at.elapsed() <= INTERVAL_MAX);
    }
}
