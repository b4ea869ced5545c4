//! `PUT /v1/corporations/{id}`: rename a corporation.

use guerdon_domain::corporations::{UpdateCorporationError, update};
use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::values::Line;

use super::get::corporation_in_path;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::{Described, Write};
use guerdon_api_types::body::Fields;
use guerdon_api_types::views::CorporationView;

pub(crate) struct Update;

impl Described for Update {
    const NAME: &'static str = "updateCorporation";
    const SUMMARY: &'static str = "Rename a corporation";
    const TEXT: &'static str = "Changes the name, if one is sent.";
    type View = CorporationView<'static>;
}

impl Write for Update {
    const NEEDS_DESIGNATION: bool = true;
    type Command = Option<Line>;

    fn find(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        corporation_in_path(tx, call).map(drop)
    }

    fn command(fields: &mut Fields) -> Option<Option<Line>> {
        Some(fields.changed("name"))
    }

    fn perform(
        tx: &mut dyn Tx,
        call: &Call,
        name: &Option<Line>,
        context: &Context<'_>,
    ) -> Result<Answer, ApiError> {
        let id = call.path_id("corporation")?;
        let corporation = update(tx, call.scope, id, name.as_ref(), context)?;
        Answer::ok(&CorporationView::of(&corporation))
    }
}

impl From<UpdateCorporationError> for ApiError {
    fn from(error: UpdateCorporationError) -> Self {
        match error {
            UpdateCorporationError::Denied(denied) => Self::path_denied(denied, "corporation"),
            UpdateCorporationError::Store(error) => error.into(),
        }
    }
}
