//! The commands during which faults are injected: together they pass every failpoint of a command.

use std::sync::Arc;
use std::time::Duration;

use guerdon_domain::commands::{Command, ContextSources};
use guerdon_domain::companies::UpdateCompany;
use guerdon_domain::distributions::Recipients;
use guerdon_domain::events::{Event, EventFacts};
use guerdon_domain::idempotency::{IdempotencyKey, IdempotentRequest};
use guerdon_domain::money::{Points, Sum};
use guerdon_domain::ports::{EventBodies, RenderError};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::redemptions::Redeem;
use guerdon_domain::reserve::{ChangeReserve, ReserveDirection};
use guerdon_domain::users::DeleteUser;
use guerdon_domain::values::{EmailAddress, Update, UserId};
use guerdon_domain::wallets::WalletType;

use crate::support::{LedgerFixture, TestBodies};

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

/// The users of a set of commands.
pub struct Users {
    sender: UserId,
    earner: UserId,
    receivers: [UserId; 3],
    many: [UserId; MANY],
    /// The user that is deleted.
    pub user_to_delete: UserId,
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
        Self { sender, earner, receivers, many, user_to_delete: create("user-to-delete") }
    }

    /// The same users, with another one to delete.
    pub fn with_new_user_to_delete(&self, fixture: &LedgerFixture, tag: &str) -> Self {
        Self { user_to_delete: fixture.create_user(&format!("user-to-delete-{tag}")), ..*self }
    }

    /// The ids as text, for another process.
    pub fn to_text(&self) -> String {
        let ids = [&[self.sender, self.earner, self.user_to_delete], &self.receivers[..], &self.many[..]];
        ids.concat().iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }

    pub fn from_text(text: &str) -> Self {
        let ids: Vec<UserId> = text.split(',').map(|id| id.parse().unwrap()).collect();
        let [sender, earner, user_to_delete, first, second, third, ref many @ ..] = ids[..] else {
            panic!("{text}")
        };
        let many = many.try_into().unwrap();
        Self { sender, earner, receivers: [first, second, third], many, user_to_delete }
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
    /// A recognition, the deletion of a user, a redemption: most kinds of statements.
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

/// The commands of a run.
pub fn list_commands(
    fixture: &LedgerFixture,
    users: &Users,
    tag: &str,
    size: Size,
    mix: Mix,
) -> Vec<TestCommand> {
    let company = Sender::Company(fixture.company);
    let [first, second, third] = users.receivers;
    let send = |sender, to: &[UserId]| {
        let effect = Effect { recognitions: count(to), events: count(to) };
        (Command::SendRecognition(fixture.send_command(sender, to, 1)), 0, Some(effect))
    };
    let one_point = Sum::Points(Points::new(1).unwrap());
    let withdrawal = ChangeReserve {
        company_id: fixture.company,
        direction: ReserveDirection::Withdrawal,
        sum: one_point,
    };
    let no_event = Some(Effect { recognitions: 0, events: 0 });
    let too_much = fixture.send_command(Sender::User(users.sender), &[first], 200_000);
    let redemption = (
        Command::Redeem(Redeem { user_id: users.earner, sum: one_point }),
        0,
        Some(Effect { recognitions: 0, events: 1 }),
    );
    let mut kinds = vec![
        send(company, &[first]),
        (Command::SendRecognition(too_much), 0, None),
        (Command::ChangeReserve(withdrawal), 0, no_event),
        (Command::DeleteUser(DeleteUser(users.user_to_delete)), 0, no_event),
        send(company, &[first, second, third]),
        redemption.clone(),
        send(Sender::User(users.sender), &[second]),
    ];
    if mix == Mix::Few {
        kinds = [0, 3, 5].map(|kind: usize| kinds[kind].clone()).to_vec();
    }
    if mix == Mix::Refused {
        let refused = kinds.swap_remove(1);
        kinds = vec![refused; FULL_BATCH];
    }
    if mix == Mix::EachKind {
        // One command at a time, the fault occurs in the first one.
        let position = if size == Size::OneCommand { 0 } else { kinds.len() };
        kinds.insert(position, send(company, &users.many));
    }
    if mix == Mix::WithLargeEvents {
        let (command, _, effect) = send(company, &[first, third]);
        kinds.push((command, LARGE_BODY_BYTES, effect));
    }
    if size == Size::FullBatch {
        let common =
            [send(company, &[third, second]), send(Sender::User(users.sender), &[third]), redemption];
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
