//! The commands during which faults are injected: together they pass every failpoint of a command.

use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::commands::{Command, ContextSources};
use guerdon_domain::companies::UpdateCompany;
use guerdon_domain::distributions::{Recipients, RunDistribution};
use guerdon_domain::events::{Event, EventFacts};
use guerdon_domain::idempotency::{IdempotencyKey, IdempotentRequest};
use guerdon_domain::money::Points;
use guerdon_domain::overrides::OverrideBalance;
use guerdon_domain::ports::{EventBodies, RenderError};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::redemptions::{Redeem, Refund};
use guerdon_domain::reserve::{ChangeReserve, ReserveDirection};
use guerdon_domain::users::DeleteUser;
use guerdon_domain::values::{EmailAddress, RedemptionId, Update, UserId};
use guerdon_domain::wallets::WalletType;
use uuid::Uuid;

use crate::support::{LedgerFixture, TestBodies, points_sum};

/// The number of commands in a full batch of the engine.
pub const FULL_BATCH: usize = 32;
/// The size of a large event. Two of them do not fit into one statement.
const LARGE_BODY_BYTES: usize = 600_000;
/// How long responses are stored.
const RETENTION: Duration = Duration::from_secs(365 * 86_400);

/// The rows that a command adds if it takes effect, in addition to one journal entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Effect {
    pub recognitions: i64,
    pub events: i64,
}

pub struct TestCommand {
    pub key: String,
    pub command: Command,
    /// The number of bytes to add to the body of each event.
    padding: usize,
    /// `None` if a rule refuses the command.
    pub effect: Option<Effect>,
}

impl TestCommand {
    pub fn context_sources(&self, fixture: &LedgerFixture) -> ContextSources {
        ContextSources { bodies: Arc::new(PaddedBodies(self.padding)), ..fixture.context_sources() }
    }

    pub fn idempotent_request(&self, fixture: &LedgerFixture, retention: Duration) -> IdempotentRequest {
        let key = IdempotencyKey { scope: fixture.provider.as_uuid(), key: self.key.clone() };
        IdempotentRequest { key, request_hash: vec![7; 32], retention }
    }
}

/// Renders event bodies with the given number of additional bytes.
struct PaddedBodies(usize);

impl EventBodies for PaddedBodies {
    fn render_event(&self, event: &Event<'_>) -> Result<Vec<u8>, RenderError> {
        let mut body = TestBodies.render_event(event)?;
        if self.0 > 0 {
            body.extend_from_slice(b" without "); // what follows is not part of the facts
            body.resize(body.len() + self.0, b'x');
        }
        Ok(body)
    }

    fn parse_facts(&self, body: &[u8]) -> Option<EventFacts> {
        TestBodies.parse_facts(body)
    }

    fn erase_user(&self, body: &[u8], user: UserId, email: &EmailAddress) -> Result<Vec<u8>, RenderError> {
        TestBodies.erase_user(body, user, email)
    }
}

/// More receivers than a fast worker accepts in one command, so a patient worker executes it.
const MANY: usize = 17;

/// The users of a set of commands, and what a command can change only once.
pub struct Users {
    sender: UserId,
    earner: UserId,
    receivers: [UserId; 3],
    many: [UserId; MANY],
    user_to_delete: UserId,
    redemption_to_refund: RedemptionId,
}

impl Users {
    pub fn create(fixture: &LedgerFixture, tag: &str) -> Self {
        let create = |name: &str| fixture.create_user(&format!("{name}-{tag}"));
        let (sender, earner) = (create("sender"), create("earner"));
        fixture.deposit_points(100_000);
        for (wallet, user) in [(WalletType::Peer, sender), (WalletType::User, earner)] {
            fixture.distribute_points(wallet, 10_000, Recipients::Named(vec![user])).unwrap();
        }
        let receivers = ["first", "second", "third"].map(create);
        let many = std::array::from_fn(|number| create(&format!("one-of-many-{number}")));
        let redemption_to_refund = fixture.redeem_points(earner, 1).unwrap().id;
        let user_to_delete = create("user-to-delete");
        Self { sender, earner, receivers, many, user_to_delete, redemption_to_refund }
    }

    /// The same users, with another one to delete, and with another redemption to refund.
    pub fn with_unchanged_objects(&self, fixture: &LedgerFixture, tag: &str) -> Self {
        let user_to_delete = fixture.create_user(&format!("user-to-delete-{tag}"));
        let redemption_to_refund = fixture.redeem_points(self.earner, 1).unwrap().id;
        Self { user_to_delete, redemption_to_refund, ..*self }
    }

    /// The ids as text, for another process.
    pub fn to_text(&self) -> String {
        let users =
            [&[self.sender, self.earner, self.user_to_delete], &self.receivers[..], &self.many].concat();
        let ids = users.iter().map(ToString::to_string).chain([self.redemption_to_refund.to_string()]);
        ids.collect::<Vec<_>>().join(",")
    }

    pub fn from_text(text: &str) -> Self {
        let ids: Vec<Uuid> = text.split(',').map(|id| Uuid::parse_str(id).unwrap()).collect();
        let (redemption, users) = ids.split_last().unwrap();
        let users: Vec<UserId> = users.iter().copied().map(UserId::from_uuid).collect();
        let [sender, earner, user_to_delete, first, second, third, ref many @ ..] = users[..] else {
            panic!("{text}")
        };
        let (receivers, many) = ([first, second, third], many.try_into().unwrap());
        let redemption_to_refund = RedemptionId::from_uuid(*redemption);
        Self { sender, earner, receivers, many, user_to_delete, redemption_to_refund }
    }
}

