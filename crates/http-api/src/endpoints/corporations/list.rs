//! `GET /v1/corporations`: the provider's corporations.

use guerdon_domain::ports::Reads;

use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{self, Links, ListOf};
use crate::operation::query::Query;
use crate::operation::{Described, Read};
use guerdon_api_types::parameter::Parameter;
use guerdon_api_types::views::CorporationView;

/// What the one with the longest name takes as it is read and rendered, thrice.
const WEIGHT: usize = 3 * (3 << 9);

pub(crate) struct List;

impl Described for List {
    const NAME: &'static str = "listCorporations";
    const SUMMARY: &'static str = "List corporations";
    const TEXT: &'static str = "Your corporations, oldest first.";
    type View = ListOf<CorporationView<'static>>;

    fn query() -> Vec<Parameter> {
        Query::parameters_of(list::page)
    }
}

impl Read for List {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let page = list::page_of(call)?;
        let total = reads.corporation_count(call.scope)?;
        let found = reads.corporations(call.scope, page)?;
        let views = found.iter().map(CorporationView::of).collect();
        list::answer(&Links::to("/v1/corporations"), page, total, views)
    }

    fn weight(call: &Call) -> usize {
        list::weight(list::page_of(call), WEIGHT)
    }
}
