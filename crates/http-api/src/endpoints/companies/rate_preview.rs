//! `POST /v1/companies/{id}/rate_preview`: the totals of a company's balances at another rate.

use guerdon_domain::companies::{CurrentAndProposed, preview_rate};
use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::ports::ReadTx;
use schemars::JsonSchema;
use serde::Serialize;

use super::get::company_in_path;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::response::RenderedResponse;
use crate::operation::{OperationDocs, ReadWithBody};
use guerdon_api_types::WireValue;
use guerdon_api_types::body::Fields;
use guerdon_api_types::docs::FieldDocs;
use guerdon_api_types::field_docs;

pub(crate) struct PreviewRate;

impl OperationDocs for PreviewRate {
    const NAME: &'static str = "previewRate";
    const SUMMARY: &'static str = "Preview another rate";
    const DESCRIPTION: &'static str = "Shows the totals that balances would have at another rate: the reserve, and each type of wallet summed over the active users. \
         Nothing changes.";
    const IS_EXTENSION: bool = true;
    const FIELD_DOCS: FieldDocs = field_docs! {
        /// The rate to compute the balances at. Example: `60`
        points_per_dollar,
    };
    type View = PreviewView;
}

impl ReadWithBody for PreviewRate {
    type Input = PointsPerDollar;

    fn parse_input(fields: &mut Fields) -> Option<PointsPerDollar> {
        fields.read_required_integer("points_per_dollar")
    }

    fn execute_read(
        reads: &mut dyn ReadTx,
        call: &Call,
        rate: Result<&PointsPerDollar, ApiError>,
    ) -> Result<RenderedResponse, ApiError> {
        let company = company_in_path(reads, call)?.company;
        let preview = preview_rate(reads, &company, *rate?)?;
        let [user_wallet, peer_wallet, manager_wallet] = preview.wallets.map(View::from_points);
        RenderedResponse::ok(&PreviewView {
            points_per_dollar: View::from_points(preview.rate),
            reserve: View::from_points(preview.reserve),
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
    #[schemars(with = "WireValue<Points>")]
    now: i64,
    /// At the other rate. Example: `60`
    #[schemars(with = "WireValue<Points>")]
    then: i64,
}

impl View {
    fn from_points(CurrentAndProposed { current: now, proposed: then }: CurrentAndProposed) -> Self {
        Self { now, then }
    }
}
