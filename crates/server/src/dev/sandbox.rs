//! Fills a sandbox with a provider, a corporation, two companies, funded users and occasions, and prints what to try.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use clap::Parser;
use data_encoding::HEXLOWER;
use guerdon_client::{
    Client, Credentials, NewCompany, NewOccasion, NewRecognition, NewUser, Sender, WalletType,
};
use serde_json::Value;
use uuid::Uuid;

use super::certificate;
use super::receiver::{REFUSED, Receiver};
use crate::application::run_command;
use crate::commands::{Command, Format};
use crate::platform::random;
use crate::settings::Settings;
use crate::terminal::Progress;
use crate::terminal::print_line;

/// How long to wait for an event.
const PATIENCE: Duration = Duration::from_secs(20);
/// The variables with which other commands find the sandbox.
const OF_COMMANDS: [&str; 5] = [
    "GUERDON_DATA_DIR",
    "GUERDON_DATABASE__URL",
    "GUERDON_MASTER_KEY",
    "GUERDON_WEBHOOKS__ALLOW_HTTP",
    "GUERDON_WEBHOOKS__ALLOW_PRIVATE_NETWORKS",
];
const RESERVE: &str = "100000";
const EACH: &str = "500";
/// The points of one recognition.
const GIFT: i64 = 10;
const LISTEN: &str = "guerdon listen --base-url \"$BASE_URL\" --cacert \"$CERTIFICATE\" \\\n  \
                      --forward-to http://127.0.0.1:8080/hook --shared-secret gw_local";

/// An empty sandbox.
pub(super) struct Sandbox {
    pub(super) settings: Settings,
    /// The settings as environment variables.
    pub(super) variables: Vec<(&'static str, String)>,
    pub(super) folder: PathBuf,
    pub(super) receiver: Receiver,
}

/// A sandbox with its data.
pub(super) struct Filled<'a> {
    sandbox: &'a Sandbox,
    client: Client,
    /// The variables that the examples in the documentation use.
    exports: Vec<(&'static str, String)>,
    scene: Scene,
}

/// The ids of the created objects.
struct Scene {
    corporation: Uuid,
    company: Uuid,
    ada: Uuid,
    alan: Uuid,
    occasion: Uuid,
    /// For examples that delete a user or an occasion.
    extra_user: Uuid,
    extra_occasion: Uuid,
}

/// A command line.
#[derive(Parser)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

impl Sandbox {
    /// Whether retries come sooner than in production.
    pub(super) fn is_sped(&self) -> bool {
        self.settings.webhooks.time_scale > 1.0
    }

    fn command(&self, words: &[&str]) -> Result<Value> {
        let line = Line::try_parse_from([&["guerdon"], words].concat())?;
        let output = run_command(&self.settings, &line.command, &Progress::default())
            .with_context(|| format!("guerdon {}", words.join(" ")))?;
        Ok(serde_json::from_str(output.in_format(Format::Json))?)
    }

    /// Creates the data, through the API if it has an endpoint for it.
    pub(super) fn fill(&self) -> Result<Filled<'_>> {
        let url = self.receiver.url();
        let words = [
            "provider",
            "create",
            "--name",
            "Sandbox",
            "--manages-all-domain-resources",
            "--callback-url",
            url,
        ];
        let provider = self.command(&words)?;
        let told = |name: &str| provider.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        self.receiver.expect(&told("shared_secret"));
        let credentials = Credentials { api_key: told("api_key"), api_secret: told("api_secret") };
        let base = self.settings.service_url.clone();
        let client = Client::trusting(&base, &credentials, &std::fs::read(certificate(&self.folder))?)?;
        let scene = Scene::make(&client)?;
        let company = scene.company.to_string();
        self.command(&["reserve", "deposit", &company, "--points", RESERVE])?;
        for wallet in ["peer_wallet", "manager_wallet"] {
            self.command(&["distribution", "run", &company, "--wallet", wallet, "--points", EACH])?;
        }
        let verified = self.receiver.verified();
        client.send_recognition(&scene.recognition()).send()?;
        let event = verified.recv_timeout(PATIENCE).context("the first event did not arrive")?;
        let exports = vec![
            ("BASE_URL", base.clone()),
            ("URL", format!("{base}/v1")),
            ("CERTIFICATE", certificate(&self.folder).display().to_string()),
            ("API_KEY", credentials.api_key.clone()),
            ("API_SECRET", credentials.api_secret.clone()),
            ("SHARED_SECRET", told("shared_secret")),
            ("CALLBACK_URL", url.to_owned()),
            ("PROVIDER_ID", told("id")),
            ("CORPORATION_ID", scene.corporation.to_string()),
            ("COMPANY_ID", company),
            ("USER_ID", scene.ada.to_string()),
            ("RECEIVER_ID", scene.alan.to_string()),
            ("OCCASION_ID", scene.occasion.to_string()),
            ("EXTRA_USER_ID", scene.extra_user.to_string()),
            ("EXTRA_OCCASION_ID", scene.extra_occasion.to_string()),
            ("EVENT_ID", event),
            ("GUERDON_API_KEY", credentials.api_key),
            ("GUERDON_API_SECRET", credentials.api_secret),
        ];
        Ok(Filled { sandbox: self, client, exports, scene })
    }
}

