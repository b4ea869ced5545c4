//! `DELETE /v1/occasions/{id}`: delete an occasion.

use guerdon_domain::occasions::delete;
use guerdon_domain::ports::{Context, Tx};

use super::update::changeable_in_path;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::response::RenderedResponse;
use crate::operation::{OperationDocs, WriteOperation};
use guerdon_api_types::body::Fields;

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
    type Command = ();

    fn require_object(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        changeable_in_path(tx, call)
    }

    fn parse_command(_fields: &mut Fields) -> Option<()> {
        Some(())
    }

    fn execute_command(
        tx: &mut dyn Tx,
        call: &Call,
        _: &(),
        context: &Context<'_>,
    ) -> Result<RenderedResponse, ApiError> {
        delete(tx, call.scope, call.path_id("occasion")?, context)?;
        Ok(RenderedResponse::no_content())
    }
}
