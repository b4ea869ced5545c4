//! `POST /v1/corporations`: create a corporation.

use guerdon_api_types::Fields;
use guerdon_api_types::views::CorporationView;
use guerdon_domain::corporations::create;
use guerdon_domain::values::SingleLine;

use crate::operation::{ApiError, OperationDocs, RenderedResponse, Work, WriteOperation};

pub(crate) struct Create;

impl OperationDocs for Create {
    const NAME: &'static str = "createCorporation";
    const SUMMARY: &'static str = "Create a corporation";
    const DESCRIPTION: &'static str =
        "A corporation groups companies. A company joins one when it is created.";
    const SUCCESS_STATUS: u16 = 201;
    type View = CorporationView<'static>;
}

impl WriteOperation for Create {
    const NEEDS_DESIGNATION: bool = true;
    type Input = SingleLine;

    fn parse_input(fields: &mut Fields) -> Option<SingleLine> {
        fields.read_required("name")
    }

    fn execute_write(work: Work<'_>, name: &SingleLine) -> Result<RenderedResponse, ApiError> {
        let corporation = create(work.tx, work.call.scope, name, work.context)?;
        RenderedResponse::created(&CorporationView::from_corporation(&corporation))
    }
}
