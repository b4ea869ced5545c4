//! `DELETE /v1/occasions/{id}`: delete an occasion.

use guerdon_api_types::Fields;
use guerdon_domain::occasions::delete;
use guerdon_domain::ports::Tx;

use super::update::changeable_in_path;
use crate::operation::{ApiError, Call, OperationDocs, RenderedResponse, Work, WriteOperation};

pub(crate) struct Delete;

impl OperationDocs for Delete {
    const NAME: &'static str = "deleteOccasion";
    const SUMMARY: &'static str = "Delete an occasion";
    const DESCRIPTION: &'static str = "Existing recognitions keep the occasion's id, and events its name. Global occasions cannot be \
         deleted (403).";
    const SUCCESS_STATUS: u16 = 204;
    type View = ();
}

impl WriteOperation for Delete {
    const HAS_BODY: bool = false;
    type Input = ();

    fn require_object(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        changeable_in_path(tx, call)
    }

    fn parse_input(_fields: &mut Fields) -> Option<()> {
        Some(())
    }

    fn execute_write(work: Work<'_>, _: &()) -> Result<RenderedResponse, ApiError> {
        delete(work.tx, work.call.scope, work.call.path_id("occasion")?, work.context)?;
        Ok(RenderedResponse::no_content())
    }
}
