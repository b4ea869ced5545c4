//! Searches over all providers.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use guerdon_domain::ports::{FoundCompany, ReadSearch, StoreError};
use guerdon_domain::values::{CompanyId, EmailAddress, UserId};

use super::super::placeholder;
use super::Unit;
use crate::rows::schema::{companies, users};
use crate::rows::types::Id;

#[derive(QueryableByName)]
#[diesel(table_name = companies)]
struct FoundCompanyRow {
    id: Id<CompanyId>,
    company_name: String,
    domain: String,
}

#[derive(QueryableByName)]
#[diesel(table_name = users)]
struct FoundUserRow {
    id: Id<UserId>,
    company_id: Id<CompanyId>,
}

/// A LIKE pattern that matches every string that contains `text`, with `!` as the escape character.
fn containing(text: &str) -> String {
    let escaped = text.to_lowercase().replace('!', "!!").replace('%', "!%").replace('_', "!_");
    format!("%{escaped}%")
}

impl ReadSearch for Unit<'_> {
    fn search_companies(&mut self, text: &str, limit: i64) -> Result<Vec<FoundCompany>, StoreError> {
        let query = format!(
            "SELECT id, company_name, domain FROM companies WHERE lower(domain) LIKE {} ESCAPE '!' \
             OR lower(company_name) LIKE {} ESCAPE '!' ORDER BY company_name, id LIMIT {}",
            placeholder(1),
            placeholder(2),
            placeholder(3)
        );
        let pattern = containing(text);
        let rows: Vec<FoundCompanyRow> = self.query(|conn| {
            diesel::sql_query(query)
                .bind::<Text, _>(&pattern)
                .bind::<Text, _>(&pattern)
                .bind::<BigInt, _>(limit)
                .get_results(conn)
        })?;
        let found = rows.into_iter().map(|row| FoundCompany {
            id: row.id.0,
            name: row.company_name,
            domain: row.domain,
        });
        Ok(found.collect())
    }

    fn find_users_by_email(
        &mut self,
        email: &EmailAddress,
        limit: i64,
    ) -> Result<Vec<(UserId, CompanyId)>, StoreError> {
        // A subquery per company uses the index of each company's addresses. A join would read all users.
        let query = format!(
            "SELECT id, company_id FROM (SELECT companies.id AS company_id, \
             (SELECT users.id FROM users WHERE users.company_id = companies.id AND email_folded = {} \
             AND deleted_at IS NULL) AS id FROM companies) AS found WHERE id IS NOT NULL \
             ORDER BY company_id LIMIT {}",
            placeholder(1),
            placeholder(2)
        );
        let rows: Vec<FoundUserRow> = self.query(|conn| {
            diesel::sql_query(query)
                .bind::<Text, _>(email.folded())
                .bind::<BigInt, _>(limit)
                .get_results(conn)
        })?;
        Ok(rows.into_iter().map(|row| (row.id.0, row.company_id.0)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::containing;

    #[test]
    fn wildcards_match_only_themselves() {
        assert_eq!(containing("50%_Off!"), "%50!%!_off!!%");
    }
}
