//! Fills a sandbox with a provider, a corporation, two companies, funded users and occasions, and prints examples to
//! try.

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

use super::certificate_path;
use super::receiver::{REFUSED_PREFIX, SandboxReceiver};
use crate::application::run_command;
use crate::commands::{Command, Format};
use crate::platform::random;
use crate::settings::Settings;
use crate::terminal::Progress;
use crate::terminal::print_line;

/// How long to wait for an event.
const EVENT_TIMEOUT: Duration = Duration::from_secs(20);
/// The variables that other commands need to find the sandbox.
const COMMAND_VARIABLES: [&str; 6] = [
    "GUERDON_DATA_DIR",
    "GUERDON_OPERATOR__LISTEN",
    "GUERDON_DATABASE__URL",
    "GUERDON_MASTER_KEY",
    "GUERDON_WEBHOOKS__ALLOW_HTTP",
    "GUERDON_WEBHOOKS__ALLOW_PRIVATE_NETWORKS",
];
const RESERVE_POINTS: &str = "100000";
const WALLET_POINTS: &str = "500";
/// The points of one recognition.
const RECOGNITION_POINTS: i64 = 10;
const LISTEN_EXAMPLE: &str = "guerdon listen --base-url \"$BASE_URL\" --cacert \"$CERTIFICATE\" \\\n  \
                      --forward-to http://127.0.0.1:8080/hook --shared-secret gw_local";

/// An empty sandbox.
pub(super) struct Sandbox {
    pub(super) settings: Settings,
    /// The settings as environment variables.
    pub(super) variables: Vec<(&'static str, String)>,
    pub(super) folder: PathBuf,
    pub(super) receiver: SandboxReceiver,
}

/// A sandbox with its data.
pub(super) struct FilledSandbox<'a> {
    sandbox: &'a Sandbox,
    client: Client,
    /// The variables that the examples in the documentation use.
    exports: Vec<(&'static str, String)>,
    data: SampleData,
}

/// The ids of the created objects.
struct SampleData {
    corporation: Uuid,
    company: Uuid,
    ada: Uuid,
    alan: Uuid,
    occasion: Uuid,
    /// A user for the examples that delete a user. `extra_occasion` is for the examples that delete an occasion.
    extra_user: Uuid,
    extra_occasion: Uuid,
}

/// A command line.
#[derive(Parser)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

impl Sandbox {
    /// Whether retries come sooner than in production.
    pub(super) fn is_accelerated(&self) -> bool {
        self.settings.webhooks.schedule.time_scale() > 1.0
    }

    fn run_for_json(&self, arguments: &[&str]) -> Result<Value> {
        let line = CommandLine::try_parse_from([&["guerdon"], arguments].concat())?;
        let output = run_command(&self.settings, &line.command, &Progress::default())
            .with_context(|| format!("guerdon {}", arguments.join(" ")))?;
        Ok(serde_json::from_str(output.in_format(Format::Json))?)
    }

    /// Creates the data, through the API where it has an endpoint.
    pub(super) fn create_data(&self) -> Result<FilledSandbox<'_>> {
        let url = self.receiver.url();
        let arguments = [
            "provider",
            "create",
            "--name",
            "Sandbox",
            "--manages-all-domain-resources",
            "--callback-url",
            url,
        ];
        let provider = self.run_for_json(&arguments)?;
        let field = |name: &str| provider.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        self.receiver.set_secret(&field("shared_secret"));
        let credentials = Credentials { api_key: field("api_key"), api_secret: field("api_secret") };
        let base_url = self.settings.service_url.clone();
        let client = Client::with_root_certificates(
            &base_url,
            &credentials,
            &std::fs::read(certificate_path(&self.folder))?,
        )?;
        let data = SampleData::create_objects(&client)?;
        let company = data.company.to_string();
        self.run_for_json(&["reserve", "deposit", &company, "--points", RESERVE_POINTS])?;
        for wallet in ["peer_wallet", "manager_wallet"] {
            self.run_for_json(&[
                "distribution",
                "run",
                &company,
                "--wallet",
                wallet,
                "--points",
                WALLET_POINTS,
            ])?;
        }
        let verified = self.receiver.subscribe_verified();
        let sent = client.send_recognition(&data.new_recognition()).send()?;
        let recognition = sent.recognitions.first().context("no recognition was sent")?.id;
        let event = verified.recv_timeout(EVENT_TIMEOUT).context("the first event did not arrive")?;
        let exports = vec![
            ("BASE_URL", base_url.clone()),
            ("URL", format!("{base_url}/v1")),
            ("CERTIFICATE", certificate_path(&self.folder).display().to_string()),
            ("API_KEY", credentials.api_key.clone()),
            ("API_SECRET", credentials.api_secret.clone()),
            ("SHARED_SECRET", field("shared_secret")),
            ("CALLBACK_URL", url.to_owned()),
            ("PROVIDER_ID", field("id")),
            ("CORPORATION_ID", data.corporation.to_string()),
            ("COMPANY_ID", company),
            ("USER_ID", data.ada.to_string()),
            ("RECEIVER_ID", data.alan.to_string()),
            ("OCCASION_ID", data.occasion.to_string()),
            ("EXTRA_USER_ID", data.extra_user.to_string()),
            ("EXTRA_OCCASION_ID", data.extra_occasion.to_string()),
            ("RECOGNITION_ID", recognition.to_string()),
            ("EVENT_ID", event),
            ("GUERDON_API_KEY", credentials.api_key),
            ("GUERDON_API_SECRET", credentials.api_secret),
        ];
        Ok(FilledSandbox { sandbox: self, client, exports, data })
    }
}

