//! `guerdon verify`.

use guerdon_domain::audit::{self, Violation};
use serde::{Deserialize, Serialize};

use super::{CommandError, Output, Runnable, View, Workplace};
use crate::hex;

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

impl Runnable for Verify {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let head = self.head.as_deref().and_then(bytes);
        let found = audit::verify(workplace.store.as_ref(), head, workplace.threads)?;
        let findings =
            Findings { ok: found.is_empty(), violations: found.into_iter().map(Finding::from).collect() };
        Ok(Output { status: u8::from(!findings.ok), ..findings.output()? })
    }

    fn may_take_long(&self) -> bool {
        true
    }
}
