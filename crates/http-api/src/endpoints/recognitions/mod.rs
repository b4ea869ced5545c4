//! `/v1/recognitions` (behaviour 15).

mod create;
mod dry_run;
mod sender_type;
mod view;

pub(crate) use create::Create;
pub(crate) use dry_run::DryRun;
pub(crate) use view::RecognitionView;
