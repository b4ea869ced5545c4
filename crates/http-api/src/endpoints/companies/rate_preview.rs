//! `POST /v1/companies/{id}/rate_preview`: what another rate would show.

use guerdon_domain::companies::{Company, NowAndThen, preview_rate};
use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::ports::Reads;
use serde::Serialize;

use super::create::RATE_MUST_BE;
use super::get::company_in_path;
use crate::operation::Question;
use crate::operation::answer::Answer;
use crate::operation::body::Fields;
use crate::operation::call::Call;
use crate::operation::error::ApiError;

pub(crate) struct RatePreview;

impl Question for RatePreview {
    type Command = PointsPerDollar;
    type Found = Company;

    fn find(reads: &mut dyn Reads, call: &Call) -> Result<Company, ApiError> {
        Ok(company_in_path(reads, call)?.company)
    }

    fn command(fields: &mut Fields) -> Option<PointsPerDollar> {
        let count = fields.required_integer("points_per_dollar");
        fields.judged("points_per_dollar", count.map(PointsPerDollar::new), RATE_MUST_BE)
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

#[derive(Serialize)]
struct PreviewView {
    points_per_dollar: View,
    reserve: View,
    user_wallet: View,
    peer_wallet: View,
    manager_wallet: View,
}

#[derive(Serialize)]
struct View {
    now: i64,
    then: i64,
}

impl View {
    fn of(NowAndThen { now, then }: NowAndThen) -> Self {
        Self { now, then }
    }
}
