//! `DELETE /v1/occasions/{id}`: delete an occasion.

use guerdon_domain::occasions::delete;
use guerdon_domain::ports::{Context, Tx};

use super::update::changeable_in_path;
use crate::operation::Write;
use crate::operation::answer::Answer;
use crate::operation::body::Fields;
use crate::operation::call::Call;
use crate::operation::error::ApiError;

pub(crate) struct Delete;

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
