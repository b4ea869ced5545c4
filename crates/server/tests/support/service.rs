//! The binary as an operator runs it, and HTTP requests as a provider sends them.

use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use base64::Engine as _;
use guerdon_persistence::testing::{TestDatabase, postgres_if_covered};
use guerdon_test_harness::{DatabaseProxy, Installation, OperatorPage, guerdon_command};
use guerdon_test_support::require_condition;
use serde_json::Value;
use tempfile::TempDir;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::{openapi_conformance, wait_until};

/// The service with its own database and data folder. The process ends before its database is deleted.
pub struct TestService {
    pub running: ServiceProcess,
    pub database: TestDatabase,
    pub data_dir: TempDir,
    installation: Installation,
}

/// One process of a service, and a client whose responses must conform to the API description.
pub struct ServiceProcess {
    process: guerdon_test_harness::ServiceProcess,
    agent: Agent,
}

/// A provider's credentials.
#[derive(Clone, Debug)]
pub struct ProviderCredentials {
    pub id: String,
    pub api_key: String,
    pub api_secret: String,
}

/// The response to a request.
#[derive(Debug)]
pub struct ApiResponse {
    pub status: u16,
    pub headers: ureq::http::HeaderMap,
    pub body: String,
}

/// The exit status and the output of a command.
#[derive(Debug)]
pub struct CommandOutput {
    pub status: i32,
    pub stdout: String,
    pub stderr: String,
}

impl ApiResponse {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {:?}", self.body))
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The message of an error response. Checks its status and the form of its body.
    #[track_caller]
    pub fn expect_error(&self, status: u16) -> String {
        assert_eq!(self.status, status, "{}", self.body);
        let json = self.json();
        assert_eq!(json["error"]["status"], status, "{}", self.body);
        json["error"]["message"].as_str().unwrap().to_owned()
    }
}

impl TestService {
    pub fn start(database: TestDatabase, settings: &[(&str, &str)]) -> Self {
        let data = TempDir::new().unwrap();
        // Another build of the service, to measure it or to compare with it.
        let build =
            settings.iter().find(|(key, _)| *key == "TEST_BINARY").map(|(_, path)| (*path).to_owned());
        let build = build.or_else(|| std::env::var("TEST_BINARY").ok());
        let program = build.unwrap_or_else(|| env!("CARGO_BIN_EXE_guerdon").to_owned());
        let database_settings =
            [("GUERDON_DATABASE__URL", database.url.as_str()), ("GUERDON_ALLOW_UNSAFE_POSTGRES", "1")];
        let settings = database_settings.into_iter().chain(settings.iter().copied());
        let installation = Installation::new(Path::new(&program), data.path(), settings);
        let running = ServiceProcess::start(&installation);
        Self { running, database, data_dir: data, installation }
    }

    /// Restarts the service after its process has ended.
    pub fn restart(&mut self) {
        self.running = ServiceProcess::start(&self.installation);
    }

    /// Waits until the log contains a string, because the log line of a request may follow the response. Returns how
    /// often the log contains the string.
    pub fn wait_for_log(&self, what: &str) -> usize {
        wait_until(&format!("the log should contain: {what}"), || {
            let count = self.running.count_in_log(what);
            (count > 0).then_some(count)
        })
    }

    /// Starts a service on PostgreSQL behind a proxy. `None` if this run does not cover PostgreSQL.
    pub fn start_behind_proxy(settings: &[(&str, &str)]) -> Option<(DatabaseProxy, Self)> {
        let database = postgres_if_covered()?;
        let proxy = DatabaseProxy::start_in_front_of(&database.url).unwrap();
        require_condition(proxy.is_some(), "a Unix socket of PostgreSQL");
        let proxy = proxy?;
        let url = proxy.url();
        let settings = [settings, &[("GUERDON_DATABASE__URL", url.as_str())]].concat();
        Some((proxy, Self::start(database, &settings)))
    }

    /// A second process on the same PostgreSQL database.
    pub fn start_second_process(&self) -> ServiceProcess {
        ServiceProcess::start(&self.installation)
    }

    pub fn build_command(&self) -> Command {
        self.installation.command(&[])
    }

