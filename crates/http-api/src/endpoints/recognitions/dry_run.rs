//! `POST /v1/recognitions/dry_run`: what sending a recognition would do, or why it would be refused.

use guerdon_api_types::{FieldDocs, Fields, WireValue};
use guerdon_domain::money::{Dollars, Points};
use guerdon_domain::recognitions::{SendRecognition, dry_run};
use guerdon_domain::wallets::Account;
use schemars::JsonSchema;
use serde::Serialize;

use super::Create;
use crate::operation::{ApiError, OperationDocs, RenderedResponse, Work, WriteOperation};

pub(crate) struct DryRun;

impl OperationDocs for DryRun {
    const NAME: &'static str = "dryRunRecognition";
    const SUMMARY: &'static str = "Dry-run a recognition";
    const DESCRIPTION: &'static str = "Returns what sending this recognition would do, or the error with which it would be refused. Nothing \
         is written; an `Idempotency-Key` is ignored.";
    const IS_EXTENSION: bool = true;
    const DOCUMENTED_BY: Option<&str> = Some("Recognition");
    const FIELD_DOCS: FieldDocs = Create::FIELD_DOCS;
    type View = View;
}

impl WriteOperation for DryRun {
    const IS_DRY_RUN: bool = true;
    type Input = SendRecognition;

    fn parse_input(fields: &mut Fields) -> Option<SendRecognition> {
        Create::parse_input(fields)
    }

    fn estimate_memory(command: &SendRecognition) -> usize {
        Create::estimate_memory(command)
    }

    fn execute_write(work: Work<'_>, input: &SendRecognition) -> Result<RenderedResponse, ApiError> {
        let preview = dry_run(work.tx, work.call.scope, input, work.context)?;
        RenderedResponse::ok(&View {
            wallet: match preview.payer {
                Account::Wallet(wallet, _) => wallet.name(),
                _ => "reserve",
            },
            points: preview.points.get(),
            dollars: WireValue(Dollars::from_points(preview.points, preview.rate)),
            receivers: preview.receivers,
            balance_after: preview.remaining.get(),
        })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DryRun")]
pub(crate) struct View {
    /// The wallet or reserve that would pay. Example: `"peer_wallet"`
    #[schemars(extend("enum" = ["reserve", "peer_wallet", "manager_wallet"]))]
    wallet: &'static str,
    /// The total cost in points. Example: `10`
    #[schemars(with = "WireValue<Points>")]
    points: i64,
    /// The total cost in dollars, rounded half to even. Example: `"0.20"`
    dollars: WireValue<Dollars>,
    /// The number of receivers. Example: `1`
    receivers: usize,
    /// The payer's balance afterwards. Example: `490`
    #[schemars(with = "WireValue<Points>")]
    balance_after: i64,
}
