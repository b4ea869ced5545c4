//! `GET /v1/occasions/{id}`: one occasion.

use guerdon_domain::occasions::Occasion;
use guerdon_domain::ports::{Consistency, Reads};

use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::{ApiError, in_path};
use crate::operation::{Described, Read};
use guerdon_api_types::views::OccasionView;

pub(crate) struct Get;

impl Described for Get {
    const NAME: &'static str = "getOccasion";
    const SUMMARY: &'static str = "Fetch an occasion";
    const TEXT: &'static str = "An occasion of one of your companies, or a global one.";
    type View = OccasionView<'static>;
}

impl Read for Get {
    const CONSISTENCY: Consistency = Consistency::PerStatementNoWait;

    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let occasion = occasion_in_path(reads, call)?;
        Answer::ok(&OccasionView::of(&occasion))
    }
}

/// The occasion that the path names.
pub(super) fn occasion_in_path<R: Reads + ?Sized>(reads: &mut R, call: &Call) -> Result<Occasion, ApiError> {
    let id = call.path_id("occasion")?;
    in_path(reads.occasion(call.scope, id)?, "occasion")
}
