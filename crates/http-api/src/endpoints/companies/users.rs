//! `GET /v1/companies/{id}/users`: a company's users, oldest first.

use guerdon_api_types::views::UserView;
use guerdon_api_types::{FieldDocs, field_docs};
use guerdon_domain::ports::{ReadTx, UserQuery};
use guerdon_domain::values::Page;

use super::get::company_in_path;
use crate::operation::list::{self, Links, ListOf};
use crate::operation::{ApiError, Call, OperationDocs, Query, ReadOperation, RenderedResponse};

/// The memory of the largest user, with two dozen strings of the maximum length. Reading and rendering need three
/// copies.
const USER_BYTES_MAX: usize = 3 * (24 << 10);

pub(crate) struct ListUsers;

impl OperationDocs for ListUsers {
    const NAME: &'static str = "listCompanyUsers";
    const SUMMARY: &'static str = "List the users of a company";
    const DESCRIPTION: &'static str = "The active users, oldest first; with `include_deleted`, all users. To keep a copy up to date, pass \
         the largest `updated_at` that you have, less one minute, as `updated_since`, and `include_deleted=true`.";
    const IS_EXTENSION: bool = true;
    const DOCUMENTED_BY: Option<&str> = Some("User");
    const FIELD_DOCS: FieldDocs = field_docs! {
        /// Only users that were changed at this time or later. Example: `"2026-11-20T20:01:02.345Z"`
        updated_since,
        /// Whether deleted users are included. Example: `false`
        include_deleted,
    };
    const READ_QUERY: fn(&mut Query) = |query| _ = read_list_query(query);
    type View = ListOf<UserView<'static>>;
}

impl ReadOperation for ListUsers {
    const ITEM_BYTES_MAX: usize = USER_BYTES_MAX;

    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let company = company_in_path(reads, call)?.company.id;
        let (wanted, filters, page) = call.parse_query(read_list_query)?;
        let total = reads.count_users(company, &wanted)?;
        let users = reads.list_users(company, &wanted, page)?;
        let links = Links { filters, ..Links::for_path(format!("/v1/companies/{company}/users")) };
        list::render_page(&links, page, total, users.iter().map(UserView::from_user).collect())
    }
}

/// Reads the filter and the page. The string contains the filter's encoded query parameters, for links to other pages.
fn read_list_query(query: &mut Query) -> Option<(UserQuery, String, Page)> {
    let wanted = UserQuery {
        email: query.read_optional("email"),
        employee_id: query.read_optional("employee_id"),
        updated_since: query.read_optional("updated_since"),
        include_deleted: query.read_flag("include_deleted"),
    };
    let filters = query.encode_parameters(&["email", "employee_id", "updated_since", "include_deleted"]);
    Some((wanted, filters, list::read_page(query)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_filter_is_validated() {
        let check = |text: &str, expected: Result<(), &str>| {
            let read = Query::parse_with(text, read_list_query);
            assert_eq!(
                read.as_ref().map(drop).map_err(|error| error.status_and_message().1),
                expected,
                "{text:?}"
            );
        };
        check("", Ok(()));
        check("email=a%40b.example&employee_id=7&include_deleted=true&page=2", Ok(()));
        check("updated_since=2026-11-20T20:01:02.345Z", Ok(()));
        check("include_deleted=1", Err("include_deleted must be true or false"));
        check("include_deleted=true&include_deleted=true", Err("include_deleted must not be repeated"));
        assert!(Query::parse_with("email=a", read_list_query).is_err());
        assert!(Query::parse_with("updated_since=yesterday", read_list_query).is_err());
    }
}
