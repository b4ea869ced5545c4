//! `/v1/recognitions` (behaviour 15).

mod create;
mod view;

pub(crate) use create::Create;
pub(crate) use view::RecognitionView;
