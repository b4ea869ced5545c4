//! `GET /v1/companies/{id}/users`: a company's users, oldest first.

use guerdon_domain::ports::{Reads, Wanted};
use guerdon_domain::values::{EmailAddress, Line, Page, Timestamp};

use super::get::company_in_path;
use crate::endpoints::users::UserView;
use crate::operation::Read;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{self, Links};
use crate::operation::query::{Query, unless_faulty};

/// What the largest one takes as it is read and rendered, thrice: two dozen lines at their longest.
const WEIGHT: usize = 3 * (24 << 10);

pub(crate) struct Users;

impl Read for Users {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        let company = company_in_path(reads, call)?.company.id;
        let query = call.parameters()?;
        let (wanted, page) = parameters(&query)?;
        let total = reads.user_count(company, &wanted)?;
        let found = reads.users(company, &wanted, page)?;
        let filters = query.again(&["email", "employee_id", "updated_since", "include_deleted"]);
        let links = Links { filters, ..Links::to(format!("/v1/companies/{company}/users")) };
        list::answer(&links, page, total, found.iter().map(UserView::of).collect())
    }

    fn weight(call: &Call) -> usize {
        list::weight(list::page_of(call), WEIGHT)
    }
}

fn parameters(query: &Query) -> Result<(Wanted, Page), ApiError> {
    let mut faults = Vec::new();
    let wanted = Wanted {
        email: query.parsed("email", EmailAddress::parse, &mut faults),
        employee_id: query.parsed("employee_id", Line::parse, &mut faults),
        updated_since: query.parsed("updated_since", Timestamp::parse, &mut faults),
        deleted: query.flag("include_deleted", &mut faults),
    };
    let page = list::page_in(query, &mut faults);
    unless_faulty(page.map(|page| (wanted, page)), &faults)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_filter_is_judged() {
        let check = |text: &str, expected: Result<(), &str>| {
            let query = Query::parse(text).unwrap();
            let read = parameters(&query);
            assert_eq!(read.as_ref().map(drop).map_err(|refusal| refusal.told().1), expected, "{text:?}");
        };
        check("", Ok(()));
        check("email=a%40b.example&employee_id=7&include_deleted=true&page=2", Ok(()));
        check("updated_since=2026-11-20T20:01:02.345Z", Ok(()));
        check("include_deleted=1", Err("include_deleted must be true or false"));
        check("include_deleted=true&include_deleted=true", Err("include_deleted must be given once"));
        assert!(parameters(&Query::parse("email=a").unwrap()).is_err());
        assert!(parameters(&Query::parse("updated_since=yesterday").unwrap()).is_err());
    }
}
