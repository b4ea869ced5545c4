//! `GET /v1/corporations/{id}`: one corporation.

use guerdon_domain::corporations::Corporation;
use guerdon_domain::ports::Reads;

use super::view::CorporationView;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::{ApiError, in_path};
use crate::operation::{Asks, Read};

pub(crate) struct Get;

impl Read for Get {
    const ASKS: Asks = Asks::ByKey;

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
