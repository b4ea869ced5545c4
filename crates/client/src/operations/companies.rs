use serde_json::json;
use uuid::Uuid;

use crate::api::Api;
use crate::call::Call;
use crate::objects::{
    Balances, ChangedCompany, Company, CompanyUpdate, ListedCompany, NewCompany, Occasion, RatePreview,
    Reserve, SamlSettings, SamlUpdate, Transaction, User,
};
use crate::pagination::List;
use crate::request::percent_encode;

/// Companies (behaviour 11, 18, 25).
impl<C> Api<C> {
    /// Creates a company and its owner.
    pub fn create_company(&self, company: &NewCompany) -> Call<'_, C, ChangedCompany> {
        self.post("/companies", company)
    }

    /// Lists the provider's companies, oldest first.
    pub fn list_companies(&self) -> List<'_, C, ListedCompany> {
        List::from_path(self, "/companies".to_owned())
    }

    /// Fetches a company.
    pub fn get_company(&self, id: Uuid) -> Call<'_, C, Company> {
        self.get(format!("/companies/{id}"))
    }

    /// Fetches a company by its domain name.
    pub fn get_company_by_domain(&self, domain: &str) -> Call<'_, C, Company> {
        self.get(format!("/companies/{}", percent_encode(domain)))
    }

    /// Changes a company.
    pub fn update_company(&self, id: Uuid, update: &CompanyUpdate) -> Call<'_, C, ChangedCompany> {
        self.put(format!("/companies/{id}"), update)
    }

    /// Computes the totals that balances would have at another rate. Nothing changes.
    pub fn preview_rate(&self, id: Uuid, points_per_dollar: i64) -> Call<'_, C, RatePreview> {
        let body = json!({"points_per_dollar": points_per_dollar});
        self.post_without_effect(format!("/companies/{id}/rate_preview"), &body)
    }

    /// Lists the active users of a company, oldest first. The list has methods to filter it.
    pub fn list_company_users(&self, id: Uuid) -> List<'_, C, User> {
        List::from_path(self, format!("/companies/{id}/users"))
    }

    /// Lists the wallets of a company's active users, oldest user first.
    pub fn list_company_balances(&self, id: Uuid) -> List<'_, C, Balances> {
        List::from_path(self, format!("/companies/{id}/users/balances"))
    }

    /// Lists the occasions that a company can use.
    pub fn list_company_occasions(&self, id: Uuid) -> List<'_, C, Occasion> {
        List::from_path(self, format!("/companies/{id}/occasions"))
    }

    /// Fetches the reserve of a company.
    pub fn get_reserve(&self, id: Uuid) -> Call<'_, C, Reserve> {
        self.get(format!("/companies/{id}/reserve"))
    }

    /// Lists the movements of a company's reserve, newest first.
    pub fn list_reserve_transactions(&self, id: Uuid) -> List<'_, C, Transaction> {
        List::from_path(self, format!("/companies/{id}/reserve/transactions"))
    }

    /// Fetches the single sign-on settings of a company.
    pub fn get_saml_settings(&self, id: Uuid) -> Call<'_, C, SamlSettings> {
        self.get(format!("/companies/{id}/saml"))
    }

    /// Changes the single sign-on settings of a company.
    pub fn update_saml_settings(&self, id: Uuid, update: &SamlUpdate) -> Call<'_, C, SamlSettings> {
        self.put(format!("/companies/{id}/saml"), update)
    }
}

/// Filters of companies.
impl<C> List<'_, C, ListedCompany> {
    /// Limits the list to companies of this corporation.
    pub fn in_corporation(self, id: Uuid) -> Self {
        self.with_filter("corporation_id", &id.to_string())
    }
}

/// Filters of a company's users.
impl<C> List<'_, C, User> {
    /// Limits the list to the user with this email address; letter case is ignored.
    pub fn with_email(self, email: &str) -> Self {
        self.with_filter("email", email)
    }

    /// Limits the list to users with this employee id.
    pub fn with_employee_id(self, employee_id: &str) -> Self {
        self.with_filter("employee_id", employee_id)
    }

    /// Limits the list to users changed at this time or later, such as `2026-11-20T20:01:02.345Z`.
    pub fn updated_since(self, moment: &str) -> Self {
        self.with_filter("updated_since", moment)
    }

    /// Includes deleted users.
    pub fn including_deleted(self) -> Self {
        self.with_filter("include_deleted", "true")
    }
}
