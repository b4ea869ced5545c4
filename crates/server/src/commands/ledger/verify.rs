//! `guerdon verify`.

use std::time::Instant;

use data_encoding::HEXLOWER_PERMISSIVE;
use guerdon_domain::audit::{AuditReport, Violation};
use guerdon_domain::ports::Clock as _;
use serde::{Deserialize, Serialize};

use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};
use crate::maintenance::{CheckedCounts, VerificationOptions, VerificationRecord, verify_database};
use crate::platform::SystemClock;

/// Verify the ledger; changes nothing in it.
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

impl From<AuditReport> for VerificationView {
    fn from(report: AuditReport) -> Self {
        let line = |violation: &Violation| {
            format!("{}: {}", violation.invariant, violation.detail.replace('\n', " "))
        };
        Self {
            ok: report.violations.is_empty(),
            violations: report.violations.iter().map(line).collect(),
            checked: report.checked.into(),
        }
    }
}

impl CommandView for VerificationView {
    fn to_text(&self) -> String {
        if !self.ok {
            return self.violations.join("\n");
        }
        format!("ok: every invariant holds\nchecked: {}", self.checked.to_text())
    }
}

impl RunnableCommand for Verify {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let head = self.head.as_deref().and_then(decode_head);
        let CommandEnvironment { store, keys, settings, threads, .. } = environment;
        let started = Instant::now();
        let options = VerificationOptions {
            keys: Some(keys),
            head,
            threads: *threads,
            ..VerificationOptions::default()
        };
        let report = verify_database(store.as_ref(), &settings.webhooks, SystemClock.now(), &options)?;
        // An embedded database that no service has open is not changed: it may be evidence.
        if environment.in_service || settings.embedded_database().is_none() {
            let (now, violations) = (SystemClock.now(), report.violations.len());
            VerificationRecord::new(now, started.elapsed(), violations, report.checked).store(store.as_ref());
        }
        let findings = VerificationView::from(report);
        Ok(CommandOutput { status: u8::from(!findings.ok), ..findings.to_output()? })
    }

    fn may_take_long(&self) -> bool {
        true
    }
}
