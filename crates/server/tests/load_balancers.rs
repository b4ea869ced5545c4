//! The service behind nginx and HAProxy, from their Debian packages (docs/operating.md).

use std::fmt::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use guerdon_test_harness::ProcessGuard;
use guerdon_test_support::require_program;
use serde_json::json;
use tempfile::TempDir;

use crate::support::service::{ProviderCredentials, TestService, basic_authorization};
use crate::support::{SampleCompany, for_each_database_with, user_body};

const SETTINGS: [(&str, &str); 2] =
    [("GUERDON_HTTP__TLS__MODE", "proxy"), ("GUERDON_HTTP__TRUSTED_PROXIES", "127.0.0.0/8")];

/// A load balancer and its configuration.
struct BalancerKind {
    program: &'static str,
    arguments: fn(&Path) -> Vec<String>,
    configuration: fn(&Path, u16, &str) -> String,
}

/// A running load balancer.
struct Balancer {
    _process: ProcessGuard,
    url: String,
    _folder: TempDir,
}

const NGINX: BalancerKind = BalancerKind {
    program: "nginx",
    arguments: |file| vec!["-c".to_owned(), file.display().to_string(), "-e".to_owned(), "stderr".to_owned()],
    configuration: |folder, port, to| {
        let mut paths = String::new();
        for kind in ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"] {
            writeln!(paths, "{kind}_temp_path {};", folder.join(kind).display()).unwrap();
        }
        format!(
                "daemon off; master_process off; pid {}; events {{}}
                 http {{ access_log off; {paths}
                   upstream guerdon {{ server {to}; keepalive 16; }}
                   server {{ listen 127.0.0.1:{port}; client_max_body_size 2m;
                     location / {{ proxy_pass http://guerdon; proxy_http_version 1.1; proxy_request_buffering off;
                       proxy_set_header Connection \"\"; proxy_set_header Host $host;
                       proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto https; }} }} }}",
                folder.join("pid").display()
            )
    },
};

const HAPROXY: BalancerKind = BalancerKind {
    program: "haproxy",
    arguments: |file| vec!["-db".to_owned(), "-f".to_owned(), file.display().to_string()],
    configuration: |_, port, to| {
        format!(
            "defaults\n mode http\n timeout client 60s\n timeout server 60s\n timeout connect 5s\n \
                 option forwardfor\n http-reuse always\n\
                 frontend api\n bind 127.0.0.1:{port}\n http-request set-header X-Forwarded-Proto https\n \
                 default_backend guerdon\n\
                 backend guerdon\n server one {to}\n"
        )
    },
};

impl Balancer {
    /// `None` if the balancer is not installed.
    fn start_if_installed(kind: &BalancerKind, service: &TestService) -> Option<Self> {
        let program = require_program(kind.program)?;
        let folder = TempDir::new().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let to = service.running.api_url.split("://").nth(1).unwrap();
        let file = folder.path().join("conf");
        std::fs::write(&file, (kind.configuration)(folder.path(), port, to)).unwrap();
        let mut command = Command::new(program);
        command.args((kind.arguments)(&file)).stdout(Stdio::null());
        let mut process = ProcessGuard::kill_on_drop(&mut command).unwrap();
        let listens = || TcpStream::connect(("127.0.0.1", port)).is_ok();
        process.wait_until(Duration::from_secs(20), listens).expect(kind.program);
        Some(Self { _process: process, url: format!("http://127.0.0.1:{port}"), _folder: folder })
    }
}

#[test]
fn nginx_changes_no_response() {
    check_behind_balancer(&NGINX);
}

#[test]
fn haproxy_changes_no_response() {
    check_behind_balancer(&HAPROXY);
}

fn check_behind_balancer(kind: &BalancerKind) {
    for_each_database_with(&SETTINGS, |service| {
        let Some(balancer) = Balancer::start_if_installed(kind, service) else { return };
        let direct = std::mem::replace(&mut service.running.api_url, balancer.url.clone());
        let sample = SampleCompany::create(service, 3);
        sample.fund_peer_wallets(service, 1_000);
        let (ann, bob) = (&sample.users[0], &sample.users[1]);
        for number in 1..=50 {
            assert_eq!(sample.send_recognition(service, ann, &[bob], 1).status, 201, "{number}");
        }
        let path = format!("/v1/users/{bob}/recognitions_received?per_page=50");
        assert_eq!(service.get(&sample.provider, &path).json()["total_count"], 50);
        check_bodies(service, &sample);
        check_refusals(service, &sample);
        service.running.api_url = direct;
    });
}

/// Sends large and small bodies, both with a Content-Length and chunked.
fn check_bodies(service: &TestService, sample: &SampleCompany) {
    let body = |name: &str, extra: usize| {
        let mut body = user_body(&sample.company, name);
        body["ignored"] = json!("x".repeat(extra));
        body
    };
    let response = service.post(&sample.provider, "/v1/users", &body("large", 900_000));
    assert_eq!((response.status, response.header("x-ignored-fields")), (201, Some("ignored")));
    let authorization = basic_authorization(&sample.provider);
    let headers = [("Authorization", authorization.as_str()), ("Transfer-Encoding", "chunked")];
    let response =
        service.running.send_request("POST", "/v1/users", &headers, Some(&body("chunks", 9_000).to_string()));
    assert_eq!(response.status, 201, "{}", response.body);
    service.post(&sample.provider, "/v1/users", &body("too-large", 1_100_000)).expect_error(400);
}

/// Checks that each response comes from the service, and that the next request succeeds.
fn check_refusals(service: &TestService, sample: &SampleCompany) {
    let stranger = ProviderCredentials { api_secret: "wrong".to_owned(), ..sample.provider.clone() };
    let body = user_body(&sample.company, "nobody");
    for _ in 0..5 {
        service.post(&stranger, "/v1/users", &body).expect_error(401);
        service.post(&sample.provider, "/v1/nothing", &body).expect_error(404);
        let headers = [("Expect", "100-continue")];
        service.post_with_headers(&sample.provider, "/v1/users", "{", &headers).expect_error(400);
        assert_eq!(service.get(&sample.provider, &format!("/v1/companies/{}", sample.company)).status, 200);
    }
}
