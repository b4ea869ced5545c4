//! `POST /v1/corporations`: create a corporation.

use guerdon_domain::corporations::create;
use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::values::Line;

use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::{Described, Write};
use guerdon_api_types::body::Fields;
use guerdon_api_types::views::CorporationView;

pub(crate) struct Create;

impl Described for Create {
    const NAME: &'static str = "createCorporation";
    const SUMMARY: &'static str = "Create a corporation";
    const TEXT: &'static str = "A corporation groups companies. A company joins one when it is created.";
    const STATUS: u16 = 201;
    type View = CorporationView<'static>;
}

impl Write for Create {
    const NEEDS_DESIGNATION: bool = true;
    type Command = Line;

    fn command(fields: &mut Fields) -> Option<Line> {
        fields.required("name")
    }

    fn perform(tx: &mut dyn Tx, call: &Call, name: &Line, context: &Context<'_>) -> Result<Answer, ApiError> {
        let corporation = create(tx, call.scope, name, context)?;
        Answer::created(&CorporationView::of(&corporation))
    }
}
