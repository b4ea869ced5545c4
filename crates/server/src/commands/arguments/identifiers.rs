//! Arguments that identify a company, provider or user: by id, domain, name or email.

use std::str::FromStr;

use guerdon_domain::any_provider;
use guerdon_domain::companies::Company;
use guerdon_domain::ports::{ReadCompanies, StoreExt};
use guerdon_domain::values::{CompanyId, DomainName, EmailAddress, ProviderId, UserId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::{CommandEnvironment, CommandError};

/// A company, by its id or its domain.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct CompanyArgument(String);

impl FromStr for CompanyArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if Uuid::try_parse(text).is_ok() || DomainName::parse(text).is_ok() {
            Ok(Self(text.to_owned()))
        } else {
            Err("must be a company's id or its domain, such as acme.example".to_owned())
        }
    }
}

impl CompanyArgument {
    /// Returns the id of the company. A domain is looked up; whether an id exists is not checked.
    pub(crate) fn find_id(&self, environment: &CommandEnvironment) -> Result<CompanyId, CommandError> {
        if let Ok(id) = Uuid::try_parse(&self.0) {
            return Ok(CompanyId::from_uuid(id));
        }
        let domain = DomainName::parse(&self.0).map_err(CommandError::refused)?;
        let found = environment.store.read_snapshot(|reads| reads.find_company_id_by_domain(&domain))?;
        found.ok_or_else(|| CommandError::Refused(format!("no company has the domain {}", self.0)))
    }

    /// Loads the company. Fails if it does not exist.
    pub(crate) fn find_company(&self, environment: &CommandEnvironment) -> Result<Company, CommandError> {
        let id = self.find_id(environment)?;
        environment.store.read_snapshot(|reads| load_company(reads, id))
    }
}

/// Loads a company by its id. Fails if it does not exist.
pub(crate) fn load_company<R: ReadCompanies + ?Sized>(
    reads: &mut R,
    id: CompanyId,
) -> Result<Company, CommandError> {
    any_provider::find_company(reads, id)?
        .ok_or_else(|| CommandError::Refused(format!("no company has the id {id}")))
}

/// A provider, by its id or its name.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ProviderArgument(String);

impl FromStr for ProviderArgument {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            Err("must be a provider's id or its name".to_owned())
        } else {
            Ok(Self(text.to_owned()))
        }
    }
}

impl ProviderArgument {
    /// Returns the id of the provider. Fails if no provider, or more than one, has the name.
    pub(crate) fn find_id(&self, environment: &CommandEnvironment) -> Result<ProviderId, CommandError> {
        if let Ok(id) = Uuid::try_parse(&self.0) {
            return Ok(ProviderId::from_uuid(id));
        }
        let all = environment.store.read_snapshot(|reads| reads.list_providers())?;
        let mut named = all.iter().filter(|provider| provider.name == self.0).map(|provider| provider.id);
        match (named.next(), named.next()) {
            (Some(id), None) => Ok(id),
            (None, _) => Err(CommandError::Refused(format!("no provider has the name {}", self.0))),
            (Some(_), Some(_)) => {
                Err(CommandError::Refused(format!("several providers have the name {}: use the id", self.0)))
            }
        }
    }
}

/// A user, by id, or by email and company. An email identifies only active users.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct UserArgument {
    /// The user: an id, or an email together with --company
    #[arg(value_name = "USER", value_parser = check_id_or_email)]
    user_id: String,
    /// The company of the user, if USER is an email: an id or a domain
    #[arg(long, value_name = "COMPANY")]
    company: Option<CompanyArgument>,
}

impl UserArgument {
    /// Returns what identifies the user in a request with an idempotency key: the id, or the company and the email. The
    /// email is not looked up.
    pub(crate) fn identity_for_key(
        &self,
        environment: &CommandEnvironment,
    ) -> Result<(Option<Uuid>, String), CommandError> {
        let user = normalize_id_or_email(&self.user_id);
        let company = self.company.as_ref().filter(|_| Uuid::try_parse(&self.user_id).is_err());
        let company = company.map(|company| company.find_id(environment)).transpose()?;
        Ok((company.map(|id| id.as_uuid()), user))
    }

    /// Returns the id of the user. An email is looked up in the company; whether an id exists is checked only if a
    /// company is given as well.
    pub(crate) fn find_id(&self, environment: &CommandEnvironment) -> Result<UserId, CommandError> {
        let company = self.company.as_ref().map(|company| company.find_id(environment)).transpose()?;
        match (Uuid::try_parse(&self.user_id).map(UserId::from_uuid), company) {
            (Ok(id), None) => Ok(id),
            (Ok(id), Some(company)) => require_member(environment, company, id).map(|()| id),
            (Err(_email), Some(company)) => find_user(environment, company, &self.user_id),
            (Err(_email), None) => Err(CommandError::refused("an email needs --company")),
        }
    }
}

/// Parses an id.
pub(crate) fn parse_id(text: &str) -> Result<Uuid, String> {
    Uuid::try_parse(text)
        .map_err(|_invalid| "must be an id, such as 01a2057f-7518-7734-a515-cb366f579795".to_owned())
}

/// Checks that a string is an email address, and returns it.
pub(crate) fn check_email(text: &str) -> Result<String, String> {
    EmailAddress::parse(text).map(|_| text.to_owned()).map_err(|_invalid| "must be an email".to_owned())
}

/// Checks that a string is the id or the email of a user, and returns it.
pub(crate) fn check_id_or_email(text: &str) -> Result<String, String> {
    if Uuid::try_parse(text).is_ok() || EmailAddress::parse(text).is_ok() {
        Ok(text.to_owned())
    } else {
        Err("must be a user's id, or an email".to_owned())
    }
}

/// Returns the canonical form of an id or email for the hash of a request: emails that differ only in case are equal.
pub(crate) fn normalize_id_or_email(text: &str) -> String {
    Uuid::try_parse(text).map_or_else(|_email| text.to_lowercase(), |id| id.to_string())
}

/// Returns the id of a company's user, given by id or email. Whether an id exists is not checked.
pub(crate) fn find_user(
    environment: &CommandEnvironment,
    company: CompanyId,
    name: &str,
) -> Result<UserId, CommandError> {
    if let Ok(id) = Uuid::try_parse(name) {
        return Ok(UserId::from_uuid(id));
    }
    let email = EmailAddress::parse(name).map_err(CommandError::refused)?;
    let found = environment.store.read_snapshot(|reads| reads.find_active_user_by_email(company, &email))?;
    found.ok_or_else(|| CommandError::Refused(format!("no active user of the company has the email {name}")))
}

/// Fails if the user does not exist or belongs to another company.
fn require_member(
    environment: &CommandEnvironment,
    company: CompanyId,
    id: UserId,
) -> Result<(), CommandError> {
    match environment.store.read_snapshot(|reads| any_provider::find_user(reads, id))? {
        Some(user) if user.company_id == company => Ok(()),
        _ => Err(CommandError::Refused(format!("no user of company {company} has the id {id}"))),
    }
}

/// Loads the company of a user.
pub(crate) fn find_company_of_user(
    environment: &CommandEnvironment,
    user: UserId,
) -> Result<Company, CommandError> {
    let absent = || CommandError::Refused(format!("no user has the id {user}"));
    environment.store.read_snapshot(|reads| {
        let found = any_provider::find_user(reads, user)?.ok_or_else(absent)?;
        load_company(reads, found.company_id)
    })
}
