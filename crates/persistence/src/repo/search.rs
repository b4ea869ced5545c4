//! Searches over all providers.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use guerdon_domain::ports::{FoundCompany, ReadSearch, StoreError};
use guerdon_domain::values::{CompanyId, EmailAddress, UserId};

use super::Unit;
use crate::rows::{Id, Identifier};

/// A LIKE pattern that matches every string that contains `text`, with `!` as the escape character.
fn containing(text: &str) -> String {
    let escaped = text.replace('!', "!!").replace('%', "!%").replace('_', "!_");
    format!("%{escaped}%")
}

impl ReadSearch for Unit<'_> {
    fn search_companies(&mut self, text: &str, limit: i64) -> Result<Vec<FoundCompany>, StoreError> {
        // SQLite changes only ASCII letters to lower case, so the text is also searched as it was entered.
        let lowercase = text.to_lowercase();
        let (pattern, lowered) = (containing(text), containing(&lowercase));
        let query = sql::<(Identifier, Text, Text)>(
            "SELECT id, company_name, domain FROM companies WHERE lower(domain) LIKE ",
        )
        .bind::<Text, _>(&lowered)
        .sql(" ESCAPE '!' OR lower(company_name) LIKE ")
        .bind::<Text, _>(&lowered)
        .sql(" ESCAPE '!' OR company_name LIKE ")
        .bind::<Text, _>(&pattern)
        .sql(" ESCAPE '!' ORDER BY CASE WHEN lower(domain) = ")
        .bind::<Text, _>(&lowercase)
        .sql(" OR lower(company_name) = ")
        .bind::<Text, _>(&lowercase)
        .sql(" OR company_name = ")
        .bind::<Text, _>(text)
        .sql(" THEN 0 ELSE 1 END, company_name, id LIMIT ")
        .bind::<BigInt, _>(limit);
        let rows: Vec<(Id<CompanyId>, String, String)> = self.query(|conn| query.get_results(conn))?;
        Ok(rows.into_iter().map(|(id, name, domain)| FoundCompany { id: id.0, name, domain }).collect())
    }

    fn find_users_by_email(
        &mut self,
        email: &EmailAddress,
        limit: i64,
    ) -> Result<Vec<(UserId, CompanyId)>, StoreError> {
        // A subquery per company uses the index of each company's addresses. A join would read all users.
        let query = sql::<(Identifier, Identifier)>(
            "SELECT id, company_id FROM (SELECT companies.id AS company_id, \
             (SELECT users.id FROM users WHERE users.company_id = companies.id AND email_folded = ",
        )
        .bind::<Text, _>(email.folded())
        .sql(
            " AND deleted_at IS NULL) AS id FROM companies) AS found WHERE id IS NOT NULL \
             ORDER BY company_id LIMIT ",
        )
        .bind::<BigInt, _>(limit);
        let rows: Vec<(Id<UserId>, Id<CompanyId>)> = self.query(|conn| query.get_results(conn))?;
        Ok(rows.into_iter().map(|(user, company)| (user.0, company.0)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::containing;

    #[test]
    fn wildcards_match_only_themselves() {
        assert_eq!(containing("50%_Off!"), "%50!%!_Off!!%");
    }
}
