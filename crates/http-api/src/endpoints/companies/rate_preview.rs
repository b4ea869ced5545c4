//! `POST /v1/companies/{id}/rate_preview`: the totals of a company's balances at another rate.

use std::sync::Arc;

use actix_web::HttpRequest;
use actix_web::http::header::HeaderMap;
use actix_web::web::Payload;
use guerdon_api_types::{FieldDocs, Fields, WireValue, field_docs};
use guerdon_domain::companies::{CurrentAndProposed, RatePreview, preview_rate};
use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::ports::{Consistency, ReadTx};
use schemars::JsonSchema;
use serde::Serialize;

use super::get::company_in_path;
use crate::operation::body::{parse_input, read_body};
use crate::operation::{ApiError, ApiState, Call, OperationDocs, RenderedResponse, read_blocking};

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

/// Reads the fields of the body; `None` only after a fault.
pub(crate) fn read_proposed_rate(fields: &mut Fields) -> Option<PointsPerDollar> {
    fields.read_required_integer("points_per_dollar")
}

/// Runs the operation for a request.
pub(crate) async fn run_rate_preview(
    state: Arc<ApiState>,
    call: Call,
    request: HttpRequest,
    payload: Payload,
) -> Result<RenderedResponse, ApiError> {
    let received = read_body(&request, payload, state.body_memory.empty_permit(call.scope)).await;
    let length = received.as_ref().map_or(0, |body| body.bytes.len());
    let parse = move |headers: &HeaderMap| {
        received.and_then(|body| parse_input(headers, Some(body.bytes.as_slice()), read_proposed_rate))
    };
    let parsed = state.body_parser.run_parser(call.scope, request.headers(), length, parse).await?;
    let caller = call.caller.clone();
    let read = move |reads: &mut dyn ReadTx| {
        let company = company_in_path(reads, &call)?.company; // before the error of the body (behaviour 4.1)
        let parsed = parsed.as_ref().map_err(ApiError::clone)?;
        let preview = preview_rate(reads, &company, parsed.input)?;
        Ok(parsed.add_ignored_fields(RenderedResponse::ok(&PreviewView::from_preview(preview))?))
    };
    read_blocking(&state, caller, Consistency::Snapshot, read).await
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "RatePreview")]
pub(crate) struct PreviewView {
    /// The current rate and the other one, in points per dollar.
    points_per_dollar: PointsAtBothRates,
    /// The balance of the reserve.
    reserve: PointsAtBothRates,
    /// The total of the active users' user wallets.
    user_wallet: PointsAtBothRates,
    /// The total of the active users' peer wallets.
    peer_wallet: PointsAtBothRates,
    /// The total of the active users' manager wallets.
    manager_wallet: PointsAtBothRates,
}

impl PreviewView {
    fn from_preview(RatePreview { rate, reserve, wallets }: RatePreview) -> Self {
        let [user_wallet, peer_wallet, manager_wallet] = wallets.map(PointsAtBothRates::from_points);
        Self {
            points_per_dollar: PointsAtBothRates::from_points(rate),
            reserve: PointsAtBothRates::from_points(reserve),
            user_wallet,
            peer_wallet,
            manager_wallet,
        }
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CurrentAndProposed")]
struct PointsAtBothRates {
    /// At the current rate. Example: `50`
    #[schemars(with = "WireValue<Points>")]
    now: i64,
    /// At the other rate. Example: `60`
    #[schemars(with = "WireValue<Points>")]
    then: i64,
}

impl PointsAtBothRates {
    fn from_points(CurrentAndProposed { current: now, proposed: then }: CurrentAndProposed) -> Self {
        Self { now, then }
    }
}
