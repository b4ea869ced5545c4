//! The crates for integrators can be used in projects outside the workspace.

use std::io::{BufRead as _, BufReader, Write as _, copy};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::events::ALLOW_LOCAL_RECEIVERS;
use crate::support::receiver::WebhookReceiver;
use crate::support::service::ProviderCredentials;
use crate::support::{SampleCompany, for_each_database_with};

/// Builds a program as a separate project that depends on crates of this workspace by path. Returns the path of the
/// program. Build artifacts are reused by the next run.
fn build_project(name: &str, source: &str, dependencies: &str) -> PathBuf {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside");
    let (project, target) = (folder.join(name), folder.join("target"));
    std::fs::create_dir_all(project.join("src")).unwrap();
    let crates = workspace.join("crates").canonicalize().unwrap().display().to_string();
    let dependencies = dependencies.replace("CRATES", &crates);
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[profile.dev]\n\
         debug = false\n[dependencies]\n{dependencies}\n"
    );
    std::fs::write(project.join("Cargo.toml"), manifest).unwrap();
    std::fs::write(project.join("src/main.rs"), source).unwrap();
    // Uses the lock file of the workspace, whose versions are already downloaded.
    std::fs::copy(workspace.join("Cargo.lock"), project.join("Cargo.lock")).unwrap();
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--offline", "--target-dir"]).arg(&target).current_dir(&project);
    // `cargo xtask test` sets this variable only for libtest.
    let built = cargo.env_remove("RUSTC_BOOTSTRAP").output().unwrap();
    assert!(built.status.success(), "{name}: {}", String::from_utf8_lossy(&built.stderr));
    target.join("debug").join(name)
}

/// Runs a program that must succeed, with only `HTTPS_PROXY` in its environment. Returns its output.
fn run_program(program: &Path, arguments: &[&str], proxy: &str) -> String {
    let mut program_command = Command::new(program);
    let output = program_command.args(arguments).env_clear().env("HTTPS_PROXY", proxy).output().unwrap();
    assert!(output.status.success(), "{}: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// An HTTP proxy that only makes tunnels (RFC 9110, 9.3.6). Returns its URL and the number of tunnels made so far.
fn start_proxy() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let tunnels = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&tunnels);
    thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let mut head = BufReader::new(client.try_clone().unwrap()).lines().map(Result::unwrap);
            let request = head.next().unwrap();
            let target = request.strip_prefix("CONNECT ").unwrap().split(' ').next().unwrap();
            let mut server = TcpStream::connect(target).unwrap();
            assert!(head.any(|line| line.is_empty()), "the head ends with an empty line");
            client.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
            count.fetch_add(1, Ordering::Relaxed);
            let (mut from_server, mut to_client) = (server.try_clone().unwrap(), client.try_clone().unwrap());
            thread::spawn(move || copy(&mut from_server, &mut to_client));
            thread::spawn(move || copy(&mut client, &mut server));
        }
    });
    (url, tunnels)
}

#[test]
fn external_projects_send_a_recognition_and_verify_its_event() {
    let sender = build_project(
        "sender",
        include_str!("external_projects/sender.rs"),
        "guerdon-client = { path = \"CRATES/client\", features = [\"async\"] }\ntokio = { version = \"1\", features = [\"rt\"] }",
    );
    let verifier = build_project(
        "verifier",
        include_str!("external_projects/verifier.rs"),
        "guerdon-webhooks = { path = \"CRATES/webhooks\" }",
    );
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let receiver = WebhookReceiver::start().unwrap();
        let (provider, secret) = service.register_provider(
            "Outside",
            &["--manages-all-domain-resources", "--callback-url", &receiver.url()],
        );
        let sample = SampleCompany::create_in_domain(service, provider, "outside.example.com", 1);
        sample.deposit_points(service, 100);
        let ProviderCredentials { api_key, api_secret, .. } = &sample.provider;
        let certificate = service.data_dir.path().join("tls/certificate.pem").display().to_string();
        let (base, user) = (&service.running.api_url, &sample.users[0]);
        let arguments = [base, &certificate, api_key, api_secret, &sample.occasion, &sample.company, user];
        let (proxy, tunnels) = start_proxy();
        let printed = run_program(&sender, &arguments.map(String::as_str), &proxy);
        assert_eq!(printed, "sent 10 points\nreceived 10 points\n");
        assert_eq!(tunnels.load(Ordering::Relaxed), 3, "one for each client");

        let delivery = receiver.next_request();
        let (url, id) = (receiver.url(), delivery.event_id());
        let headers = ["X-Service-Timestamp", "X-Service-Nonce", "X-Service-Signature"];
        let [timestamp, nonce, signature] = headers.map(|name| delivery.header(name));
        let printed = run_program(
            &verifier,
            &[&url, &secret, id, timestamp, nonce, signature, delivery.body_text()],
            "",
        );
        assert_eq!(printed, format!("{id}: 10 points for u0 Doe\n"));
    });
}
