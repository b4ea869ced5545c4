//! `guerdon verify`.

use data_encoding::HEXLOWER_PERMISSIVE;
use guerdon_console::numbers;
use guerdon_domain::audit::{AuditReport, CheckedRows, Violation};
use guerdon_domain::ports::{Clock as _, Setting, StoreError, StoreExt as _};
use serde::{Deserialize, Serialize};

use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};
use crate::maintenance::verify_database;
use crate::platform::SystemClock;

/// Verify the ledger, read-only.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon verify
  guerdon verify --head HEAD")]
pub(crate) struct Verify {
    /// A head from `guerdon seal`: proves that nothing that it seals was changed or removed since then.
    #[arg(long, value_name = "HEAD", value_parser = check_head)]
    head: Option<String>,
}

fn check_head(text: &str) -> Result<String, String> {
    decode_head(text)
        .map(|_| text.to_owned())
        .ok_or_else(|| "must be the 64 hex digits that `guerdon seal` prints".to_owned())
}

fn decode_head(text: &str) -> Option<[u8; 32]> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()?.try_into().ok()
}

/// The result of the verification.
#[derive(Serialize)]
struct VerificationView {
    ok: bool,
    /// One line per violation: the invariant and the detail.
    violations: Vec<String>,
    checked: CheckedCounts,
}

/// How many rows were read.
#[derive(Serialize)]
struct CheckedCounts {
    journal_entries: u64,
    transfers: u64,
    accounts: u64,
    recognitions: u64,
    events: u64,
    seals: u64,
}

impl From<AuditReport> for VerificationView {
    fn from(report: AuditReport) -> Self {
        let CheckedRows { journal_entries, transfers, accounts, recognitions, events, seals } =
            report.checked;
        let line = |violation: &Violation| {
            format!("{}: {}", violation.invariant, violation.detail.replace('\n', " "))
        };
        Self {
            ok: report.violations.is_empty(),
            violations: report.violations.iter().map(line).collect(),
            checked: CheckedCounts { journal_entries, transfers, accounts, recognitions, events, seals },
        }
    }
}

impl CommandView for VerificationView {
    fn to_text(&self) -> String {
        if !self.ok {
            return self.violations.join("\n");
        }
        let CheckedCounts { journal_entries, transfers, accounts, recognitions, events, seals } =
            self.checked;
        let read = [
            numbers::count_with_noun(journal_entries, "journal entry", "journal entries"),
            numbers::count_with_noun(transfers, "transfer", "transfers"),
            numbers::count_with_noun(accounts, "account", "accounts"),
            numbers::count_with_noun(recognitions, "recognition", "recognitions"),
            numbers::count_with_noun(events, "event", "events"),
            numbers::count_with_noun(seals, "seal", "seals"),
        ];
        format!("ok: every invariant holds\nchecked: {}", read.join(", "))
    }
}

/// Stores the time and the result for the console, if the database accepts writes. An embedded database that no service
/// has open is not changed: it may be evidence.
fn record_result(environment: &CommandEnvironment, violations: usize) {
    let value = format!("{} {violations}", SystemClock.now().unix_micros());
    let stored = environment
        .store
        .transaction(|tx| -> Result<(), StoreError> { tx.set_setting(Setting::LastVerification, &value) });
    if let Err(cause) = stored {
        log::debug!("cannot record the verification: {cause}");
    }
}

impl RunnableCommand for Verify {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let head = self.head.as_deref().and_then(decode_head);
        let CommandEnvironment { store, keys, settings, threads, .. } = environment;
        let report = verify_database(store.as_ref(), Some(keys), head, settings, *threads)?;
        if environment.in_service || environment.settings.embedded_database().is_none() {
            record_result(environment, report.violations.len());
        }
        let findings = VerificationView::from(report);
        Ok(CommandOutput { status: u8::from(!findings.ok), ..findings.to_output()? })
    }

    fn may_take_long(&self) -> bool {
        true
    }
}
