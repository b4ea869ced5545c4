//! The service on SQLite and on PostgreSQL, which receive the same requests.

use guerdon_persistence::testing::{covers_postgres, covers_sqlite, postgres, sqlite};
use guerdon_test_support::record_skip;

use super::request::{Agreed, Request};
use crate::support::scribe::Scribe;
use crate::support::service::{Answer, Provider, Service, basic};

pub struct Twin {
    services: [Service; 2],
    /// Two providers, and one that is not designated.
    providers: [[Provider; 3]; 2],
    scribes: [Scribe; 2],
}

impl Twin {
    pub fn of(services: [Service; 2]) -> Self {
        let providers = in_both(&services, |service, _| {
            [("One", true), ("Other", true), ("Plain", false)]
                .map(|(name, designated)| service.provider(name, designated))
        });
        Self { services, providers, scribes: [Scribe::default(), Scribe::default()] }
    }

    /// Sends the same request to both services and compares the responses.
    pub fn ask(&mut self, request: &Request) -> Agreed {
        let answers = in_both(&self.services, |service, at| {
            let (scribe, provider) = (&self.scribes[at], &self.providers[at][request.by]);
            let authorization = basic(provider);
            let mut headers = vec![("Authorization", authorization.as_str())];
            headers.extend(request.headers.iter().map(|(name, value)| (*name, value.as_str())));
            let body = request.body.as_deref().map(|body| scribe.expand(body));
            service.running.request(request.method, &scribe.expand(&request.path), &headers, body.as_deref())
        });
        let [one, other] = &answers;
        let [left, right] = &mut self.scribes;
        let (left, right) = (told(one, left), told(other, right));
        assert_eq!(left, right, "SQLite left, PostgreSQL right: {request:?}");
        Agreed { status: one.status, body: self.scribes[0].write(&one.body) }
    }

    /// Runs the same command on both services and compares the output.
    pub fn command(&mut self, words: &[&str]) {
        let printed = in_both(&self.services, |service, at| {
            let words: Vec<String> = words.iter().map(|word| self.scribes[at].expand(word)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            service.json(&words).to_string()
        });
        let [one, other] = &printed;
        let [left, right] = &mut self.scribes;
        assert_eq!(left.write(one), right.write(other), "SQLite left, PostgreSQL right: {words:?}");
    }

    pub fn verify(&self) {
        verify(&self.services);
    }
}

/// Starts the service on SQLite and on PostgreSQL. `None` if this run covers only one of them. If
/// `DIFFERENTIAL_AGAINST` names another build of the service, starts that build and this one, each on a new SQLite
/// database.
pub fn start() -> Option<[Service; 2]> {
    if let Ok(other) = std::env::var("DIFFERENTIAL_AGAINST") {
        let build = |binary: Option<&str>| {
            let database = sqlite();
            let own = format!("{}.own", database.url);
            let mut settings = vec![("GUERDON_DATABASE__URL", own.as_str())];
            settings.extend(binary.map(|path| ("TEST_BINARY", path)));
            Service::start(database, &settings)
        };
        return Some([build(Some(&other)), build(None)]);
    }
    if !(covers_sqlite() && covers_postgres()) {
        record_skip("it compares the two databases, and this run covers one");
        return None;
    }
    Some([Service::start(sqlite(), &[]), Service::start(postgres(), &[])])
}

/// Runs `task` for both services concurrently, with the service and its index.
pub fn in_both<T: Send>(services: &[Service; 2], task: impl Fn(&Service, usize) -> T + Sync) -> [T; 2] {
    std::thread::scope(|scope| {
        let [sqlite, postgres] = services;
        let other = scope.spawn(|| task(postgres, 1));
        let one = task(sqlite, 0);
        [one, other.join().unwrap_or_else(|e| std::panic::resume_unwind(e))]
    })
}

/// `verify` must find both ledgers sound.
pub fn verify(services: &[Service; 2]) {
    for service in services {
        let printed = service.guerdon(&["verify"]);
        assert_eq!(printed.status, 0, "on {}: {}{}", service.database.url, printed.out, printed.err);
    }
}

/// Formats the parts of a response on which two databases must agree. The `connection` header is excluded: after a
/// rejected request it depends on how much of the body has arrived.
pub fn told(answer: &Answer, scribe: &mut Scribe) -> String {
    let mut headers: Vec<String> = answer
        .headers
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "connection" | "date" | "x-request-id"))
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    headers.sort();
    scribe.write(&format!("{}\n{}\n\n{}", answer.status, headers.join("\n"), answer.body))
}
