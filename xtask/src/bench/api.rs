//! How fast the provider API answers.

use std::time::Duration;

use anyhow::{Context, Result};

use super::ceiling::{static_server, syncs_per_second};
use super::figures::{Row, per_second};
use super::fixture::{Company, Provider};
use super::https::{Https, Loop, Request, closed_loop};
use super::service::Service;

const CONNECTIONS: [usize; 2] = [1, 32];
const PERIOD: Duration = Duration::from_secs(4);
const USERS: usize = 64;
const STATIC: &str = "ceiling: a static answer over TLS";
/// More than any of them sends.
const POINTS: &str = "1000000";

pub(super) fn measure(service: &Service) -> Result<Vec<Row>> {
    // Without a callback URL nothing is sent meanwhile.
    let provider = Provider::create(service, None)?;
    let company = Company::create(service, &provider, "measured", USERS)?;
    service.operate(&["distribution", "run", &company.id, "--wallet", "peer_wallet", "--points", POINTS])?;
    let user = company.users.first().context("no user")?;
    let get_user = provider.get(&format!("/v1/users/{user}"));
    let get_balances = provider.get(&format!("/v1/users/{user}/balances"));
    let get_transactions =
        provider.get(&format!("/v1/users/{user}/transactions?type=user_wallet&per_page=100"));
    let static_body = service.https().connect()?.expect(200, &get_user)?;
    let syncs =
        Row::new("ceiling: write 4 KiB and fdatasync, in a loop").rate(syncs_per_second(service.data())?);

    let mut rows = Vec::new();
    for connections in CONNECTIONS {
        let address = static_server(service.https(), &static_body, connections)?;
        let at = |what: &str| format!("{what}, {connections} connection{}", plural(connections));
        let run = |what: &str, https: &Https, status: u16, request: &Request<'_>| -> Result<Row> {
            let before = service.processor_time();
            let done = closed_loop(https, connections, PERIOD, status, request)?;
            let after = service.processor_time();
            let all = done.answered.max(1);
            let row = Row::new(at(what))
                .rate(per_second(done.times.len(), done.took))
                .cpu((after.0 - before.0) / all, (after.1 - before.1) / all)
                .note(note(&done));
            Ok(row.times(done.times))
        };
        let get = |what: &str, bytes: &[u8]| run(what, service.https(), 200, &|_, _| bytes.to_vec());
        let post = |what: &str, request: &Request<'_>| run(what, service.https(), 201, request);
        // Each connection has a sender of its own.
        let one = |connection: usize, count: usize| company.thanks_of_user(connection, count, 1);
        let ceiling = run(STATIC, &service.https().at(address), 200, &|_, _| get_user.clone())?;
        rows.extend([
            get("GET user", &get_user)?.beside(&ceiling, "the static answer"),
            get("GET balances", &get_balances)?.beside(&ceiling, "the static answer"),
            post("POST recognitions", &|connection, count| {
                provider.post("/v1/recognitions", &one(connection, count))
            })?
            .beside(&syncs, "fdatasync"),
            post("POST recognitions with a key", &|connection, count| {
                let key = format!("bench-{connections}-{connection}-{count}");
                provider.post_with_key("/v1/recognitions", &one(connection, count), Some(&key))
            })?
            .beside(&syncs, "fdatasync"),
            post("POST recognitions of one reserve", &|connection, count| {
                provider.post("/v1/recognitions", &company.thanks_to(connection + count))
            })?
            .beside(&syncs, "fdatasync"),
            post("POST recognitions to ten", &|connection, count| {
                let thanks = company.thanks_of_user(connection, count, 10);
                provider.post("/v1/recognitions", &thanks)
            })?
            .beside(&syncs, "fdatasync"),
            get("GET transactions, a page of 100", &get_transactions)?.beside(&ceiling, "the static answer"),
            ceiling,
        ]);
    }
    rows.insert(0, syncs);
    Ok(rows)
}

/// What was not answered as it should be.
fn note(done: &Loop) -> String {
    let Some(refusal) = &done.refusal else { return String::new() };
    let said = String::from_utf8_lossy(&refusal.body);
    format!("{} not counted, such as {}: {said}", done.refused, refusal.status)
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
