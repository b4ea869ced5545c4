//! Another provider, whose clients read and send large recognitions, and clients with unknown credentials.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::campaign::load::{LoadTarget, send_request};
use crate::campaign::request_log::RequestLog;
use crate::campaign::subject::Subject;
use crate::measurement::fixture::{Company, Provider};

/// More receivers than a fast worker accepts in one command.
const USERS: usize = 20;
const READERS: usize = 4;
/// Readers with credentials that no provider has.
const STRANGERS: usize = 4;
const SENDERS: usize = 2;
/// The interval between two requests of a client.
const INTERVAL: Duration = Duration::from_millis(100);

/// The provider and its company.
pub(super) struct OtherProvider {
    provider: Provider,
    company: Company,
}

impl OtherProvider {
    pub(super) fn create(subject: &Subject) -> Result<Self> {
        let provider = Provider::create_named(&subject.service, "Other", None)?;
        let company = Company::create(&subject.service, &provider, "other", USERS)?;
        Ok(Self { provider, company })
    }

    /// Runs the clients until `work` ends. Returns the result of `work`, and how the reads and the recognitions ended.
    pub(super) fn run_during<T>(
        &self,
        subject: &Subject,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<(T, [RequestLog; 2])> {
        let ended = AtomicBool::new(false);
        let target = LoadTarget {
            endpoints: vec![subject.service.https().clone()],
            provider: &self.provider,
            company: &self.company,
        };
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..READERS + STRANGERS + SENDERS)
                .map(|client| {
                    let (requests, target, ended) = (self.requests_of(client), &target, &ended);
                    scope.spawn(move || run_client(target, client, &requests, ended))
                })
                .collect();
            let result = work();
            ended.store(true, Ordering::Relaxed);
            let [mut reads, mut recognitions] = [RequestLog::default(), RequestLog::default()];
            for (client, thread) in clients.into_iter().enumerate() {
                let Ok(log) = thread.join() else { bail!("a thread of a client panicked") };
                if client < READERS + STRANGERS { &mut reads } else { &mut recognitions }.merge(log);
            }
            Ok((result?, [reads, recognitions]))
        })
    }

    /// The requests that a client repeats.
    fn requests_of(&self, client: usize) -> Vec<Vec<u8>> {
        let (provider, company) = (&self.provider, &self.company);
        if client >= READERS + STRANGERS {
            let body = company.company_recognition(&company.users);
            return vec![provider.post_request("/v1/recognitions", &body)];
        }
        let paths = [
            format!("/v1/companies/{}/users?per_page=20", company.id),
            format!("/v1/companies/{}/reserve/transactions", company.id),
            format!("/v1/users/{}", company.user_id(client)),
        ];
        let stranger =
            Provider::with_credentials(String::new(), String::new(), "unknown:credentials".to_owned());
        let caller = if client < READERS { provider } else { &stranger };
        paths.iter().map(|path| caller.get_request(path)).collect()
    }
}

/// Sends the requests in turn until the end, without retries.
fn run_client(
    target: &LoadTarget<'_>,
    client: usize,
    requests: &[Vec<u8>],
    ended: &AtomicBool,
) -> RequestLog {
    let (mut log, mut connection) = (RequestLog::default(), None);
    for request in requests.iter().cycle() {
        if ended.load(Ordering::Relaxed) {
            break;
        }
        let sent = Instant::now();
        let response = send_request(target, client, &mut connection, request);
        log.longest_wait = log.longest_wait.max(sent.elapsed());
        match response {
            Ok(response) if [200, 201, 401].contains(&response.status) => log.successful += 1,
            Ok(response) if response.status == 503 && response.header("retry-after").is_some() => {
                log.unavailable += 1;
            }
            Ok(response) => log.unexpected.push(format!("{}: {}", response.status, response.text())),
            Err(_broken) => {
                log.broken_connections += 1;
                connection = None;
            }
        }
        std::thread::sleep(INTERVAL.saturating_sub(sent.elapsed()));
    }
    log
}