impl SampleData {
    fn create_objects(client: &Client) -> Result<Self> {
        // The database may already contain the companies of an earlier sandbox.
        let domain = format!("acme-{}.example", HEXLOWER.encode(&random::generate_bytes::<3>()?));
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
    fn new_recognition(&self) -> NewRecognition {
        NewRecognition::new(self.occasion, Sender::User(self.ada), &[self.alan], RECOGNITION_POINTS)
    }
}

impl FilledSandbox<'_> {
    /// Prints the ids and credentials, and examples to try.
    pub(super) fn print_instructions(&self) {
        let base_url = &self.sandbox.settings.service_url;
        print_line(format_args!("\nThe sandbox is at {base_url}, its documentation at {base_url}/docs"));
        let settings = &self.sandbox.settings;
        print_line(format_args!(
            "It listens on {} (http.listen), and on {} for its console and metrics (operator.listen).",
            settings.http.listen, settings.operator_listen
        ));
        print_line("Your browser will warn about the self-signed certificate.");
        print_line(
            "\nPaste these lines into another terminal; the examples in the documentation use them:\n",
        );
        let command_variables =
            self.sandbox.variables.iter().filter(|(name, _)| COMMAND_VARIABLES.contains(name));
        for (name, value) in self.exports.iter().chain(command_variables) {
            print_line(format_args!("export {name}={}", shell_quote(value)));
        }
        if let Some(folder) = std::env::current_exe().ok().as_deref().and_then(Path::parent) {
            print_line(format_args!("export PATH={}:\"$PATH\"", shell_quote(&folder.display().to_string())));
        }
        print_line("\nThen try one of these, and watch the output here:\n");
        print_line(format_args!("1. Send a recognition:\n\n{}\n", self.curl_command("You made my day.")));
        print_line(format_args!(
            "2. See what happens when your receiver fails:\n\n{}\n",
            self.curl_command(&format!("{REFUSED_PREFIX} this one"))
        ));
        print_line(
            "3. See the new balance:\n\ncurl --cacert \"$CERTIFICATE\" --user \"$API_KEY:$API_SECRET\" \
             \"$URL/users/$RECEIVER_ID/balances\"\n",
        );
        print_line(format_args!("4. Forward the events to your own receiver, too:\n\n{LISTEN_EXAMPLE}\n"));
        print_line(
            "Commands such as `guerdon company list` work there too. Ctrl-C here stops the sandbox.\n",
        );
    }

    fn curl_command(&self, message: &str) -> String {
        format!(
            "curl --cacert \"$CERTIFICATE\" --user \"$API_KEY:$API_SECRET\" \"$URL/recognitions\" \\\n  \
             -H 'Content-Type: application/json' \\\n  \
             -d '{{\"occasion_id\": \"'\"$OCCASION_ID\"'\", \"sender_type\": \"user\", \"sender_id\": \"'\"$USER_ID\"'\",\n       \
             \"receiver_ids\": \"'\"$RECEIVER_ID\"'\", \"points_per_receiver\": 10, \"message\": \"{message}\"}}'"
        )
    }

    /// Sends a recognition whose event the receiver refuses, to show the whole retry schedule.
    pub(super) fn send_refused_event(&self) -> Result<()> {
        self.client.send_recognition(&self.data.new_recognition().with_message(REFUSED_PREFIX)).send()?;
        Ok(())
    }

    /// Runs the first and the third example, and checks that the event and the points arrive.
    pub(super) fn run_self_test(&self) -> Result<()> {
        let (verified, before) = (self.sandbox.receiver.subscribe_verified(), self.receiver_points()?);
        self.client.send_recognition(&self.data.new_recognition()).send()?;
        verified.recv_timeout(EVENT_TIMEOUT).context("the event did not arrive")?;
        let (expected, points) = (before + RECOGNITION_POINTS, self.receiver_points()?);
        ensure!(points == expected, "the receiver should have {expected} points, but has {points}");
        print_line("All checks passed.");
        Ok(())
    }

    /// Returns the points of the user who receives recognitions in the examples.
    fn receiver_points(&self) -> Result<i64> {
        let balances = self.client.get_balances(self.data.alan).send()?;
        balances.points(WalletType::UserWallet).context("the receiver has no user wallet")
    }
}

/// Quotes a string for a shell.
fn shell_quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
