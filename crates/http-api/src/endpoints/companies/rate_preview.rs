//! `POST /v1/companies/{id}/rate_preview`: what another rate would show.

use guerdon_domain::companies::{Company, NowAndThen, preview_rate};
use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::ports::Reads;
use schemars::JsonSchema;
use serde::Serialize;

use super::get::company_in_path;
use crate::operation::answer::Answer;
use crate::operation::body::Fields;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::wire::Shown;
use crate::operation::{Described, Question};

pub(crate) struct RatePreview;

impl Described for RatePreview {
    const NAME: &'static str = "previewRate";
    const SUMMARY: &'static str = "Look at another rate";
    const TEXT: &'static str = "What everybody would see at another rate, each kind of wallet summed over the active users. \
         Nothing changes.";
    const IS_EXTENSION: bool = true;
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
    points_per_dollar: View,
    reserve: View,
    user_wallet: View,
    peer_wallet: View,
    manager_wallet: View,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "NowAndThen")]
struct View {
    #[schemars(with = "Shown<Points>")]
    now: i64,
    #[schemars(with = "Shown<Points>")]
    then: i64,
}

impl View {
    fn of(NowAndThen { now, then }: NowAndThen) -> Self {
        Self { now, then }
    }
}
