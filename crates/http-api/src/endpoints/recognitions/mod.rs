//! `/v1/recognitions` (behaviour 15).

mod create;
mod dry_run;

pub(crate) use create::Create;
pub(crate) use dry_run::DryRun;
