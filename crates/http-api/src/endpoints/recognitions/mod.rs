//! `/v1/recognitions` (spec §4.4).

mod create;
mod view;

pub(crate) use create::Create;
pub(crate) use view::RecognitionView;
