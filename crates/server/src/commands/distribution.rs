//! `guerdon distribution`.

use guerdon_domain::distributions::{DistributeError, RunDistribution, finish, read_ahead, run_with};
use guerdon_domain::ports::{Reads, StoreError, StoreExt};
use guerdon_domain::reserve::shown;
use guerdon_domain::values::UserId;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::idempotent::{Keyed, once};
use super::named::{CompanyName, id_or_email, user_of};
use super::output::{Told, counted};
use super::sum::{Sum, worth};
use super::wallet::WalletName;
use super::{CommandError, Output, Runnable, Workplace};

/// Gives points to users, all or nothing, from the reserve.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Run {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyName,
    /// Into which wallet
    #[arg(long, value_enum)]
    wallet: WalletName,
    #[command(flatten)]
    #[serde(flatten)]
    sum: Sum,
    /// To whom, by id or email, once for each; without it to every active user (for manager_wallet: every active manager)
    #[arg(long = "user", value_name = "USER", value_parser = id_or_email)]
    users: Vec<String>,
    #[command(flatten)]
    #[serde(flatten)]
    key: Keyed,
}

/// What was distributed.
#[derive(Serialize)]
struct Distributed {
    company_id: Uuid,
    users: usize,
    points: i64,
}

impl Runnable for Run {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let company = self.company_id.company(workplace)?;
        let id = company.id;
        let users: Vec<UserId> =
            self.users.iter().map(|it| user_of(workplace, id, it)).collect::<Result<_, _>>()?;
        let wallet = self.wallet.into();
        let named: Vec<Uuid> = users.iter().map(|it| it.as_uuid()).collect();
        let what = ("distribution run", id.as_uuid(), self.wallet, &self.sum, &named);
        let look = |reads: &mut dyn Reads| read_ahead(reads, id, wallet);
        let ahead = if users.is_empty() { workplace.store.snapshot(look)? } else { None };
        let output = once(workplace, &self.key, &what, |tx, context| {
            let (points, rate) = self.sum.at_rate_of(tx, id)?;
            let command =
                RunDistribution { company_id: id, wallet, points, users: users.clone(), date: None };
            let before = worth(shown(tx, id)?, rate);
            let done = run_with(tx, &command, ahead.as_deref(), context)?;
            workplace.progress.of(done.users);
            let (each, now) = (worth(done.points, rate), worth(shown(tx, id)?, rate));
            let text = format!(
                "{} of {} received {each} each; the reserve held {before}, now {now}",
                counted(done.users, "user", "users"),
                company.domain.as_str()
            );
            let points = done.points.get();
            Ok(Told { fields: Distributed { company_id: id.as_uuid(), users: done.users, points }, text })
        })?;
        // After a repeat too: an earlier run under this key may have ended between two steps.
        let store = workplace.store.as_ref();
        let finished = finish(store, &mut |users| workplace.progress.advance(users));
        let failed = finished.map_err(|cause| unfinished(&cause))?;
        let own = failed.iter().find(|it| it.company == Some(id));
        own.map_or(Ok(output), |it| Err(unfinished(&it.reason)))
    }

    fn may_take_long(&self) -> bool {
        true
    }
}

/// The distribution is committed, and some of its receivers may still wait for their points.
fn unfinished(cause: &StoreError) -> CommandError {
    CommandError::Failed(format!(
        "the reserve has paid, but perhaps not every user has received points yet ({cause}): a running guerdon serve \
         continues within seconds; do not run the distribution again without the same --key; `guerdon status` shows \
         points in transit until it is finished"
    ))
}

refusals!(DistributeError);
