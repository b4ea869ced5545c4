//! `guerdon company`.

use guerdon_domain::companies::{MoveCompanyError, OptionsError, move_to_provider, set_allow_zero_points};
use guerdon_domain::ports::StoreExt;
use guerdon_domain::values::{CompanyId, ProviderId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::{CommandError, Output, Runnable, View, Workplace};

/// Sets options of a company.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Options {
    /// The company.
    company_id: Uuid,
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
        let (id, allow) = (CompanyId::from_uuid(self.company_id), self.allow_zero_points);
        workplace.store.transaction(|tx| -> Result<(), CommandError> {
            Ok(set_allow_zero_points(tx, id, allow, &workplace.context())?)
        })?;
        Done { company_id: self.company_id, allow_zero_points: allow }.output()
    }
}

/// Hands a company to another provider; it leaves its corporation.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Transfer {
    /// The company.
    company_id: Uuid,
    /// The provider whose it becomes, with its users, occasions and points. Events written before stay.
    #[arg(long, value_name = "PROVIDER_ID")]
    to: Uuid,
}

#[derive(Serialize)]
struct Transferred {
    company_id: Uuid,
    provider_id: Uuid,
}

impl View for Transferred {
    fn text(&self) -> String {
        format!("company {} now belongs to provider {}", self.company_id, self.provider_id)
    }
}

impl Runnable for Transfer {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let (id, to) = (CompanyId::from_uuid(self.company_id), ProviderId::from_uuid(self.to));
        workplace.store.transaction(|tx| -> Result<(), CommandError> {
            Ok(move_to_provider(tx, id, to, &workplace.context())?)
        })?;
        Transferred { company_id: self.company_id, provider_id: self.to }.output()
    }
}

refusals!(OptionsError, MoveCompanyError);
