//! `POST /v1/occasions`: create an occasion of a company.

use guerdon_api_types::Fields;
use guerdon_api_types::values::{FromText, ValueSchema};
use guerdon_api_types::views::OccasionView;
use guerdon_domain::occasions::{CreateOccasionError, OccasionText, create};
use guerdon_domain::values::{CompanyId, InvalidValue, Message};
use schemars::{Schema, json_schema};

use crate::operation::{ApiError, OperationDocs, RenderedResponse, Work, WriteOperation};

pub(crate) struct Create;

impl OperationDocs for Create {
    const NAME: &'static str = "createOccasion";
    const SUMMARY: &'static str = "Create an occasion";
    const DESCRIPTION: &'static str =
        "An occasion is the reason for recognitions: a birthday, a thank-you, ten years of work.";
    const SUCCESS_STATUS: u16 = 201;
    type View = OccasionView<'static>;
}

pub(crate) struct Input {
    company_id: CompanyId,
    text: OccasionText,
    enabled: bool,
    visible: bool,
}

impl WriteOperation for Create {
    type Input = Input;

    fn parse_input(fields: &mut Fields) -> Option<Input> {
        let company_id = fields.read_required("company_id");
        let name = fields.read_required("name");
        let title = fields.read_required("title");
        let default_message = fields.read_required::<DefaultMessage>("default_message");
        let enabled = fields.read_flag("enabled", true);
        let visible = fields.read_flag("visible", true);
        let text = OccasionText { name: name?, title: title?, default_message: default_message?.0 };
        Some(Input { company_id: company_id?, text, enabled, visible })
    }

    fn execute_write(work: Work<'_>, input: &Input) -> Result<RenderedResponse, ApiError> {
        let Input { company_id, text, enabled, visible } = input;
        let occasion = create(work.tx, work.call.scope, *company_id, text, *enabled, *visible, work.context)?;
        Ok(RenderedResponse::created(&OccasionView::from_occasion(&occasion))?.about_company(*company_id))
    }
}

/// Text that is not blank and has no control characters except line breaks and tabs.
const NOT_BLANK_PATTERN: &str = "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*[^\\s\\u0000-\\u001f\\u007f-\\u009f][^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f\\u007f-\\u009f]*$";

/// The message of recognitions that are sent without one.
pub(super) struct DefaultMessage(pub(super) Message);

impl ValueSchema for DefaultMessage {
    fn value_schema() -> Schema {
        json_schema!({"type": "string", "minLength": 1, "maxLength": Message::CHARS_MAX, "pattern": NOT_BLANK_PATTERN})
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
