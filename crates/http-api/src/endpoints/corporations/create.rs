//! `POST /v1/corporations`: create a corporation.

use guerdon_domain::corporations::create;
use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::values::Line;

use super::view::CorporationView;
use crate::operation::Write;
use crate::operation::answer::Answer;
use crate::operation::body::Fields;
use crate::operation::call::Call;
use crate::operation::error::ApiError;

pub(crate) struct Create;

impl Write for Create {
    const NEEDS_DESIGNATION: bool = true;
    type Command = Line;

    fn command(fields: &mut Fields) -> Option<Line> {
        fields.required("name", Line::parse)
    }

    fn perform(tx: &mut dyn Tx, call: &Call, name: &Line, context: &Context<'_>) -> Result<Answer, ApiError> {
        let corporation = create(tx, call.scope, name, context)?;
        Answer::created(&CorporationView::of(&corporation))
    }
}
