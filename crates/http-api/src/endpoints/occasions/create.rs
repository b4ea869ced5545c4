//! `POST /v1/occasions`: create an occasion of a company.

use guerdon_domain::occasions::{CreateOccasionError, OccasionText, create};
use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::values::{CompanyId, InvalidValue, Message};
use schemars::{Schema, json_schema};

use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::{Described, Write};
use guerdon_api_types::body::Fields;
use guerdon_api_types::form::{Form, FromText};
use guerdon_api_types::views::OccasionView;

pub(crate) struct Create;

impl Described for Create {
    const NAME: &'static str = "createOccasion";
    const SUMMARY: &'static str = "Create an occasion";
    const TEXT: &'static str =
        "An occasion is the reason for recognitions: a birthday, a thank-you, ten years of work.";
    const STATUS: u16 = 201;
    type View = OccasionView<'static>;
}

pub(crate) struct Command {
    company_id: CompanyId,
    text: OccasionText,
    enabled: bool,
    visible: bool,
}

impl Write for Create {
    type Command = Command;

    fn command(fields: &mut Fields) -> Option<Command> {
        let company_id = fields.required("company_id");
        let name = fields.required("name");
        let title = fields.required("title");
        let default_message = fields.required::<DefaultMessage>("default_message");
        let enabled = fields.flag("enabled", true);
        let visible = fields.flag("visible", true);
        let text = OccasionText { name: name?, title: title?, default_message: default_message?.0 };
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

/// Text that is not blank, with no other control characters than line breaks and tabs.
const SAYS_SOMETHING: &str = "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$";

/// What stands in where a recognition brings no message.
pub(super) struct DefaultMessage(pub(super) Message);

impl Form for DefaultMessage {
    fn form() -> Schema {
        json_schema!({"type": "string", "minLength": 1, "maxLength": Message::CHARS_MAX, "pattern": SAYS_SOMETHING})
    }
}

impl FromText for DefaultMessage {
    type Fault = InvalidValue;
    const EXPECTED: &'static str = Message::EXPECTED;

    fn from_text(text: &str) -> Result<Self, InvalidValue> {
        OccasionText::default_message(text).map(Self)
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
