//! `guerdon verify`.

use guerdon_domain::ports::{StoreError, StoreExt, Violation};
use serde::Serialize;

use super::{CommandError, Output, View, Workplace};

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

pub(super) fn run(workplace: &Workplace) -> Result<Output, CommandError> {
    let found = workplace.store.snapshot(|reads| -> Result<_, StoreError> { reads.audit() })?;
    let findings =
        Findings { ok: found.is_empty(), violations: found.into_iter().map(Finding::from).collect() };
    Ok(Output { status: u8::from(!findings.ok), ..findings.output()? })
}
