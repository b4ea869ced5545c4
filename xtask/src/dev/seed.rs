//! What a sandbox holds: a provider, a company, two users with points to give, an occasion.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::Service;
use super::curl::{Client, ShellLine};
use crate::workspace::{output, text};

pub(super) struct Sandbox {
    client: Client,
    domain: String,
    company: String,
    sender: String,
    receiver: String,
    occasion: String,
}

impl Sandbox {
    pub(super) fn seed(service: &Service) -> Result<Self> {
        let create = ["provider", "create", "--name", "Sandbox", "--manages-all-domain-resources"];
        let provider = command(service, &create)?;
        let client = service.client(text(&provider, "api_key")?, text(&provider, "api_secret")?);
        // A database that is used again already holds the company of an earlier sandbox.
        let domain = format!("sandbox-{}.example", super::random_hex(4)?);

        let company = client.post("/v1/companies", &company_body(&domain))?;
        let company = text(&company, "id")?;
        let user = |first: &str, last: &str| -> Result<String> {
            text(&client.post("/v1/users", &user_body(&company, &domain, first, last))?, "id")
        };
        let sender = user("Ada", "Lovelace")?;
        let receiver = user("Alan", "Turing")?;
        let occasion = json!({
            "company_id": company, "name": "Thank you", "title": "Thank you!",
            "default_message": "Thank you for your help.",
        });
        let occasion = text(&client.post("/v1/occasions", &occasion)?, "id")?;

        command(service, &["reserve", "deposit", &company, "--points", "100000"])?;
        let wallet = ["--wallet", "peer_wallet", "--points", "500"];
        command(service, &[["distribution", "run", &company].as_slice(), &wallet].concat())?;
        Ok(Self { client, domain, company, sender, receiver, occasion })
    }

    pub(super) fn key(&self) -> &str {
        self.client.key()
    }

    pub(super) fn secret(&self) -> &str {
        self.client.secret()
    }

    /// Create a user, send a recognition, read the balances.
    pub(super) fn lines(&self) -> [ShellLine; 3] {
        let user = user_body(&self.company, &self.domain, "Grace", "Hopper");
        let recognition = json!({
            "occasion_id": self.occasion, "sender_type": "user", "sender_id": self.sender,
            "receiver_ids": self.receiver, "points_per_receiver": 10, "message": "You made my day.",
        });
        let balances = format!("/v1/users/{}/balances", self.receiver);
        [
            self.client.line("/v1/users", Some(&user), 201),
            self.client.line("/v1/recognitions", Some(&recognition), 201),
            self.client.line(&balances, None, 200),
        ]
    }
}

fn company_body(domain: &str) -> Value {
    json!({
        "domain": domain, "company_name": "Sandbox", "owner_email": format!("owner@{domain}"),
        "owner_name": "Olive Owner", "logo_url": format!("https://{domain}/logo.png"),
    })
}

fn user_body(company: &str, domain: &str, first: &str, last: &str) -> Value {
    let email = format!("{}@{domain}", first.to_lowercase());
    json!({ "company_id": company, "email": email, "first_name": first, "last_name": last })
}

/// Runs a command of the binary beside the running service and answers what it prints.
fn command(service: &Service, arguments: &[&str]) -> Result<Value> {
    let printed = output(service.command(arguments).args(["--output", "json"]))
        .with_context(|| format!("guerdon {}", arguments.join(" ")))?;
    serde_json::from_str(&printed)
        .with_context(|| format!("reading the output of guerdon {}", arguments.join(" ")))
}
