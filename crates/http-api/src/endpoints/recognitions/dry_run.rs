//! `POST /v1/recognitions/dry_run`: what sending a recognition would do, or why it would be refused.

use guerdon_domain::money::Dollars;
use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::recognitions::{SendRecognition, rehearse};
use guerdon_domain::wallets::Account;
use serde::Serialize;

use super::Create;
use crate::operation::Write;
use crate::operation::answer::Answer;
use crate::operation::body::Fields;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::wire::Shown;

pub(crate) struct DryRun;

impl Write for DryRun {
    const IS_UNDONE: bool = true;
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

#[derive(Serialize)]
struct View {
    wallet: &'static str,
    points: i64,
    dollars: Shown<Dollars>,
    receivers: usize,
    balance_after: i64,
}
