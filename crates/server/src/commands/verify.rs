//! `guerdon verify`.

use guerdon_domain::audit::{self, Violation};
use guerdon_domain::ports::{Clock as _, Setting, StoreError, StoreExt as _};
use serde::{Deserialize, Serialize};

use super::{CommandError, Output, Runnable, View, Workplace};
use crate::hex;
use crate::world::SystemClock;

/// Checks every ledger invariant, read-only.
#[derive(Debug, Clone, Default, clap::Args, Serialize, Deserialize)]
pub(crate) struct Verify {
    /// A head that `guerdon seal` printed: proves that nothing sealed before it was changed or removed since.
    #[arg(long, value_name = "HEAD", value_parser = digits)]
    head: Option<String>,
}

fn digits(text: &str) -> Result<String, String> {
    bytes(text)
        .map(|_| text.to_owned())
        .ok_or_else(|| "must be the 64 hex digits that `guerdon seal` prints".to_owned())
}

fn bytes(text: &str) -> Option<[u8; 32]> {
    hex::decode(text)?.try_into().ok()
}

/// The findings.
#[derive(Serialize)]
struct Findings {
    ok: bool,
    violations: Vec<Finding>,
}

/// One of them.
#[derive(Serialize)]
struct Finding {
    invariant: &'static str,
    detail: String,
}

impl From<Violation> for Finding {
    fn from(it: Violation) -> Self {
        Self { invariant: it.invariant, detail: it.detail }
    }
}

impl View for Findings {
    fn text(&self) -> String {
        if self.ok {
            return "ok: every invariant holds".to_owned();
        }
        let lines: Vec<String> = self
            .violations
            .iter()
            .map(|it| format!("{}: {}", it.invariant, it.detail.replace('\n', " ")))
            .collect();
        lines.join("\n")
    }
}

/// Notes for the console when it was and what came of it, beside the ledger. A database that takes no such note was
/// verified all the same.
fn note(workplace: &Workplace, found: usize) {
    let told = format!("{} {found}", SystemClock.now().unix_micros());
    let noted = workplace
        .store
        .transaction(|tx| -> Result<(), StoreError> { tx.set_setting(Setting::LastVerification, &told) });
    if let Err(cause) = noted {
        log::debug!("the verification is not noted: {cause}");
    }
}

impl Runnable for Verify {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let head = self.head.as_deref().and_then(bytes);
        let found = audit::verify(workplace.store.as_ref(), head, workplace.threads)?;
        note(workplace, found.len());
        let findings =
            Findings { ok: found.is_empty(), violations: found.into_iter().map(Finding::from).collect() };
        Ok(Output { status: u8::from(!findings.ok), ..findings.output()? })
    }

    fn may_take_long(&self) -> bool {
        true
    }
}
