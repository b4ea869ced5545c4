//! Executes the operations of the model on a store.

use std::sync::mpsc::channel;
use std::time::Duration;

use guerdon_domain::commands::{Command, Done, Outcome, OutcomeReceiver, Submission};
use guerdon_domain::companies::{UpdateCompany, transfer_to_provider};
use guerdon_domain::distributions::{CreateSchedule, Period, Recipients, RunDistribution, create_schedule};
use guerdon_domain::idempotency::{IdempotencyKey, IdempotentRequest};
use guerdon_domain::money::PointsPerDollar;
use guerdon_domain::overrides::OverrideBalance;
use guerdon_domain::ports::{StoreError, StoreExt as _};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::redemptions::{Redeem, Refund};
use guerdon_domain::reserve::{ChangeReserve, ReserveDirection};
use guerdon_domain::scheduler::{DateOutcome, PausedSchedules, run_next_due_date};
use guerdon_domain::users::{self, Profile, UpdateUser};
use guerdon_domain::values::{EmailAddress, IsoDate, ProviderId, RedemptionId, SingleLine, UserId};
use guerdon_domain::wallets::WalletType;

use super::state::{PEER, USER, Verdict};
use super::transitions::{Payer, Transition};
use super::{Subject, verdict_of};
use crate::support::{REQUESTER, points_sum};

/// A date before the time of the fixture's clock, so that exactly one date of a monthly schedule is due.
const DUE_DATE: &str = "2026-11-01";

/// A request with an idempotency key that took effect.
pub(super) struct KeyedRequest {
    provider: ProviderId,
    key: String,
    command: Command,
    response: Vec<u8>,
}

fn wallet_type(wallet: usize) -> WalletType {
    match wallet {
        USER => WalletType::User,
        PEER => WalletType::Peer,
        _ => WalletType::Manager,
    }
}

/// The address with this number. The owner's address in the fixture has the number 0.
fn email_address(number: usize) -> EmailAddress {
    let name = if number == 0 { "owner".to_owned() } else { format!("user-{number}") };
    EmailAddress::parse(&format!("{name}@example.com")).unwrap()
}

