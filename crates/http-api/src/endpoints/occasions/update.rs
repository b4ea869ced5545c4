//! `PUT /v1/occasions/{id}`: change an occasion.

use guerdon_domain::occasions::{ChangeOccasionError, UpdateOccasion, update};
use guerdon_domain::ports::{Context, Tx};

use super::create::DefaultMessage;
use super::get::occasion_in_path;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::{Described, Write};
use guerdon_api_types::body::Fields;
use guerdon_api_types::views::OccasionView;

pub(crate) struct Update;

impl Described for Update {
    const NAME: &'static str = "updateOccasion";
    const SUMMARY: &'static str = "Change an occasion";
    const TEXT: &'static str = "Changes the fields that are sent. Global occasions cannot be changed (403). An occasion that is \
         not `enabled` cannot be used for recognitions.";
    type View = OccasionView<'static>;
}

impl Write for Update {
    type Command = UpdateOccasion;

    fn find(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        changeable_in_path(tx, call)
    }

    fn command(fields: &mut Fields) -> Option<UpdateOccasion> {
        Some(UpdateOccasion {
            company_id: fields.changed("company_id"),
            name: fields.changed("name"),
            title: fields.changed("title"),
            default_message: fields.changed::<DefaultMessage>("default_message").map(|message| message.0),
            enabled: fields.changed_flag("enabled"),
            visible: fields.changed_flag("visible"),
        })
    }

    fn perform(
        tx: &mut dyn Tx,
        call: &Call,
        command: &UpdateOccasion,
        context: &Context<'_>,
    ) -> Result<Answer, ApiError> {
        let occasion = update(tx, call.scope, call.path_id("occasion")?, command, context)?;
        Answer::ok(&OccasionView::of(&occasion))
    }
}

/// Refuses an occasion that the caller may not change.
pub(super) fn changeable_in_path(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
    let occasion = occasion_in_path(tx, call)?;
    if occasion.is_global() { Err(ChangeOccasionError::Global.into()) } else { Ok(()) }
}

impl From<ChangeOccasionError> for ApiError {
    fn from(error: ChangeOccasionError) -> Self {
        match error {
            ChangeOccasionError::Denied(denied) => Self::path_denied(denied, "occasion"),
            ChangeOccasionError::Global => Self::forbidden(error.to_string()),
            ChangeOccasionError::OtherCompany => Self::bad_request(error.to_string()),
            ChangeOccasionError::Store(error) => error.into(),
        }
    }
}