impl Scene {
    fn make(client: &Client) -> Result<Self> {
        // A database that is used again contains the companies of an earlier sandbox.
        let domain = format!("acme-{}.example", HEXLOWER.encode(&random::bytes::<3>()?));
        let corporation = client.create_corporation("Acme Group").send()?.id;
        let company = |name: &str, domain: &str| {
            let company = NewCompany {
                domain: domain.to_owned(),
                company_name: name.to_owned(),
                owner_email: format!("ada@{domain}"),
                owner_name: "Ada Lovelace".to_owned(),
                logo_url: format!("https://{domain}/logo.png"),
                corporation_id: Some(corporation),
                reserve_alert: Some(1_000),
                ..NewCompany::default()
            };
            client.create_company(&company).send()
        };
        let acme = company("Acme Robots", &domain)?;
        company("Acme Paper", &format!("paper.{domain}"))?;
        let user = |first: &str, last: &str, manager: bool| {
            let user = NewUser {
                company_id: acme.id,
                email: format!("{}@{domain}", first.to_lowercase()),
                first_name: first.to_owned(),
                last_name: last.to_owned(),
                manager,
                ..NewUser::default()
            };
            client.create_user(&user).send()
        };
        let alan = user("Alan", "Turing", false)?.id;
        user("Edith", "Clarke", true)?;
        let extra_user = user("Konrad", "Zuse", false)?.id;
        let occasion = |name: &str, title: &str, message: &str| {
            let occasion = NewOccasion {
                company_id: acme.id,
                name: name.to_owned(),
                title: title.to_owned(),
                default_message: message.to_owned(),
                ..NewOccasion::default()
            };
            client.create_occasion(&occasion).send()
        };
        let extra_occasion = occasion("Birthday", "Happy birthday", "Happy birthday!")?.id;
        let occasion = occasion("Thank you", "You were thanked", "Thank you for your help.")?.id;
        let (company, ada) = (acme.id, acme.owner_id);
        Ok(Self { corporation, company, ada, alan, occasion, extra_user, extra_occasion })
    }

    /// A recognition from Ada to Alan.
    fn recognition(&self) -> NewRecognition {
        NewRecognition::new(self.occasion, Sender::User(self.ada), &[self.alan], GIFT)
    }
}

impl Filled<'_> {
    /// Prints the ids and credentials, and what to try.
    pub(super) fn show(&self) {
        let base = &self.sandbox.settings.service_url;
        print_line(format_args!("\nThe sandbox is at {base}, its documentation at {base}/docs"));
        print_line("Your browser will warn about the self-signed certificate.");
        print_line(
            "\nPaste these lines into another terminal; the examples in the documentation use them:\n",
        );
        let of_commands = self.sandbox.variables.iter().filter(|(name, _)| OF_COMMANDS.contains(name));
        for (name, value) in self.exports.iter().chain(of_commands) {
            print_line(format_args!("export {name}={}", quoted(value)));
        }
        if let Some(folder) = std::env::current_exe().ok().as_deref().and_then(Path::parent) {
            print_line(format_args!("export PATH={}:\"$PATH\"", quoted(&folder.display().to_string())));
        }
        print_line("\nThen try one of these, and watch the output here:\n");
        print_line(format_args!("1. Send a recognition:\n\n{}\n", self.send("You made my day.")));
        print_line(format_args!(
            "2. See what happens when your receiver fails:\n\n{}\n",
            self.send(&format!("{REFUSED} this one"))
        ));
        print_line(
            "3. See the new balance:\n\ncurl --cacert \"$CERTIFICATE\" --user \"$API_KEY:$API_SECRET\" \
             \"$URL/users/$RECEIVER_ID/balances\"\n",
        );
        print_line(format_args!("4. Forward the events to your own receiver as well:\n\n{LISTEN}\n"));
        print_line(
            "Commands such as `guerdon company list` work there too. Ctrl-C here stops the sandbox.\n",
        );
    }

    fn send(&self, message: &str) -> String {
        format!(
            "curl --cacert \"$CERTIFICATE\" --user \"$API_KEY:$API_SECRET\" \"$URL/recognitions\" \\\n  \
             -H 'Content-Type: application/json' \\\n  \
             -d '{{\"occasion_id\": \"'\"$OCCASION_ID\"'\", \"sender_type\": \"user\", \"sender_id\": \"'\"$USER_ID\"'\",\n       \
             \"receiver_ids\": \"'\"$RECEIVER_ID\"'\", \"points_per_receiver\": 10, \"message\": \"{message}\"}}'"
        )
    }

    /// Causes an event that the receiver refuses, to show the whole retry schedule.
    pub(super) fn fail(&self) -> Result<()> {
        self.client.send_recognition(&self.scene.recognition().with_message(REFUSED)).send()?;
        Ok(())
    }

    /// Runs the first and the third example, and checks that the event and the points arrive.
    pub(super) fn check(&self) -> Result<()> {
        let (verified, before) = (self.sandbox.receiver.verified(), self.received()?);
        self.client.send_recognition(&self.scene.recognition()).send()?;
        verified.recv_timeout(PATIENCE).context("the event did not arrive")?;
        let (expected, points) = (before + GIFT, self.received()?);
        ensure!(points == expected, "the receiver should have {expected} points, but has {points}");
        print_line("All checks passed.");
        Ok(())
    }

    /// Returns the points of the receiver in the examples.
    fn received(&self) -> Result<i64> {
        let balances = self.client.balances(self.scene.alan).send()?;
        balances.points(WalletType::UserWallet).context("the receiver has no user wallet")
    }
}

/// Quotes a string for a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
