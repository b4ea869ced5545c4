//! `guerdon listen`: events on one's own machine, without a callback URL.

use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::support::receiver::{Arrival, PATIENCE, Receiver};
use crate::support::service::Service;
use crate::support::{Sample, on_each};

const SECRET: &str = "gw_of_my_own";

struct Listener(Child);

impl Listener {
    fn start(
        service: &Service,
        sample: &Sample,
        receiver: &Receiver,
        home: &std::path::Path,
        more: &[&str],
    ) -> Self {
        let certificate = service.data.path().join("tls/certificate.pem");
        let child = Command::new(env!("CARGO_BIN_EXE_guerdon"))
            .args(["listen", "--base-url", &service.running.api, "--forward-to", &receiver.url()])
            .args(["--shared-secret", SECRET, "--cacert", certificate.to_str().unwrap()])
            .args(more)
            .env("GUERDON_API_KEY", &sample.provider.api_key)
            .env("GUERDON_API_SECRET", &sample.provider.api_secret)
            .env("XDG_STATE_HOME", home)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

fn next(receiver: &Receiver) -> Arrival {
    let arrival = receiver.next();
    arrival.verified(&receiver.url(), SECRET).unwrap();
    arrival
}

#[test]
fn events_come_as_they_happen_and_go_on_where_they_stopped() {
    on_each(|service| {
        let sample = Sample::make(service, 2);
        sample.fund(service, 1_000);
        let send = || {
            let sent = sample.send(service, &sample.users[0], &[&sample.users[1]], 1).json();
            sent["recognitions"][0]["id"].as_str().unwrap().to_owned()
        };
        let (receiver, home) = (Receiver::start(), tempfile::tempdir().unwrap());
        let first = send();
        let listener = Listener::start(service, &sample, &receiver, home.path(), &["--since", "1h"]);
        let arrival = next(&receiver);
        assert_eq!(arrival.json()["data"]["id"], first.as_str());
        let second = send();
        assert_eq!(next(&receiver).json()["data"]["id"], second.as_str());
        let kept = || {
            let folder = std::fs::read_dir(home.path().join("guerdon/listen")).unwrap();
            let file = folder.map(|it| it.unwrap().path()).find(|it| it.extension().is_none());
            file.map(|it| std::fs::read_to_string(it).unwrap())
        };
        let event = service.get(&sample.provider, "/v1/events").json();
        let next_place = event["next"].as_str().unwrap().to_owned();
        let deadline = Instant::now() + PATIENCE;
        while kept().as_deref() != Some(next_place.as_str()) {
            assert!(Instant::now() < deadline, "{:?} is not kept as {next_place}", kept());
            std::thread::yield_now();
        }
        drop(listener);
        let third = send();
        let _listener = Listener::start(service, &sample, &receiver, home.path(), &[]);
        assert_eq!(next(&receiver).json()["data"]["id"], third.as_str(), "neither the second again nor none");
    });
}

#[test]
fn what_is_missing_is_told() {
    let bare = Command::new(env!("CARGO_BIN_EXE_guerdon"))
        .args(["listen", "--base-url", "https://localhost:1", "--forward-to", "http://localhost:2"])
        .env_remove("GUERDON_API_KEY")
        .output()
        .unwrap();
    assert_eq!(bare.status.code(), Some(1));
    let told = String::from_utf8(bare.stderr).unwrap();
    assert_eq!(told, "guerdon: GUERDON_API_KEY is not set: it is what the operator gave you\n");
}
