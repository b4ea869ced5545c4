//! `POST /v1/companies/{id}/rate_preview`: what another rate would show.

use guerdon_domain::companies::{Company, NowAndThen, preview_rate};
use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::ports::Reads;
use schemars::JsonSchema;
use serde::Serialize;

use super::get::company_in_path;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::{Described, Question};
use guerdon_api_types::Shown;
use guerdon_api_types::body::Fields;

pub(crate) struct RatePreview;

impl Described for RatePreview {
    const NAME: &'static str = "previewRate";
    const SUMMARY: &'static str = "Preview another rate";
    const TEXT: &'static str = "Shows the totals that balances would have at another rate: the reserve, and each type of wallet summed over the active users. \
         Nothing changes.";
    const IS_EXTENSION: bool = true;
    const DOCUMENTED_BY: Option<&str> = Some("Company");
    type View = PreviewView;
}

impl Question for RatePreview {
    type Command = PointsPerDollar;
    type Found = Company;

    fn find(reads: &mut dyn Reads, call: &Call) -> Result<Company, ApiError> {
        Ok(company_in_path(reads, call)?.company)
    }

    fn command(fields: &mut Fields) -> Option<PointsPerDollar> {
        fields.required_integer("points_per_dollar")
    }

    fn answer(reads: &mut dyn Reads, company: Company, rate: &PointsPerDollar) -> Result<Answer, ApiError> {
        let preview = preview_rate(reads, &company, *rate)?;
        let [user_wallet, peer_wallet, manager_wallet] = preview.wallets.map(View::of);
        Answer::ok(&PreviewView {
            points_per_dollar: View::of(preview.rate),
            reserve: View::of(preview.reserve),
            user_wallet,
            peer_wallet,
            manager_wallet,
        })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RatePreview")]
pub(crate) struct PreviewView {
    /// Points per dollar; 50 by default.
    points_per_dollar: View,
    /// The balance of the reserve.
    reserve: View,
    /// The total of the active users' user wallets.
    user_wallet: View,
    /// The total of the active users' peer wallets.
    peer_wallet: View,
    /// The total of the active users' manager wallets.
    manager_wallet: View,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NowAndThen")]
struct View {
    /// At the current rate. Example: `50`
    #[schemars(with = "Shown<Points>")]
    now: i64,
    /// At the other rate. Example: `60`
    #[schemars(with = "Shown<Points>")]
    then: i64,
}

impl View {
    fn of(NowAndThen { now, then }: NowAndThen) -> Self {
        Self { now, then }
    }
}
