//! `GET /v1/corporations/{id}`: one corporation.

use guerdon_domain::corporations::Corporation;
use guerdon_domain::ports::{Consistency, Reads};

use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::{ApiError, in_path};
use crate::operation::{Described, Read};
use guerdon_api_types::views::CorporationView;

pub(crate) struct Get;

impl Described for Get {
    const NAME: &'static str = "getCorporation";
    const SUMMARY: &'static str = "Fetch a corporation";
    const TEXT: &'static str = "A corporation by id.";
    type View = CorporationView<'static>;
}

impl Read for Get {
    const CONSISTENCY: Consistency = Consistency::PerStatementNoWait;

    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let corporation = corporation_in_path(reads, call)?;
        Answer::ok(&CorporationView::of(&corporation))
    }
}

/// The corporation that the path names.
pub(super) fn corporation_in_path<R: Reads + ?Sized>(
    reads: &mut R,
    call: &Call,
) -> Result<Corporation, ApiError> {
    let id = call.path_id("corporation")?;
    in_path(reads.corporation(call.scope, id)?, "corporation")
}
