//! The service on SQLite and on PostgreSQL, which receive the same requests.

use guerdon_persistence::testing::{covers_postgres, covers_sqlite, create_postgres, create_sqlite};
use guerdon_test_support::record_skip;

use super::request::{AgreedResponse, RequestTemplate};
use crate::support::body_normalizer::BodyNormalizer;
use crate::support::service::{ApiResponse, ProviderCredentials, TestService, basic_authorization};

pub struct ServicePair {
    services: [TestService; 2],
    /// For each service, two designated providers, and one that is not designated.
    providers: [[ProviderCredentials; 3]; 2],
    normalizers: [BodyNormalizer; 2],
}

impl ServicePair {
    pub fn for_services(services: [TestService; 2]) -> Self {
        let providers = for_each_service(&services, |service, _| {
            [("One", true), ("Other", true), ("Plain", false)]
                .map(|(name, designated)| service.create_provider(name, designated))
        });
        Self { services, providers, normalizers: [BodyNormalizer::default(), BodyNormalizer::default()] }
    }

    /// Sends the same request to both services and compares the responses.
    pub fn send_to_both(&mut self, request: &RequestTemplate) -> AgreedResponse {
        let responses = for_each_service(&self.services, |service, at| {
            let (normalizer, provider) = (&self.normalizers[at], &self.providers[at][request.caller]);
            let authorization = basic_authorization(provider);
            let mut headers = vec![("Authorization", authorization.as_str())];
            headers.extend(request.headers.iter().map(|(name, value)| (*name, value.as_str())));
            let body = request.body.as_deref().map(|body| normalizer.expand_placeholders(body));
            service.running.send_request(
                request.method,
                &normalizer.expand_placeholders(&request.path),
                &headers,
                body.as_deref(),
            )
        });
        let [one, other] = &responses;
        let [left, right] = &mut self.normalizers;
        let (left, right) = (format_response(one, left), format_response(other, right));
        assert_eq!(left, right, "SQLite left, PostgreSQL right: {request:?}");
        AgreedResponse { status: one.status, body: self.normalizers[0].normalize_body(&one.body) }
    }

    /// Runs the same command on both services and compares the output.
    pub fn run_on_both(&mut self, words: &[&str]) {
        let printed = for_each_service(&self.services, |service, at| {
            let words: Vec<String> =
                words.iter().map(|word| self.normalizers[at].expand_placeholders(word)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            service.run_json_command(&words).to_string()
        });
        let [one, other] = &printed;
        let [left, right] = &mut self.normalizers;
        assert_eq!(
            left.normalize_body(one),
            right.normalize_body(other),
            "SQLite left, PostgreSQL right: {words:?}"
        );
    }

    pub fn verify_ledgers(&self) {
        verify_both(&self.services);
    }
}

/// Starts the service on SQLite and on PostgreSQL. `None` if this run covers only one of them. If
/// `DIFFERENTIAL_AGAINST` names another build of the service, starts that build and this one, each on a new SQLite
/// database.
pub fn start_both() -> Option<[TestService; 2]> {
    if let Ok(other) = std::env::var("DIFFERENTIAL_AGAINST") {
        let build = |binary: Option<&str>| {
            let database = create_sqlite();
            let own_url = format!("{}.own", database.url);
            let mut settings = vec![("GUERDON_DATABASE__URL", own_url.as_str())];
            settings.extend(binary.map(|path| ("TEST_BINARY", path)));
            TestService::start(database, &settings)
        };
        return Some([build(Some(&other)), build(None)]);
    }
    if !(covers_sqlite() && covers_postgres()) {
        record_skip("it compares the two databases, and this run covers one");
        return None;
    }
    Some([TestService::start(create_sqlite(), &[]), TestService::start(create_postgres(), &[])])
}

/// Runs `task` for both services concurrently. `task` receives a service and its index.
fn for_each_service<T: Send>(
    services: &[TestService; 2],
    task: impl Fn(&TestService, usize) -> T + Sync,
) -> [T; 2] {
    std::thread::scope(|scope| {
        let [sqlite, postgres] = services;
        let other = scope.spawn(|| task(postgres, 1));
        let one = task(sqlite, 0);
        [one, other.join().unwrap_or_else(|e| std::panic::resume_unwind(e))]
    })
}

/// Asserts that `verify` finds no violations in either ledger.
fn verify_both(services: &[TestService; 2]) {
    for service in services {
        let printed = service.run_command(&["verify"]);
        assert_eq!(printed.status, 0, "on {}: {}{}", service.database.url, printed.stdout, printed.stderr);
    }
}

/// Formats the parts of a response on which two databases must agree. The `connection` header is excluded: after a
/// rejected request it depends on how much of the body has arrived.
pub fn format_response(response: &ApiResponse, normalizer: &mut BodyNormalizer) -> String {
    let mut headers: Vec<String> = response
        .headers
        .iter()
        .filter(|(name, _)| !matches!(name.as_str(), "connection" | "date" | "x-request-id"))
        .map(|(name, value)| format!("{name}: {}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    headers.sort();
    normalizer.normalize_body(&format!("{}\n{}\n\n{}", response.status, headers.join("\n"), response.body))
}
