//! `/v1/recognitions` (behaviour 15, 25.3, 25.7).

mod create;
mod dry_run;
mod get;

pub(crate) use create::Create;
pub(crate) use dry_run::DryRun;
pub(crate) use get::Get;
