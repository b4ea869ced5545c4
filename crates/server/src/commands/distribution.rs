//! `guerdon distribution`.

use std::cell::Cell;

use guerdon_domain::distributions::{DistributeError, RunDistribution, finish, read_ahead, run_with};
use guerdon_domain::money::Points;
use guerdon_domain::ports::{Reads, StoreExt};
use guerdon_domain::values::{CompanyId, UserId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::idempotent::{Keyed, once};
use super::wallet::WalletName;
use super::{CommandError, Output, Runnable, View, Workplace};

/// Gives points to users, all or nothing, from the reserve.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The company.
    company_id: Uuid,
    /// Into which wallet.
    #[arg(long, value_enum)]
    wallet: WalletName,
    /// Points for each user.
    #[arg(long)]
    points: i64,
    /// To whom, once for each; without it to every active user (for manager_wallet: every active manager).
    #[arg(long = "user", value_name = "USER_ID")]
    users: Vec<Uuid>,
    #[command(flatten)]
    #[serde(flatten)]
    key: Keyed,
}

/// What was distributed.
#[derive(Serialize, Deserialize)]
struct Distributed {
    company_id: Uuid,
    users: usize,
    points: i64,
}

impl View for Distributed {
    fn text(&self) -> String {
        format!("{} users received {} points each", self.users, self.points)
    }
}

impl Runnable for Run {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let command = RunDistribution {
            company_id: CompanyId::from_uuid(self.company_id),
            wallet: self.wallet.into(),
            points: Points::new(self.points).ok_or(DistributeError::OutOfRange)?,
            users: self.users.iter().map(|it| UserId::from_uuid(*it)).collect(),
            date: None,
        };
        let what = ("distribution run", self.company_id, self.wallet, self.points, &self.users);
        let look = |reads: &mut dyn Reads| read_ahead(reads, command.company_id, command.wallet);
        let ahead = if command.users.is_empty() { workplace.store.snapshot(look)? } else { None };
        let in_steps = Cell::new(false);
        let output = once(workplace, &self.key, &what, |tx, context| {
            let done = run_with(tx, &command, ahead.as_deref(), context)?;
            in_steps.set(done.in_steps);
            workplace.progress.of(done.users);
            Ok(Distributed { company_id: self.company_id, users: done.users, points: done.points.get() })
        })?;
        if in_steps.get() {
            finish(workplace.store.as_ref(), &mut |users| workplace.progress.advance(users))?;
        }
        Ok(output)
    }

    fn may_take_long(&self) -> bool {
        true
    }
}

refusals!(DistributeError);
