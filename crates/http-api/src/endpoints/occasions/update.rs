//! `PUT /v1/occasions/{id}`: change an occasion.

use guerdon_domain::occasions::{ChangeOccasionError, OccasionText, UpdateOccasion, update};
use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::values::{CompanyId, Line};

use super::get::occasion_in_path;
use super::view::OccasionView;
use crate::operation::Write;
use crate::operation::answer::Answer;
use crate::operation::body::Fields;
use crate::operation::call::Call;
use crate::operation::error::ApiError;

pub(crate) struct Update;

impl Write for Update {
    type Command = UpdateOccasion;

    fn find(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        changeable_in_path(tx, call)
    }

    fn command(fields: &mut Fields) -> Option<UpdateOccasion> {
        Some(UpdateOccasion {
            company_id: fields.changed("company_id", str::parse::<CompanyId>),
            name: fields.changed("name", Line::parse),
            title: fields.changed("title", Line::parse),
            default_message: fields.changed("default_message", OccasionText::default_message),
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
