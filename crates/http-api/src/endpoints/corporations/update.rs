//! `PUT /v1/corporations/{id}`: rename a corporation.

use guerdon_api_types::Fields;
use guerdon_api_types::views::CorporationView;
use guerdon_domain::corporations::{UpdateCorporationError, update};
use guerdon_domain::ports::Tx;
use guerdon_domain::values::SingleLine;

use super::get::corporation_in_path;
use crate::operation::{ApiError, Call, OperationDocs, RenderedResponse, Work, WriteOperation};

pub(crate) struct Update;

impl OperationDocs for Update {
    const NAME: &'static str = "updateCorporation";
    const SUMMARY: &'static str = "Rename a corporation";
    const DESCRIPTION: &'static str = "Changes the name, if one is sent.";
    type View = CorporationView<'static>;
}

impl WriteOperation for Update {
    const NEEDS_DESIGNATION: bool = true;
    type Input = Option<SingleLine>;

    fn require_object(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        corporation_in_path(tx, call).map(drop)
    }

    fn parse_input(fields: &mut Fields) -> Option<Option<SingleLine>> {
        Some(fields.read_change("name"))
    }

    fn execute_write(work: Work<'_>, name: &Option<SingleLine>) -> Result<RenderedResponse, ApiError> {
        let id = work.call.path_id("corporation")?;
        let corporation = update(work.tx, work.call.scope, id, name.as_ref(), work.context)?;
        RenderedResponse::ok(&CorporationView::from_corporation(&corporation))
    }
}

impl From<UpdateCorporationError> for ApiError {
    fn from(error: UpdateCorporationError) -> Self {
        match error {
            UpdateCorporationError::Denied(denied) => Self::from_denied_path(denied, "corporation"),
            UpdateCorporationError::Store(error) => error.into(),
        }
    }
}
