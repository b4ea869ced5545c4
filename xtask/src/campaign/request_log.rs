//! The journal of requests that clients sent, and of the responses that acknowledged them.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use guerdon_test_harness::HttpResponse;

use crate::measurement::fixture::first_id;

/// A recognition that a client requested.
pub(super) struct LoadRequest {
    /// The number of the load, which differs between the loads of a campaign.
    pub(super) round: usize,
    pub(super) client: usize,
    pub(super) number: usize,
    /// When it was sent for the first time.
    pub(super) sent: Instant,
    /// `None` if its outcome is unknown.
    pub(super) acknowledgement: Option<Acknowledgement>,
}

/// A response that acknowledged a recognition.
pub(super) struct Acknowledgement {
    pub(super) received: Instant,
    /// The id of the recognition.
    pub(super) recognition: String,
    body_digest: u64,
}

/// The requests of one client or of all, and their responses.
#[derive(Default)]
pub(super) struct RequestLog {
    pub(super) requests: Vec<LoadRequest>,
    /// Successful requests without a key, which are not compared with the ledger.
    pub(super) successful: usize,
    /// Responses that request a later retry.
    pub(super) unavailable: usize,
    /// Requests that had been executed although the response asked for a retry: the retry returned the stored
    /// response.
    pub(super) replayed: usize,
    /// Connections that broke before a response.
    pub(super) broken_connections: usize,
    /// Unexpected responses.
    pub(super) unexpected: Vec<String>,
    pub(super) longest_wait: Duration,
}

impl LoadRequest {
    pub(super) fn idempotency_key(&self) -> String {
        format!("{}-{}-{}", self.round, self.client, self.number)
    }
}

impl Acknowledgement {
    /// Records a response with status 201.
    pub(super) fn from_response(response: &HttpResponse) -> Result<Self> {
        let recognition = first_id(&response.body).context("a response without an id")?;
        Ok(Self { received: Instant::now(), recognition, body_digest: digest(&response.body) })
    }

    /// Whether both responses have the same bytes.
    pub(super) fn equals(&self, other: &Self) -> bool {
        self.body_digest == other.body_digest
    }
}

impl RequestLog {
    /// Adds the requests of another log.
    pub(super) fn merge(&mut self, other: Self) {
        self.requests.extend(other.requests);
        self.successful += other.successful;
        self.unavailable += other.unavailable;
        self.replayed += other.replayed;
        self.broken_connections += other.broken_connections;
        self.unexpected.extend(other.unexpected);
        self.longest_wait = self.longest_wait.max(other.longest_wait);
    }

    pub(super) fn count_acknowledged(&self) -> usize {
        self.requests.iter().filter(|request| request.acknowledgement.is_some()).count()
    }

    /// Returns the ids of the acknowledged recognitions.
    pub(super) fn recognition_ids(&self) -> impl Iterator<Item = &str> {
        self.requests
            .iter()
            .filter_map(|request| Some(request.acknowledgement.as_ref()?.recognition.as_str()))
    }
}

/// Returns a hash that stands for these bytes in comparisons.
pub(super) fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}
