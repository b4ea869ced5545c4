//! `guerdon reserve`.

use guerdon_domain::money::Points;
use guerdon_domain::ports::StoreExt;
use guerdon_domain::reserve::{DepositError, deposit, shown};
use guerdon_domain::values::CompanyId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::idempotent::{Keyed, once};
use super::{CommandError, Output, Runnable, View, Workplace};

/// Shows a company's reserve.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Show {
    /// The company.
    company_id: Uuid,
}

/// Puts points into a company's reserve.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Deposit {
    /// The company.
    company_id: Uuid,
    /// How many.
    #[arg(long)]
    points: i64,
    #[command(flatten)]
    #[serde(flatten)]
    key: Keyed,
}

/// A company's reserve.
#[derive(Serialize, Deserialize)]
struct Reserve {
    company_id: Uuid,
    points: i64,
}

impl View for Reserve {
    fn text(&self) -> String {
        format!("{} points", self.points)
    }
}

impl Runnable for Show {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let id = CompanyId::from_uuid(self.company_id);
        let points = workplace.store.snapshot(|reads| -> Result<_, DepositError> { shown(reads, id) })?;
        Reserve { company_id: self.company_id, points: points.get() }.output()
    }
}

impl Runnable for Deposit {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let id = CompanyId::from_uuid(self.company_id);
        let points = Points::new(self.points).ok_or(DepositError::OutOfRange)?;
        let what = ("reserve deposit", self.company_id, self.points);
        once(workplace, &self.key, &what, |tx, context| {
            let after = deposit(tx, id, points, context)?;
            Ok(Reserve { company_id: self.company_id, points: after.get() })
        })
    }
}

refusals!(DepositError);
