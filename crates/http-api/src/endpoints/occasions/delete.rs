//! `DELETE /v1/occasions/{id}`: delete an occasion.

use guerdon_domain::occasions::delete;
use guerdon_domain::ports::{Context, Tx};

use super::update::changeable_in_path;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::{Described, Write};
use guerdon_api_types::body::Fields;

pub(crate) struct Delete;

impl Described for Delete {
    const NAME: &'static str = "deleteOccasion";
    const SUMMARY: &'static str = "Delete an occasion";
    const TEXT: &'static str = "Existing recognitions keep the occasion's id, and events its name. Global occasions cannot be \
         deleted (403).";
    const STATUS: u16 = 204;
    type View = ();
}

impl Write for Delete {
    const HAS_BODY: bool = false;
    type Command = ();

    fn find(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        changeable_in_path(tx, call)
    }

    fn command(_fields: &mut Fields) -> Option<()> {
        Some(())
    }

    fn perform(tx: &mut dyn Tx, call: &Call, _: &(), context: &Context<'_>) -> Result<Answer, ApiError> {
        delete(tx, call.scope, call.path_id("occasion")?, context)?;
        Ok(Answer::no_content())
    }
}
