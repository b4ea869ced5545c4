//! `guerdon company`.

use guerdon_domain::companies::{
    CompanyWithOwner, MoveCompanyError, OptionsError, move_to_provider, set_allow_zero_points,
};
use guerdon_domain::ports::{Lookup, StoreExt};
use guerdon_http_api::shown;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::named::{CompanyName, ProviderName};
use super::output::{fields, table};
use super::pages::most;
use super::{CommandError, Output, Runnable, View, Workplace, pages};

/// Shows companies, oldest first, those of each provider together.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct List {
    /// Of this provider only: an id or a name
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<ProviderName>,
    /// At most so many
    #[arg(long, default_value_t = 10_000, value_name = "N", allow_negative_numbers = true, value_parser = most)]
    limit: u32,
}

/// Shows one company.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Show {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
}

impl Runnable for List {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let wanted = self.provider.as_ref().map(|it| it.id(workplace)).transpose()?;
        workplace.store.snapshot(|reads| {
            let providers = reads.providers()?;
            let chosen: Vec<_> = providers.iter().filter(|it| wanted.is_none_or(|id| it.id == id)).collect();
            if chosen.is_empty() && wanted.is_some() {
                return Err(CommandError::refused("no provider has this id"));
            }
            let (mut rows, mut json) = (Vec::new(), Vec::new());
            for provider in chosen {
                let left = usize::try_from(self.limit).unwrap_or(usize::MAX) - rows.len();
                let found = pages::first(left, |page| reads.companies(provider.id, None, page))?;
                for it in &found {
                    let users = reads.active_user_count(it.company.id)?;
                    rows.push(row(it, users, &provider.name));
                    json.push(shown::company(it, users)?);
                }
            }
            let text = table(&["id", "domain", "name", "owner", "users", "provider"], &rows);
            Ok(Output { text, json: format!("[{}]", json.join(",")), ..Output::default() })
        })
    }
}

impl Runnable for Show {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let id = self.company_id.id(workplace)?;
        workplace.store.snapshot(|reads| {
            let absent = || CommandError::refused("no company has this id");
            let scope = reads.provider_of_company(id)?.ok_or_else(absent)?;
            let Lookup::Own(found) = reads.company(scope, id)? else { return Err(absent()) };
            let users = reads.active_user_count(id)?;
            let json = shown::company(&found, users)?;
            let (company, owner) = (&found.company, found.owner_name());
            let (rate, count) = (company.rate.get().to_string(), users.to_string());
            let alert = company.reserve_alert.map_or_else(|| "-".to_owned(), |it| it.get().to_string());
            let text = fields(&[
                ("id", &id.to_string()),
                ("provider", &scope.to_string()),
                ("domain", company.domain.as_str()),
                ("name", company.name.as_str()),
                ("owner", &format!("{owner} <{}>", found.owner_email.as_str())),
                ("users", &count),
                ("points per dollar", &rate),
                ("reserve alert", &alert),
                ("0 points", if company.allow_zero_points { "allowed" } else { "not allowed" }),
                ("created", &company.created_at.to_string()),
            ]);
            Ok(Output { text, json, ..Output::default() })
        })
    }
}

fn row(it: &CompanyWithOwner, users: i64, provider: &str) -> Vec<String> {
    let company = &it.company;
    let texts = [company.domain.as_str(), company.name.as_str(), it.owner_email.as_str()].map(str::to_owned);
    let [domain, name, owner] = texts;
    vec![company.id.to_string(), domain, name, owner, users.to_string(), provider.to_owned()]
}

/// Sets options of a company.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Options {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
    /// Whether recognitions of 0 points are allowed.
    #[arg(long, value_name = "true|false", action = clap::ArgAction::Set)]
    allow_zero_points: bool,
}

#[derive(Serialize)]
struct Done {
    company_id: Uuid,
    allow_zero_points: bool,
}

impl View for Done {
    fn text(&self) -> String {
        let verb = if self.allow_zero_points { "allows" } else { "does not allow" };
        format!("company {} {verb} recognitions of 0 points", self.company_id)
    }
}

impl Runnable for Options {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let (id, allow) = (self.company_id.id(workplace)?, self.allow_zero_points);
        workplace.store.transaction(|tx| -> Result<(), CommandError> {
            Ok(set_allow_zero_points(tx, id, allow, &workplace.context())?)
        })?;
        Done { company_id: id.as_uuid(), allow_zero_points: allow }.output()
    }
}

/// Hands a company to another provider; it leaves its corporation.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Transfer {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
    /// The provider whose it becomes, with its users, occasions and points: an id or a name
    #[arg(long, value_name = "PROVIDER")]
    to: ProviderName,
}

#[derive(Serialize)]
struct Transferred {
    company_id: Uuid,
    provider_id: Uuid,
    #[serde(skip)]
    domain: String,
    #[serde(skip)]
    provider: String,
}

impl View for Transferred {
    fn text(&self) -> String {
        format!("company {} now belongs to provider {} ({})", self.domain, self.provider, self.provider_id)
    }
}

impl Runnable for Transfer {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let (company, to) = (self.company_id.company(workplace)?, self.to.id(workplace)?);
        let provider = workplace.store.transaction(|tx| -> Result<_, CommandError> {
            move_to_provider(tx, company.id, to, &workplace.context())?;
            Ok(tx.provider(to)?.map_or_else(String::new, |it| it.name))
        })?;
        Transferred {
            company_id: company.id.as_uuid(),
            provider_id: to.as_uuid(),
            domain: company.domain.as_str().to_owned(),
            provider,
        }
        .output()
    }
}

refusals!(OptionsError, MoveCompanyError);