    /// Runs a command while the service is running.
    pub fn run_command(&self, words: &[&str]) -> CommandOutput {
        let output = self.build_command().args(words).output().unwrap();
        CommandOutput {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs a command that must succeed. Returns its JSON output.
    pub fn run_json_command(&self, words: &[&str]) -> Value {
        let printed = self.run_command(&[&["--output", "json"], words].concat());
        assert_eq!(printed.status, 0, "{words:?}: {}", printed.stderr);
        serde_json::from_str(&printed.stdout).unwrap()
    }

    pub fn create_provider(&self, name: &str, designated: bool) -> ProviderCredentials {
        let designation = if designated { &["--manages-all-domain-resources"][..] } else { &[] };
        self.register_provider(name, designation).0
    }

    /// Creates a provider with these arguments. Returns its credentials and its shared secret.
    pub fn register_provider(&self, name: &str, words: &[&str]) -> (ProviderCredentials, String) {
        let created = self.run_json_command(&[&["provider", "create", "--name", name], words].concat());
        let text = |key: &str| created[key].as_str().unwrap().to_owned();
        let [id, api_key, api_secret] = ["id", "api_key", "api_secret"].map(text);
        (ProviderCredentials { id, api_key, api_secret }, text("shared_secret"))
    }

    pub fn get(&self, provider: &ProviderCredentials, path: &str) -> ApiResponse {
        self.running.send_request("GET", path, &[("Authorization", &basic_authorization(provider))], None)
    }

    /// Sends a GET with this request id.
    pub fn get_with_id(&self, provider: &ProviderCredentials, path: &str, id: &str) -> ApiResponse {
        let headers = [("Authorization", &*basic_authorization(provider)), ("X-Request-Id", id)];
        self.running.send_request("GET", path, &headers, None)
    }

    pub fn delete(&self, provider: &ProviderCredentials, path: &str) -> ApiResponse {
        self.running.send_request("DELETE", path, &[("Authorization", &basic_authorization(provider))], None)
    }

    pub fn post(&self, provider: &ProviderCredentials, path: &str, body: &Value) -> ApiResponse {
        self.post_with_headers(provider, path, &body.to_string(), &[])
    }

    pub fn put(&self, provider: &ProviderCredentials, path: &str, body: &Value) -> ApiResponse {
        let headers = [
            ("Authorization", basic_authorization(provider)),
            ("Content-Type", "application/json".to_owned()),
        ];
        let headers = headers.each_ref().map(|(name, value)| (*name, value.as_str()));
        self.running.send_request("PUT", path, &headers, Some(&body.to_string()))
    }

    pub fn post_with_key(
        &self,
        provider: &ProviderCredentials,
        path: &str,
        body: &Value,
        key: &str,
    ) -> ApiResponse {
        self.post_with_headers(provider, path, &body.to_string(), &[("Idempotency-Key", key)])
    }

    pub fn post_with_headers(
        &self,
        provider: &ProviderCredentials,
        path: &str,
        body: &str,
        more: &[(&str, &str)],
    ) -> ApiResponse {
        let authorization = basic_authorization(provider);
        let mut headers = vec![("Authorization", authorization.as_str())];
        headers.extend_from_slice(more);
        if !more.iter().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
            headers.push(("Content-Type", "application/json"));
        }
        self.running.send_request("POST", path, &headers, Some(body))
    }
}

/// Returns the value of the Authorization header for a provider's credentials.
pub fn basic_authorization(provider: &ProviderCredentials) -> String {
    let pair = format!("{}:{}", provider.api_key, provider.api_secret);
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
}

/// A command of the program without settings.
pub fn build_plain_command() -> Command {
    guerdon_command(Path::new(env!("CARGO_BIN_EXE_guerdon")))
}

impl ServiceProcess {
    fn start(installation: &Installation) -> Self {
        let process = guerdon_test_harness::ServiceProcess::start(installation).unwrap();
        let certificate = std::fs::read(installation.data().join("tls/certificate.pem"));
        Self { process, agent: create_agent(&certificate.unwrap_or_default()) }
    }

    /// Sends a request over TLS with an agent that keeps connections alive and trusts only the service's certificate.
    pub fn send_request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> ApiResponse {
        self.try_send_request(method, path, headers, body).unwrap_or_else(|e| panic!("{method} {path}: {e}"))
    }

    /// Like `send_request`, but returns an error if the service is not running.
    pub fn try_send_request(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&str>,
    ) -> Result<ApiResponse, ureq::Error> {
        let mut request =
            ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.api_url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut received = match body {
            Some(body) => self.agent.run(request.body(body.to_owned()).unwrap())?,
            None => self.agent.run(request.body(()).unwrap())?,
        };
        let body = received.body_mut().with_config().limit(64 << 20).read_to_string()?;
        let response =
            ApiResponse { status: received.status().as_u16(), headers: received.headers().clone(), body };
        openapi_conformance::check_response(method, path, &response);
        Ok(response)
    }

    /// The unprocessed body of a GET response, and its encoding.
    pub fn get_raw_body(&self, path: &str, headers: &[(&str, &str)]) -> (Vec<u8>, Option<String>) {
        let mut request = self.agent.get(format!("{}{path}", self.api_url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.call().unwrap();
        let encoding =
            response.headers().get("content-encoding").map(|value| value.to_str().unwrap().to_owned());
        (response.body_mut().read_to_vec().unwrap(), encoding)
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.id()).unwrap()
    }

    /// A page of the operator's listener.
    pub fn operator_page(&self, path: &str) -> OperatorPage {
        self.get_operator_page(path).unwrap()
    }

    /// The value of a metric, if it was recorded.
    pub fn metric(&self, name: &str) -> Option<f64> {
        self.read_metric(name).unwrap()
    }
}

impl Deref for ServiceProcess {
    type Target = guerdon_test_harness::ServiceProcess;

    fn deref(&self) -> &Self::Target {
        &self.process
    }
}

impl DerefMut for ServiceProcess {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.process
    }
}

fn create_agent(trusted: &[u8]) -> Agent {
    let roots = match Certificate::from_pem(trusted) {
        Ok(certificate) => RootCerts::new_with_certs(&[certificate]),
        Err(_) => RootCerts::new_with_certs(&[]),
    };
    Agent::config_builder()
        .tls_config(TlsConfig::builder().root_certs(roots).build())
        .http_status_as_error(false)
        .allow_non_standard_methods(true)
        .proxy(None)
        .timeout_global(Some(Duration::from_secs(30)))
        .max_idle_age(Duration::from_secs(3)) // the service may close an idle connection after five seconds
        .build()
        .into()
}