/// How many commands are executed together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// Each command is submitted after the previous one has ended.
    OneCommand,
    /// All commands are in one batch.
    FullBatch,
}

impl Size {
    pub const ALL: [Self; 2] = [Self::OneCommand, Self::FullBatch];
}

/// Sets the alert threshold to the current reserve, so that the next debit triggers the alert.
pub fn set_alert(fixture: &LedgerFixture) {
    let alert = Points::new(fixture.reserve_points()).unwrap();
    let command = UpdateCompany { reserve_alert: Update::Set(alert), ..UpdateCompany::default() };
    fixture.update_company(&command).unwrap();
}

/// Which commands a run executes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mix {
    /// One of each kind, for both kinds of workers. The key of the first one has an expired response.
    EachKind,
    /// One of each kind, and one that causes large events.
    WithLargeEvents,
    /// Only commands that a rule refuses.
    Refused,
    /// One of each kind that succeeds, for fast workers: most kinds of statements.
    Few,
}

impl Mix {
    /// Commands that pass a failpoint.
    pub fn for_failpoint(failpoint: &str, size: Size) -> Self {
        match failpoint {
            "postgres.insert.large_events" => Self::WithLargeEvents,
            // A batch is rolled back if all of its commands are refused.
            "sqlite.rollback" | "postgres.rollback" if size == Size::FullBatch => Self::Refused,
            _ => Self::EachKind,
        }
    }
}

/// A command, the number of bytes to add to the body of each event, and the effect.
type PlannedCommand = (Command, usize, Option<Effect>);

fn plan_send(fixture: &LedgerFixture, sender: Sender, to: &[UserId]) -> PlannedCommand {
    let effect = Effect { recognitions: count(to), events: count(to) };
    (Command::SendRecognition(fixture.send_command(sender, to, 1)), 0, Some(effect))
}

fn plan_redemption(users: &Users) -> PlannedCommand {
    let redeem = Redeem { user_id: users.earner, sum: points_sum(1) };
    (Command::Redeem(redeem), 0, Some(Effect { recognitions: 0, events: 1 }))
}

/// The place of the command that a rule refuses in `plan_each_kind`.
const REFUSED: usize = 1;
/// The number of kinds of commands. The commands after these, without the refused one, repeat a kind.
const KINDS: usize = 7;

/// One command of each kind for fast workers, then others of the same kinds. A rule refuses one of them.
fn plan_each_kind(fixture: &LedgerFixture, users: &Users, tag: &str) -> Vec<PlannedCommand> {
    let (company, user) = (Sender::Company(fixture.company), Sender::User(users.sender));
    let [first, second, third] = users.receivers;
    let withdrawal = ChangeReserve {
        company_id: fixture.company,
        direction: ReserveDirection::Withdrawal,
        sum: points_sum(1),
    };
    // A balance that no earlier run on this database has set.
    let number: i64 = tag.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap();
    let override_of_balance =
        OverrideBalance { user_id: users.many[0], wallet: WalletType::Peer, sum: points_sum(number + 1) };
    let distribution = RunDistribution {
        company_id: fixture.company,
        wallet: WalletType::Peer,
        sum: points_sum(1),
        recipients: Recipients::Named(vec![first, second]),
        schedule: None,
    };
    let without_event = |command| (command, 0, Some(Effect { recognitions: 0, events: 0 }));
    vec![
        plan_send(fixture, company, &[first]),
        (Command::SendRecognition(fixture.send_command(user, &[first], 200_000)), 0, None),
        without_event(Command::ChangeReserve(withdrawal)),
        without_event(Command::DeleteUser(DeleteUser(users.user_to_delete))),
        without_event(Command::Refund(Refund(users.redemption_to_refund))),
        without_event(Command::OverrideBalance(override_of_balance)),
        without_event(Command::RunDistribution(distribution)),
        plan_redemption(users),
        plan_send(fixture, company, &[first, second, third]),
        plan_send(fixture, user, &[second]),
    ]
}

/// The commands of a run.
pub fn list_commands(
    fixture: &LedgerFixture,
    users: &Users,
    tag: &str,
    size: Size,
    mix: Mix,
) -> Vec<TestCommand> {
    let (company, user) = (Sender::Company(fixture.company), Sender::User(users.sender));
    let [first, second, third] = users.receivers;
    let mut kinds = plan_each_kind(fixture, users, tag);
    match mix {
        Mix::EachKind => {
            // One command at a time, the fault occurs in the first one.
            let position = if size == Size::OneCommand { 0 } else { kinds.len() };
            kinds.insert(position, plan_send(fixture, company, &users.many));
        }
        Mix::WithLargeEvents => {
            let (command, _, effect) = plan_send(fixture, company, &[first, third]);
            kinds.push((command, LARGE_BODY_BYTES, effect));
        }
        Mix::Refused => {
            let refused = kinds.swap_remove(REFUSED);
            kinds = vec![refused; FULL_BATCH];
        }
        Mix::Few => {
            kinds.remove(REFUSED);
            kinds.truncate(KINDS);
        }
    }
    if size == Size::FullBatch {
        let common = [
            plan_send(fixture, company, &[third, second]),
            plan_send(fixture, user, &[third]),
            plan_redemption(users),
        ];
        kinds.extend(common.into_iter().cycle().take(FULL_BATCH - kinds.len()));
    }
    let with_key = |(number, (command, padding, effect))| TestCommand {
        key: format!("{tag}-{number}"),
        command,
        padding,
        effect,
    };
    (0..).zip(kinds).map(with_key).collect()
}

fn count(users: &[UserId]) -> i64 {
    i64::try_from(users.len()).unwrap()
}

/// How long the response to a command is stored.
pub const fn retention() -> Duration {
    RETENTION
}
