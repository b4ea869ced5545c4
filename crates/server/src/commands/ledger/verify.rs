//! `guerdon verify`.

use data_encoding::HEXLOWER_PERMISSIVE;
use guerdon_console::numbers;
use guerdon_domain::audit::{AuditReport, Checked, Violation};
use guerdon_domain::ports::{Clock as _, Setting, StoreError, StoreExt as _};
use serde::{Deserialize, Serialize};

use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};
use crate::maintenance::verify;
use crate::platform::SystemClock;

/// Verify the ledger, read-only.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon verify
  guerdon verify --head HEAD")]
pub(crate) struct Verify {
    /// A head from `guerdon seal`: proves that nothing sealed up to it was changed or removed since.
    #[arg(long, value_name = "HEAD", value_parser = digits)]
    head: Option<String>,
}

fn digits(text: &str) -> Result<String, String> {
    bytes(text)
        .map(|_| text.to_owned())
        .ok_or_else(|| "must be the 64 hex digits that `guerdon seal` prints".to_owned())
}

fn bytes(text: &str) -> Option<[u8; 32]> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?.try_into().ok()
}

/// The result of the verification.
#[derive(Serialize)]
struct Findings {
    ok: bool,
    /// One line per violation: the invariant and the detail.
    violations: Vec<String>,
    checked: Counts,
}

/// How many rows were read.
#[derive(Serialize)]
struct Counts {
    journal_entries: u64,
    transfers: u64,
    accounts: u64,
    recognitions: u64,
    events: u64,
    seals: u64,
}

impl From<AuditReport> for Findings {
    fn from(it: AuditReport) -> Self {
        let Checked { journal_entries, transfers, accounts, recognitions, events, seals } = it.checked;
        let line = |violation: &Violation| {
            format!("{}: {}", violation.invariant, violation.detail.replace('\n', " "))
        };
        Self {
            ok: it.violations.is_empty(),
            violations: it.violations.iter().map(line).collect(),
            checked: Counts { journal_entries, transfers, accounts, recognitions, events, seals },
        }
    }
}

impl View for Findings {
    fn text(&self) -> String {
        if !self.ok {
            return self.violations.join("\n");
        }
        let Counts { journal_entries, transfers, accounts, recognitions, events, seals } = self.checked;
        let read = [
            numbers::of(journal_entries, "journal entry", "journal entries"),
            numbers::of(transfers, "transfer", "transfers"),
            numbers::of(accounts, "account", "accounts"),
            numbers::of(recognitions, "recognition", "recognitions"),
            numbers::of(events, "event", "events"),
            numbers::of(seals, "seal", "seals"),
        ];
        format!("ok: every invariant holds\nchecked: {}", read.join(", "))
    }
}

/// Stores the time and the result for the console, if the database accepts writes. An embedded database that no service
/// has open is not changed: it may be evidence.
fn note(environment: &CommandEnvironment, found: usize) {
    let told = format!("{} {found}", SystemClock.now().unix_micros());
    let noted = environment
        .store
        .transaction(|tx| -> Result<(), StoreError> { tx.set_setting(Setting::LastVerification, &told) });
    if let Err(cause) = noted {
        log::debug!("cannot record the verification: {cause}");
    }
}

impl Runnable for Verify {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let head = self.head.as_deref().and_then(bytes);
        let CommandEnvironment { store, keys, settings, threads, .. } = environment;
        let report = verify(store.as_ref(), Some(keys), head, settings, *threads)?;
        if environment.in_service || environment.settings.embedded_database().is_none() {
            note(environment, report.violations.len());
        }
        let findings = Findings::from(report);
        Ok(Output { status: u8::from(!findings.ok), ..findings.output()? })
    }

    fn may_take_long(&self) -> bool {
        true
    }
}
