//! `GET /v1/companies/{id}/users`: a company's users, oldest first.

use guerdon_domain::ports::{Reads, Wanted};
use guerdon_domain::values::Page;

use super::get::company_in_path;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{self, Links, ListOf};
use crate::operation::query::Query;
use crate::operation::{Described, Read};
use guerdon_api_types::docs::FieldDocs;
use guerdon_api_types::field_docs;
use guerdon_api_types::parameter::Parameter;
use guerdon_api_types::views::UserView;

/// What the largest one takes as it is read and rendered, thrice: two dozen lines at their longest.
const WEIGHT: usize = 3 * (24 << 10);

pub(crate) struct Users;

impl Described for Users {
    const NAME: &'static str = "listCompanyUsers";
    const SUMMARY: &'static str = "List the users of a company";
    const TEXT: &'static str = "The active users, oldest first; with `include_deleted`, all users. To keep a copy up to date, pass \
         the largest `updated_at` that you have as `updated_since`, and `include_deleted=true`.";
    const IS_EXTENSION: bool = true;
    const DOCUMENTED_BY: Option<&str> = Some("User");
    const FIELD_DOCS: FieldDocs = field_docs! {
        /// Only users that were changed at this time or later. Example: `"2026-11-20T20:01:02.345Z"`
        updated_since,
        /// Whether deleted users are included. Example: `false`
        include_deleted,
    };
    type View = ListOf<UserView<'static>>;

    fn query() -> Vec<Parameter> {
        Query::parameters_of(parameters)
    }
}

impl Read for Users {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let company = company_in_path(reads, call)?.company.id;
        let (wanted, filters, page) = call.query(parameters)?;
        let total = reads.user_count(company, &wanted)?;
        let found = reads.users(company, &wanted, page)?;
        let links = Links { filters, ..Links::to(format!("/v1/companies/{company}/users")) };
        list::answer(&links, page, total, found.iter().map(UserView::of).collect())
    }

    fn weight(call: &Call) -> usize {
        list::weight(list::page_of(call), WEIGHT)
    }
}

/// Whom is asked for, the part of the query that says so, and the page.
fn parameters(query: &mut Query) -> Option<(Wanted, String, Page)> {
    let wanted = Wanted {
        email: query.optional("email"),
        employee_id: query.optional("employee_id"),
        updated_since: query.optional("updated_since"),
        deleted: query.flag("include_deleted"),
    };
    let filters = query.again(&["email", "employee_id", "updated_since", "include_deleted"]);
    Some((wanted, filters, list::page(query)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_filter_is_judged() {
        let check = |text: &str, expected: Result<(), &str>| {
            let read = Query::read(text, parameters);
            assert_eq!(read.as_ref().map(drop).map_err(|refusal| refusal.told().1), expected, "{text:?}");
        };
        check("", Ok(()));
        check("email=a%40b.example&employee_id=7&include_deleted=true&page=2", Ok(()));
        check("updated_since=2026-11-20T20:01:02.345Z", Ok(()));
        check("include_deleted=1", Err("include_deleted must be true or false"));
        check("include_deleted=true&include_deleted=true", Err("include_deleted must be given once"));
        assert!(Query::read("email=a", parameters).is_err());
        assert!(Query::read("updated_since=yesterday", parameters).is_err());
    }
}
