//! Verifies deliveries with the published Standard Webhooks libraries for Python and JavaScript, through the receivers
//! of docs/receiving-events.md.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use guerdon_test_harness::{ReceivedRequest, WebhookReceiver};
use serde_json::json;

use crate::measurement::service::RunningService;
use crate::npm::install_packages;
use crate::python::prepare_environment;
use crate::workspace::{Workspace, command_output, copy_files, string_field};

const PYTHON: [&str; 1] = ["standardwebhooks==1.1.0"];
const SECTION: &str = "## With a Standard Webhooks library\n";

/// A delivery in a file, and a secret that verifies it.
struct SignedDelivery {
    secret: String,
    file: PathBuf,
}

/// Verifies deliveries before and during the grace period of a rotation, the latter with both secrets.
pub(super) fn check_standard_webhooks(workspace: &Workspace, service: &RunningService) -> Result<()> {
    let folder = workspace.target.join("tools").join("standardwebhooks");
    let python = prepare_environment(workspace, "standardwebhooks", &PYTHON)?.join("bin").join("python");
    install_receivers(workspace, &folder)?;
    for delivery in record_deliveries(service)? {
        for (program, script) in [(python.as_path(), "check.py"), (Path::new("node"), "check.mjs")] {
            let mut check = Command::new(program);
            check.arg(script).current_dir(&folder).env("PYTHONDONTWRITEBYTECODE", "1");
            command_output(check.env("SHARED_SECRET", &delivery.secret).env("DELIVERY", &delivery.file))?;
        }
    }
    Ok(())
}

/// Puts the receivers of the guide and the scripts that call them into a folder, with the library for JavaScript.
fn install_receivers(workspace: &Workspace, folder: &Path) -> Result<()> {
    let guide = fs::read_to_string(workspace.root.join("docs").join("receiving-events.md"))?;
    for (language, file) in [("python", "receiver.py"), ("javascript", "receiver.mjs")] {
        fs::write(folder.join(file), example_code(&guide, language)?)?;
    }
    let source = workspace.root.join("xtask").join("standard-webhooks");
    copy_files(&source, &["check.py", "check.mjs", "package.json", "package-lock.json"], folder)?;
    install_packages(folder)
}

/// Returns the code block of a language in the section of the guide.
fn example_code<'a>(guide: &'a str, language: &str) -> Result<&'a str> {
    let section = guide.split_once(SECTION).context("the guide has no section about Standard Webhooks")?.1;
    let block =
        section.split_once(&format!("```{language}\n")).and_then(|(_, rest)| rest.split_once("```\n"));
    Ok(block.with_context(|| format!("the section has no example in {language}"))?.0)
}

/// Sends an example event to a new provider before and after a rotation, and stores the deliveries.
fn record_deliveries(service: &RunningService) -> Result<[SignedDelivery; 3]> {
    let receiver = WebhookReceiver::start()?;
    let create = ["provider", "create", "--name", "standard-webhooks", "--callback-url", &receiver.url()];
    let provider = service.run_cli(&create)?;
    let (id, old_secret) = (string_field(&provider, "id")?, string_field(&provider, "shared_secret")?);
    let send_example = |name: &str| -> Result<PathBuf> {
        service.run_cli(&["webhook", "send-example", &id, "--type", "recognition.received"])?;
        let event = receiver.unread_requests().pop().context("no event arrived")?;
        let file = service.data_folder().join(name);
        fs::write(&file, delivery_json(&event)?)?;
        Ok(file)
    };
    let first = send_example("first-delivery.json")?;
    let rotated = service.run_cli(&["provider", "rotate", &id, "--shared-secret", "--grace", "1"])?;
    let new_secret = string_field(&rotated, "shared_secret")?;
    ensure!(new_secret != old_secret, "the rotation kept the secret");
    let second = send_example("second-delivery.json")?;
    Ok([
        SignedDelivery { secret: old_secret.clone(), file: first },
        SignedDelivery { secret: old_secret, file: second.clone() },
        SignedDelivery { secret: new_secret, file: second },
    ])
}

fn delivery_json(event: &ReceivedRequest) -> Result<String> {
    let headers: BTreeMap<_, _> = event.headers.iter().map(|(name, value)| (name, value)).collect();
    Ok(json!({"headers": headers, "body": std::str::from_utf8(&event.body)?}).to_string())
}