fn response_body(done: &Done) -> Vec<u8> {
    format!("{done:?}").into_bytes()
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
        if let Some(command) = self.command_of(transition) {
            return self.execute_with_key(command);
        }
        let fixture = &self.fixture;
        match transition {
            Transition::CreateUser { is_manager, email } => self.create_user(*is_manager, *email),
            Transition::UpdateUser { user, is_manager, email } => {
                let email = email.map(email_address);
                let update = UpdateUser { email, manager: *is_manager, ..UpdateUser::default() };
                let (provider, user) = (fixture.provider, self.users[*user]);
                let result = fixture
                    .store
                    .transaction(|tx| users::update(tx, provider, user, &update, &fixture.context()));
                verdict_of_change(result, |error| matches!(error, users::UpdateUserError::Store(_)))
            }
            Transition::DeleteUser(user) => verdict_of(fixture.delete_user(self.users[*user])),
            Transition::ChangeOwner { email } => {
                let owner_email = Some(email_address(*email));
                let update = UpdateCompany { owner_email, ..UpdateCompany::default() };
                let owner = fixture.update_company(&update).unwrap().company.owner_id;
                if !self.users.contains(&owner) {
                    self.users.push(owner);
                }
                Verdict::Done
            }
            Transition::TransferCompany => {
                let (company, to) = (fixture.company, self.other_provider);
                let transfer = |tx: &mut dyn guerdon_domain::ports::Tx| {
                    transfer_to_provider(tx, company, to, &fixture.context())
                };
                fixture.store.transaction(transfer).unwrap();
                std::mem::swap(&mut self.fixture.provider, &mut self.other_provider);
                Verdict::Done
            }
            Transition::ChangeRate(rate) => {
                fixture.change_rate(PointsPerDollar::new(to_i64(*rate)).unwrap());
                Verdict::Done
            }
            Transition::DistributeToAll { wallet, points } => {
                self.run_schedule(wallet_type(*wallet), to_i64(*points))
            }
            Transition::FinishDistributions => {
                assert!(fixture.finish_distributions().is_empty());
                Verdict::Done
            }
            Transition::SendTogether { receivers, points } => {
                self.send_together(&self.users_at(receivers), to_i64(*points))
            }
            Transition::Retry(number) => self.retry(&self.requests[*number]),
            other => panic!("{other:?} is a request with a key"),
        }
    }

    /// The command of a request with an idempotency key.
    fn command_of(&self, transition: &Transition) -> Option<Command> {
        let company_id = self.fixture.company;
        let change_reserve = |direction, points: &i128| {
            Command::ChangeReserve(ChangeReserve { company_id, direction, sum: points_sum(to_i64(*points)) })
        };
        Some(match transition {
            Transition::Deposit(points) => change_reserve(ReserveDirection::Deposit, points),
            Transition::Withdraw(points) => change_reserve(ReserveDirection::Withdrawal, points),
            Transition::Distribute { wallet, receivers, points } => {
                let recipients = Recipients::Named(self.users_at(receivers));
                let (wallet, sum) = (wallet_type(*wallet), points_sum(to_i64(*points)));
                Command::RunDistribution(RunDistribution {
                    company_id,
                    wallet,
                    sum,
                    recipients,
                    schedule: None,
                })
            }
            Transition::Send { payer, receivers, points } => {
                let sender = match payer {
                    Payer::Company => Sender::Company(company_id),
                    Payer::User(user) => Sender::User(self.users[*user]),
                };
                let receivers = self.users_at(receivers);
                Command::SendRecognition(self.fixture.send_command(sender, &receivers, to_i64(*points)))
            }
            Transition::Redeem { user, points } => {
                Command::Redeem(Redeem { user_id: self.users[*user], sum: points_sum(to_i64(*points)) })
            }
            Transition::Refund(number) => {
                let absent = RedemptionId::from_uuid(uuid::Uuid::from_u128(7));
                Command::Refund(Refund(self.redemptions.get(*number).copied().unwrap_or(absent)))
            }
            Transition::Override { user, wallet, points } => {
                let (user_id, wallet) = (self.users[*user], wallet_type(*wallet));
                Command::OverrideBalance(OverrideBalance {
                    user_id,
                    wallet,
                    sum: points_sum(to_i64(*points)),
                })
            }
            _ => return None,
        })
    }

    fn execute_with_key(&mut self, command: Command) -> Verdict {
        let (provider, key) = (self.fixture.provider, self.operations.to_string());
        match self.submit(provider, &key, &command) {
            Outcome::Done(done) => {
                if let Done::Redeemed(redemption, _) = &done {
                    self.redemptions.push(redemption.id);
                }
                self.requests.push(KeyedRequest { provider, key, command, response: response_body(&done) });
                Verdict::Done
            }
            Outcome::Refused(refusal) => verdict_of(Err::<(), _>(refusal)),
            other => panic!("{other:?}"),
        }
    }

    /// Repeats a request, which must get the first response.
    fn retry(&self, request: &KeyedRequest) -> Verdict {
        match self.submit(request.provider, &request.key, &request.command) {
            Outcome::AlreadyExecuted(record) => assert_eq!(record.body, request.response),
            other => panic!("{:?} took effect again: {other:?}", request.command),
        }
        Verdict::Done
    }

    fn submit(&self, provider: ProviderId, key: &str, command: &Command) -> Outcome {
        let key = IdempotencyKey { scope: provider.as_uuid(), key: key.to_owned() };
        let request = IdempotentRequest { key, request_hash: vec![7; 32], retention: retention() };
        let render = Box::new(|done: &Done| Ok((201, response_body(done))));
        let queue = self.fixture.command_queue();
        queue.submit_and_wait(provider, REQUESTER.clone(), command.clone(), Some(request), render)
    }

    fn create_user(&mut self, is_manager: bool, email: usize) -> Verdict {
        let fixture = &self.fixture;
        let name = SingleLine::parse("Ann").unwrap();
        let mut profile = Profile::with_name(email_address(email), name, None);
        profile.manager = is_manager;
        let created = fixture.store.transaction(|tx| {
            users::create(tx, fixture.provider, fixture.company, &profile, &fixture.context())
        });
        let created = created.map(|user| self.users.push(user.id));
        verdict_of_change(created, |error| matches!(error, users::CreateUserError::Store(_)))
    }

    /// Creates a schedule with one due date, and runs it.
    fn run_schedule(&self, wallet: WalletType, points: i64) -> Verdict {
        let fixture = &self.fixture;
        let (company_id, sum, period) = (fixture.company, points_sum(points), Period::Month);
        let start_on = IsoDate::parse(DUE_DATE).unwrap();
        let schedule = CreateSchedule { company_id, wallet, sum, period, start_on };
        if fixture.store.transaction(|tx| create_schedule(tx, &schedule, &fixture.context())).is_err() {
            return Verdict::Refused;
        }
        let (store, queue) = (fixture.background.as_ref(), fixture.command_queue());
        let processed = run_next_due_date(store, &queue, &mut PausedSchedules::default()).unwrap().unwrap();
        match processed.outcome {
            DateOutcome::Distributed { .. } => Verdict::Done,
            DateOutcome::Refused { .. } => Verdict::Refused,
            other => panic!("{other:?}"),
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

fn to_i64(points: i128) -> i64 {
    i64::try_from(points).unwrap()
}

/// How long the response to a request is stored.
fn retention() -> Duration {
    Duration::from_secs(365 * 86_400)
}

/// The verdict on an operation that is not a command. Panics if the store failed: this is not a refusal.
fn verdict_of_change<T, E: std::fmt::Debug>(
    result: Result<T, E>,
    is_failure: impl FnOnce(&E) -> bool,
) -> Verdict {
    match result {
        Ok(_) => Verdict::Done,
        Err(error) => {
            assert!(!is_failure(&error), "{error:?}");
            Verdict::Refused
        }
    }
}
