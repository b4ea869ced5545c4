//! Executes the operations of the model on a store.

use std::sync::mpsc::channel;

use guerdon_domain::commands::{Command, Done, Outcome, OutcomeReceiver, Submission};
use guerdon_domain::distributions::Recipients;
use guerdon_domain::money::{Points, PointsPerDollar, Sum};
use guerdon_domain::ports::StoreError;
use guerdon_domain::recognitions::Sender;
use guerdon_domain::reserve::{ChangeReserve, ReserveDirection};
use guerdon_domain::values::{RedemptionId, UserId};
use guerdon_domain::wallets::WalletType;

use super::reference::{PEER, Payer, Transition, USER, Verdict};
use super::{Subject, verdict_of};
use crate::support::REQUESTER;

fn wallet_type(wallet: usize) -> WalletType {
    match wallet {
        USER => WalletType::User,
        PEER => WalletType::Peer,
        _ => WalletType::Manager,
    }
}

/// Sends the outcome of a command.
struct OutcomeSender(std::sync::mpsc::Sender<Outcome>);

impl OutcomeReceiver for OutcomeSender {
    fn render_response(&mut self, _done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
        Ok((201, Vec::new()))
    }

    fn confirm_execution(&self) -> bool {
        true
    }

    fn receive_outcome(self: Box<Self>, outcome: Outcome) {
        self.0.send(outcome).unwrap();
    }
}

impl Subject {
    fn users_at(&self, numbers: &[usize]) -> Vec<UserId> {
        numbers.iter().map(|number| self.users[*number]).collect()
    }

    /// Executes an operation and returns whether it took effect.
    pub(super) fn execute(&mut self, transition: &Transition) -> Verdict {
        let fixture = &self.fixture;
        let count = |points: &i128| i64::try_from(*points).unwrap();
        match transition {
            Transition::CreateUser { is_manager } => {
                let name = format!("u{}", self.users.len());
                self.users.push(fixture.create_user_with(&name, |profile| profile.manager = *is_manager));
                Verdict::Done
            }
            Transition::DeleteUser(user) => verdict_of(fixture.delete_user(self.users[*user])),
            Transition::ChangeRate(rate) => {
                fixture.change_rate(PointsPerDollar::new(count(rate)).unwrap());
                Verdict::Done
            }
            Transition::Deposit(points) => verdict_of(fixture.try_deposit(count(points))),
            Transition::Withdraw(points) => {
                let sum = Sum::Points(Points::new(count(points)).unwrap());
                let (company_id, direction) = (fixture.company, ReserveDirection::Withdrawal);
                let command = ChangeReserve { company_id, direction, sum };
                verdict_of(fixture.execute_command(Command::ChangeReserve(command)))
            }
            Transition::Distribute { wallet, receivers, points } => {
                let recipients = Recipients::Named(self.users_at(receivers));
                verdict_of(fixture.distribute_points(wallet_type(*wallet), count(points), recipients))
            }
            Transition::Send { payer, receivers, points } => {
                let sender = match payer {
                    Payer::Company => Sender::Company(fixture.company),
                    Payer::User(user) => Sender::User(self.users[*user]),
                };
                verdict_of(fixture.send_recognition(sender, &self.users_at(receivers), count(points)))
            }
            Transition::SendTogether { receivers, points } => {
                self.send_together(&self.users_at(receivers), count(points))
            }
            Transition::Redeem { user, points } => {
                let redeemed = fixture.redeem_points(self.users[*user], count(points));
                verdict_of(redeemed.map(|redemption| self.redemptions.push(redemption.id)))
            }
            Transition::Refund(number) => {
                let absent = RedemptionId::from_uuid(uuid::Uuid::from_u128(7));
                let id = self.redemptions.get(*number).copied().unwrap_or(absent);
                verdict_of(fixture.refund_redemption(id))
            }
            Transition::Override { user, wallet, points } => {
                verdict_of(fixture.override_balance(self.users[*user], wallet_type(*wallet), count(points)))
            }
        }
    }

    /// Submits a recognition to each receiver before the first outcome arrives.
    fn send_together(&self, receivers: &[UserId], points: i64) -> Verdict {
        let fixture = &self.fixture;
        let (sender, outcomes) = channel();
        for receiver in receivers {
            let company = Sender::Company(fixture.company);
            fixture.commands.submit_command(Submission {
                command: Command::SendRecognition(fixture.send_command(company, &[*receiver], points)),
                provider: fixture.provider,
                requester: REQUESTER.clone(),
                context_sources: fixture.context_sources(),
                idempotent_request: None,
                outcome_receiver: Box::new(OutcomeSender(sender.clone())),
            });
        }
        drop(sender);
        let verdicts: Vec<Verdict> = outcomes
            .iter()
            .map(|outcome| match outcome {
                Outcome::Done(_) => Verdict::Done,
                Outcome::Refused(refusal) => verdict_of(Err::<(), _>(refusal)),
                other => panic!("{other:?}"),
            })
            .collect();
        if verdicts.contains(&Verdict::Refused) { Verdict::Refused } else { Verdict::Done }
    }
}
