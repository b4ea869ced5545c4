//! The binary as an operator runs it, and HTTP requests as a provider sends them.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use guerdon_persistence::testing::TestDatabase;
use serde_json::Value;
use tempfile::TempDir;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::openapi_conformance;

const MASTER_KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

/// A running `guerdon serve`.
pub struct TestService {
    pub database: TestDatabase,
    pub data_dir: TempDir,
    pub running: ServiceProcess,
    settings: Vec<(String, String)>,
}

/// One process of a service.
pub struct ServiceProcess {
    child: Child,
    pub api_url: String,
    pub operator_url: String,
    agent: Option<Agent>,
    log: Arc<Mutex<String>>,
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
        let mut all: Vec<(String, String)> = vec![
            ("GUERDON_DATA_DIR".into(), data.path().display().to_string()),
            ("GUERDON_DATABASE__URL".into(), database.url.clone()),
            ("GUERDON_HTTP__LISTEN".into(), "127.0.0.1:0".into()),
            ("GUERDON_OPERATOR__LISTEN".into(), "127.0.0.1:0".into()),
            ("GUERDON_MASTER_KEY".into(), MASTER_KEY.into()),
            ("GUERDON_ALLOW_UNSAFE_POSTGRES".into(), "1".into()), // the test cluster runs without fsync
            ("GUERDON_RATE_LIMIT__REQUESTS_PER_SECOND".into(), "0".into()),
        ];
        all.extend(settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())));
        let running = ServiceProcess::spawn(&all);
        Self { database, data_dir: data, running, settings: all }
    }

    /// Restarts the service after its process has ended.
    pub fn restart(&mut self) {
        self.running = ServiceProcess::spawn(&self.settings);
    }

    /// A second process on the same PostgreSQL database.
    pub fn start_second_process(&self) -> ServiceProcess {
        ServiceProcess::spawn(&self.settings)
    }

    pub fn build_command(&self) -> Command {
        guerdon_command(&self.settings)
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
        let mut words = vec!["provider", "create", "--name", name];
        if designated {
            words.push("--manages-all-domain-resources");
        }
        let created = self.run_json_command(&words);
        let text = |key: &str| created[key].as_str().unwrap().to_owned();
        ProviderCredentials { id: text("id"), api_key: text("api_key"), api_secret: text("api_secret") }
    }

    pub fn get(&self, provider: &ProviderCredentials, path: &str) -> ApiResponse {
        self.running.send_request("GET", path, &[("Authorization", &basic_authorization(provider))], None)
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

/// The value of the Authorization header.
pub fn basic_authorization(provider: &ProviderCredentials) -> String {
    let pair = format!("{}:{}", provider.api_key, provider.api_secret);
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair))
}

fn guerdon_command(settings: &[(String, String)]) -> Command {
    // Another build of the service, to measure it or to compare with it.
    let configured = settings.iter().find(|(key, _)| key == "TEST_BINARY").map(|(_, value)| value.clone());
    let binary = configured
        .or_else(|| std::env::var("TEST_BINARY").ok())
        .unwrap_or_else(|| env!("CARGO_BIN_EXE_guerdon").to_owned());
    let mut command = Command::new(binary);
    command.envs(settings.iter().map(|(key, value)| (key, value)));
    command
}

impl ServiceProcess {
    fn spawn(settings: &[(String, String)]) -> Self {
        let mut child = guerdon_command(settings).arg("serve").stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let mut log = String::new();
        let (mut api, mut operator) = (None, None);
        while api.is_none() || operator.is_none() {
            let Some(Ok(line)) = lines.next() else { panic!("serve ended: {}", log) };
            api = api.or_else(|| url_after(&line, "listening on "));
            operator = operator.or_else(|| url_after(&line, "health on "));
            log.push_str(&format!("{line}\n"));
        }
        let log = Arc::new(Mutex::new(log));
        let shared_log = Arc::clone(&log);
        std::thread::spawn(move || {
            lines
                .map_while(Result::ok)
                .for_each(|line| shared_log.lock().unwrap().push_str(&format!("{line}\n")));
        });
        let data = settings.iter().find(|(key, _)| key == "GUERDON_DATA_DIR").map(|(_, value)| value.clone());
        let certificate = std::fs::read(format!("{}/tls/certificate.pem", data.unwrap())).ok();
        let agent = certificate.map(|certificate| create_agent(&certificate));
        Self { child, api_url: api.unwrap(), operator_url: operator.unwrap(), agent, log }
    }

    /// How often the log contains a string.
    pub fn count_in_log(&self, what: &str) -> usize {
        self.log.lock().unwrap().matches(what).count()
    }

    pub fn pid(&self) -> i32 {
        i32::try_from(self.child.id()).unwrap()
    }

    /// One request over TLS, by an agent that keeps connections alive and trusts only the service's certificate.
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
        let plain = || create_agent(b"");
        let agent = self.agent.clone().unwrap_or_else(plain);
        let mut received = match body {
            Some(body) => agent.run(request.body(body.to_owned()).unwrap())?,
            None => agent.run(request.body(()).unwrap())?,
        };
        let body = received.body_mut().with_config().limit(64 << 20).read_to_string()?;
        let response =
            ApiResponse { status: received.status().as_u16(), headers: received.headers().clone(), body };
        openapi_conformance::check_response(method, path, &response);
        Ok(response)
    }

    /// The unprocessed body of a GET response, and its encoding.
    pub fn get_raw_body(&self, path: &str, headers: &[(&str, &str)]) -> (Vec<u8>, Option<String>) {
        let mut request = self.agent.clone().unwrap().get(format!("{}{path}", self.api_url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let mut response = request.call().unwrap();
        let encoding =
            response.headers().get("content-encoding").map(|value| value.to_str().unwrap().to_owned());
        (response.body_mut().read_to_vec().unwrap(), encoding)
    }

    /// One request to the operator's listener.
    pub fn health_status(&self, path: &str) -> u16 {
        create_agent(b"")
            .get(format!("{}{path}", self.operator_url))
            .call()
            .map_or(0, |response| response.status().as_u16())
    }

    /// A page of the console: status, head and body.
    pub fn get_operator_page(&self, path: &str) -> (u16, String, String) {
        let mut response = create_agent(b"").get(format!("{}{path}", self.operator_url)).call().unwrap();
        let head = format!("{:?}", response.headers());
        (response.status().as_u16(), head, response.body_mut().read_to_string().unwrap())
    }

    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub fn terminate(&self) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    }

    /// Waits for the process to exit. Returns its exit status.
    pub fn wait_for_exit(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for ServiceProcess {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// The URL after `mark` in a line of the log.
fn url_after(line: &str, mark: &str) -> Option<String> {
    let rest = line.split_once(mark)?.1;
    let at = rest.find("http")?;
    let url = rest.get(at..)?.split_whitespace().next()?;
    Some(if url.contains("://") {
        url.to_owned()
    } else {
        format!("http://{}", rest.split("://").nth(1)?.split(' ').next()?)
    })
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
        .build()
        .into()
}
