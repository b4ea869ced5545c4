//! `PUT /v1/companies/{id}`: change a company, its owner and its rate included.

use guerdon_domain::companies::{OwnerName, UpdateCompany, UpdateCompanyError, update};
use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::values::{DomainName, EmailAddress, Line, WebUrl};

use super::create::{ALERT_MUST_BE, RATE_MUST_BE};
use super::get::company_in_path;
use super::view::CompanyView;
use crate::operation::Write;
use crate::operation::answer::Answer;
use crate::operation::body::Fields;
use crate::operation::call::Call;
use crate::operation::error::ApiError;

pub(crate) struct Update;

impl Write for Update {
    const NEEDS_DESIGNATION: bool = true;
    type Command = UpdateCompany;

    fn find(tx: &mut dyn Tx, call: &Call) -> Result<(), ApiError> {
        company_in_path(tx, call).map(drop)
    }

    fn command(fields: &mut Fields) -> Option<UpdateCompany> {
        Some(UpdateCompany {
            domain: fields.changed("domain", DomainName::parse),
            name: fields.changed("company_name", Line::parse),
            owner_email: fields.changed("owner_email", EmailAddress::parse),
            owner_name: fields.changed("owner_name", OwnerName::parse),
            logo_url: fields.changed("logo_url", WebUrl::parse),
            rate: fields.changed_integer("points_per_dollar", RATE_MUST_BE, PointsPerDollar::new),
            reserve_alert: fields.updated_integer("reserve_alert", ALERT_MUST_BE, Points::new),
            reserve_bcc: fields.updated("reserve_bcc", EmailAddress::parse),
        })
    }

    fn perform(
        tx: &mut dyn Tx,
        call: &Call,
        command: &UpdateCompany,
        context: &Context<'_>,
    ) -> Result<Answer, ApiError> {
        let company = update(tx, call.scope, call.path_id("company")?, command, context)?;
        Answer::ok(&CompanyView::changed(&company))
    }
}

impl From<UpdateCompanyError> for ApiError {
    fn from(error: UpdateCompanyError) -> Self {
        match error {
            UpdateCompanyError::Denied(denied) => Self::path_denied(denied, "company"),
            UpdateCompanyError::OtherDomain | UpdateCompanyError::OwnerName(_) => {
                Self::bad_request(error.to_string())
            }
            UpdateCompanyError::Store(error) => error.into(),
        }
    }
}
