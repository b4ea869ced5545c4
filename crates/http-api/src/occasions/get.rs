//! `GET /v1/occasions/{id}`: one occasion.

use guerdon_domain::ports::Reads;

use super::view::OccasionView;
use crate::answer::Answer;
use crate::call::Call;
use crate::error::{ApiError, in_path};
use crate::operation::Read;

pub(crate) struct Get;

impl Read for Get {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let id = call.path_id("occasion")?;
        let occasion = in_path(reads.occasion(call.scope, id)?, "occasion")?;
        Answer::ok(&OccasionView::of(&occasion))
    }
}
