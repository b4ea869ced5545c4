//! `POST /v1/occasions`: create an occasion of a company.

use guerdon_domain::occasions::{CreateOccasionError, OccasionText, create};
use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::values::{CompanyId, Line};

use super::view::OccasionView;
use crate::operation::Write;
use crate::operation::answer::Answer;
use crate::operation::body::Fields;
use crate::operation::call::Call;
use crate::operation::error::ApiError;

pub(crate) struct Create;

pub(crate) struct Command {
    company_id: CompanyId,
    text: OccasionText,
    enabled: bool,
    visible: bool,
}

impl Write for Create {
    type Command = Command;

    fn command(fields: &mut Fields) -> Option<Command> {
        let company_id = fields.required("company_id", str::parse);
        let name = fields.required("name", Line::parse);
        let title = fields.required("title", Line::parse);
        let default_message = fields.required("default_message", OccasionText::default_message);
        let enabled = fields.flag("enabled", true);
        let visible = fields.flag("visible", true);
        let text = OccasionText { name: name?, title: title?, default_message: default_message? };
        Some(Command { company_id: company_id?, text, enabled, visible })
    }

    fn perform(
        tx: &mut dyn Tx,
        call: &Call,
        command: &Command,
        context: &Context<'_>,
    ) -> Result<Answer, ApiError> {
        let Command { company_id, text, enabled, visible } = command;
        let occasion = create(tx, call.scope, *company_id, text, *enabled, *visible, context)?;
        Answer::created(&OccasionView::of(&occasion))
    }
}

impl From<CreateOccasionError> for ApiError {
    fn from(error: CreateOccasionError) -> Self {
        match error {
            CreateOccasionError::Denied(denied) => denied.into(),
            CreateOccasionError::Store(error) => error.into(),
        }
    }
}
