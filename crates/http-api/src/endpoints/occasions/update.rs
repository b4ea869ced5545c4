//! `PUT /v1/occasions/{id}`: change an occasion.

use guerdon_api_types::Fields;
use guerdon_api_types::views::OccasionView;
use guerdon_domain::occasions::{UpdateOccasion, UpdateOccasionError, update};
use guerdon_domain::ports::Tx;

use super::create::DefaultMessage;
use super::get::occasion_in_path;
use crate::operation::{ApiError, Call, OperationDocs, RenderedResponse, Work, WriteOperation};

pub(crate) struct Update;

impl OperationDocs for Update {
    const NAME: &'static str = "updateOccasion";
    const SUMMARY: &'static str = "Change an occasion";
    const DESCRIPTION: &'static str = "Changes the fields that are sent. Global occasions cannot be changed (403). An occasion that is \
         not `enabled` cannot be used for recognitions.";
    type View = OccasionView<'static>;
}

impl WriteOperation for Update {
    type Input = UpdateOccasion;

    fn require_object(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        changeable_in_path(tx, call)
    }

    fn parse_input(fields: &mut Fields) -> Option<UpdateOccasion> {
        Some(UpdateOccasion {
            company_id: fields.read_change("company_id"),
            name: fields.read_change("name"),
            title: fields.read_change("title"),
            default_message: fields.read_change::<DefaultMessage>("default_message").map(|message| message.0),
            enabled: fields.read_flag_change("enabled"),
            visible: fields.read_flag_change("visible"),
        })
    }

    fn execute_write(work: Work<'_>, input: &UpdateOccasion) -> Result<RenderedResponse, ApiError> {
        let occasion = update(work.tx, work.call.scope, work.call.path_id("occasion")?, input, work.context)?;
        RenderedResponse::ok(&OccasionView::from_occasion(&occasion))
    }
}

/// Fails if the caller may not change the occasion in the path.
pub(super) fn changeable_in_path(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
    let occasion = occasion_in_path(tx, call)?;
    if occasion.is_global() { Err(UpdateOccasionError::Global.into()) } else { Ok(()) }
}

impl From<UpdateOccasionError> for ApiError {
    fn from(error: UpdateOccasionError) -> Self {
        match error {
            UpdateOccasionError::Denied(denied) => Self::from_denied_path(denied, "occasion"),
            UpdateOccasionError::Global => Self::forbidden_in_path(error.to_string()),
            UpdateOccasionError::OtherCompany => Self::invalid_field("company_id", error.to_string()),
            UpdateOccasionError::Store(error) => error.into(),
        }
    }
}
