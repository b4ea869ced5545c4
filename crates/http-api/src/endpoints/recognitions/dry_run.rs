//! `POST /v1/recognitions/dry_run`: what sending a recognition would do, or why it would be refused.

use guerdon_domain::money::{Dollars, Points};
use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::recognitions::{SendRecognition, rehearse};
use guerdon_domain::wallets::Account;
use schemars::JsonSchema;
use serde::Serialize;

use super::Create;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::{Described, Write};
use guerdon_api_types::Shown;
use guerdon_api_types::body::Fields;
use guerdon_api_types::docs::FieldDocs;

pub(crate) struct DryRun;

impl Described for DryRun {
    const NAME: &'static str = "dryRunRecognition";
    const SUMMARY: &'static str = "Dry-run a recognition";
    const TEXT: &'static str = "Returns what sending this recognition would do, or the error with which it would be refused. Nothing \
         is written; an `Idempotency-Key` is ignored.";
    const IS_EXTENSION: bool = true;
    const DOCUMENTED_BY: Option<&str> = Some("Recognition");
    const FIELD_DOCS: FieldDocs = Create::FIELD_DOCS;
    type View = View;
}

impl Write for DryRun {
    const IS_DRY_RUN: bool = true;
    type Command = SendRecognition;

    fn command(fields: &mut Fields) -> Option<SendRecognition> {
        Create::command(fields)
    }

    fn weight(command: &SendRecognition) -> usize {
        Create::weight(command)
    }

    fn perform(
        tx: &mut dyn Tx,
        call: &Call,
        command: &SendRecognition,
        context: &Context<'_>,
    ) -> Result<Answer, ApiError> {
        let told = rehearse(tx, call.scope, command, context)?;
        Answer::ok(&View {
            wallet: match told.payer {
                Account::Wallet(wallet, _) => wallet.name(),
                _ => "reserve",
            },
            points: told.points.get(),
            dollars: Shown(Dollars::of(told.points, told.rate)),
            receivers: told.receivers,
            balance_after: told.left.get(),
        })
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "DryRun")]
pub(crate) struct View {
    /// The wallet or reserve that would pay. Example: `"peer_wallet"`
    #[schemars(extend("enum" = ["reserve", "peer_wallet", "manager_wallet"]))]
    wallet: &'static str,
    /// The total cost in points. Example: `20`
    #[schemars(with = "Shown<Points>")]
    points: i64,
    /// The total cost in dollars, rounded half to even. Example: `"0.40"`
    dollars: Shown<Dollars>,
    /// The number of receivers. Example: `2`
    receivers: usize,
    /// The payer's balance afterwards. Example: `480`
    #[schemars(with = "Shown<Points>")]
    balance_after: i64,
}
