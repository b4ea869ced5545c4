//! Commands that wait at the same time are executed as one batch. Each has its own outcome, and the failure of one
//! does not affect the others.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::mpsc::{Sender as OutcomeSender, channel};
use std::time::Duration;

use guerdon_domain::commands::{Command, Done, Outcome, OutcomeReceiver, Refusal, Submission};
use guerdon_domain::idempotency::{IdempotencyKey, IdempotentRequest};
use guerdon_domain::ports::StoreError;
use guerdon_domain::recognitions::{SendError, SendFault, Sender};
use guerdon_domain::values::UserId;
use guerdon_domain::wallets::WalletType;
use guerdon_test_support::Random;

use crate::support::{LedgerFixture, REQUESTER, on_each_database, run_concurrently, with_each_write_form};

/// More commands than fit into one batch.
const CLIENTS: usize = 48;

/// The outcome of a command as one word.
fn outcome_word<T>(sent: &Result<T, SendError>) -> &'static str {
    match sent {
        Ok(_) => "sent",
        Err(SendError::InsufficientFunds) => "short",
        Err(SendError::Faults(faults)) if matches!(faults[..], [SendFault::ReceiverDeleted(_)]) => "deleted",
        Err(SendError::Receiver(..) | SendError::Denied(_)) => "unknown",
        Err(SendError::Faults(_)) => "faulty",
        Err(SendError::Store(_)) => "store",
    }
}

/// Every client sends one point concurrently. Returns how often each outcome occurred.
fn count_outcomes(
    fixture: &LedgerFixture,
    from: Sender,
    to: impl Fn(usize) -> UserId + Sync,
) -> Vec<(&'static str, usize)> {
    let ends = Mutex::new(Vec::new());
    run_concurrently(CLIENTS, |client| {
        let sent = fixture.send_recognition(from, &[to(client)], 1);
        ends.lock().unwrap().push(outcome_word(&sent));
    });
    let ends = ends.into_inner().unwrap();
    let mut words = ends.clone();
    words.sort_unstable();
    words.dedup();
    words.into_iter().map(|word| (word, ends.iter().filter(|end| **end == word).count())).collect()
}

#[test]
fn a_reserve_pays_as_many_as_it_can_and_refuses_the_rest() {
    with_each_write_form(|fixture| {
        let users: Vec<UserId> = (0..4).map(|number| fixture.create_user(&format!("u{number}"))).collect();
        fixture.deposit_points(30);
        let ends = count_outcomes(fixture, Sender::Company(fixture.company), |client| users[client % 4]);
        assert_eq!(ends, [("sent", 30), ("short", CLIENTS - 30)]);
        assert_eq!(fixture.reserve_points(), 0);
        let received: i64 =
            users.iter().map(|user| fixture.wallet_points(WalletType::User, *user).unwrap().0).sum();
        assert_eq!(received, 30);
    });
}

#[test]
fn a_refused_command_does_not_fail_others_in_its_batch() {
    with_each_write_form(|fixture| {
        let (receiver, deleted) = (fixture.create_user("there"), fixture.create_user("gone"));
        fixture.delete_user(deleted).unwrap();
        fixture.deposit_points(100);
        let unknown = UserId::from_uuid(uuid::Uuid::from_u128(7));
        let ends = count_outcomes(fixture, Sender::Company(fixture.company), |client| {
            [receiver, deleted, receiver, unknown][client % 4]
        });
        assert_eq!(ends, [("deleted", CLIENTS / 4), ("sent", CLIENTS / 2), ("unknown", CLIENTS / 4)]);
        assert_eq!(fixture.wallet_points(WalletType::User, receiver), Some((24, 0)));
        assert_eq!(fixture.reserve_points(), 76);
    });
}

#[test]
fn credits_and_debits_of_one_wallet_in_a_batch_add_up() {
    on_each_database(|fixture| {
        let users: Vec<UserId> = (0..6)
            .map(|number| {
                let user = fixture.create_user(&format!("u{number}"));
                fixture.fund_wallet(WalletType::Peer, user, 20);
                user
            })
            .collect();
        run_concurrently(CLIENTS, |client| {
            let (from, to) = (users[client % 6], users[(client + 1) % 6]);
            fixture.send_recognition(Sender::User(from), &[to], 1).unwrap();
        });
        for user in users {
            assert_eq!(fixture.wallet_points(WalletType::Peer, user), Some((12, 8)));
            assert_eq!(fixture.wallet_points(WalletType::User, user), Some((8, 0)));
        }
    });
}

/// Adds a trigger that rejects recognitions of one receiver.
fn reject_receiver(fixture: &LedgerFixture, receiver: UserId, how: &str) {
    fixture.database.execute_sql(
        &format!(
            "CREATE TRIGGER forbid BEFORE INSERT ON recognitions \
             WHEN new.receiver_id = X'{}' BEGIN SELECT RAISE(ABORT, 'no'); END",
            receiver.as_uuid().simple()
        ),
        &format!(
            "CREATE FUNCTION forbid() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             IF new.receiver_id = '{receiver}' THEN {how}; END IF; RETURN new; END $$; \
             CREATE TRIGGER forbid BEFORE INSERT ON recognitions FOR EACH ROW EXECUTE FUNCTION forbid()"
        ),
    );
}

fn accept_all_receivers(fixture: &LedgerFixture) {
    fixture
        .database
        .execute_sql("DROP TRIGGER forbid", "DROP TRIGGER forbid ON recognitions; DROP FUNCTION forbid");
}

#[test]
fn a_command_that_cannot_be_written_fails_alone() {
    on_each_database(|fixture| {
        let (receiver, poison) = (fixture.create_user("there"), fixture.create_user("poison"));
        fixture.deposit_points(100);
        reject_receiver(fixture, poison, "RAISE 'no'");
        let to = |client: usize| if client % 8 == 5 { poison } else { receiver };
        let ends = count_outcomes(fixture, Sender::Company(fixture.company), to);
        assert_eq!(ends, [("sent", CLIENTS - CLIENTS / 8), ("store", CLIENTS / 8)]);
        assert_eq!(fixture.wallet_points(WalletType::User, receiver), Some((42, 0)));
        assert_eq!(fixture.reserve_points(), 58);
        accept_all_receivers(fixture);
        fixture.send_recognition(Sender::Company(fixture.company), &[poison], 1).unwrap();
    });
}

/// The number of the account's next entry already exists, as after a change of the database by hand.
#[test]
fn commands_on_a_damaged_account_fail_alone_and_name_the_constraint() {
    on_each_database(|fixture| {
        let [damaged, sound, receiver] = ["damaged", "sound", "receiver"].map(|name| {
            let user = fixture.create_user(name);
            fixture.fund_wallet(WalletType::Peer, user, 100);
            user
        });
        fixture.send_recognition(Sender::User(damaged), &[receiver], 1).unwrap();
        let set_entry_count = |change: &str| {
            let update = format!(
                "UPDATE accounts SET entry_count = entry_count {change} WHERE kind = 2 AND owner_id ="
            );
            fixture.database.execute_sql(
                &format!("{update} X'{}'", damaged.as_uuid().simple()),
                &format!("{update} '{damaged}'"),
            );
        };
        set_entry_count("- 1");
        let failures = Mutex::new(Vec::new());
        run_concurrently(CLIENTS, |client| {
            let from = if client % 8 == 5 { damaged } else { sound };
            if let Err(failure) = fixture.send_recognition(Sender::User(from), &[receiver], 1) {
                failures.lock().unwrap().push((from == damaged, failure));
            }
        });
        let failures = failures.into_inner().unwrap();
        assert_eq!(failures.len(), CLIENTS / 8, "{failures:?}");
        for (is_damaged, failure) in failures {
            assert!(is_damaged, "{failure}");
            let SendError::Store(StoreError::Broken(text)) = failure else { panic!("{failure:?}") };
            assert!(text.contains("transfers"), "{text}");
        }
        let many: Vec<UserId> = (0..20).map(|number| fixture.create_user(&format!("u{number}"))).collect();
        let large = fixture.send_recognition(Sender::User(damaged), &many, 1);
        assert!(matches!(large, Err(SendError::Store(StoreError::Broken(_)))), "{large:?}");
        set_entry_count("+ 1");
    });
}

/// Other commands fail only if no connection can be opened within a second, as on a busy machine.
#[test]
fn a_connection_lost_before_the_commit_loses_and_duplicates_nothing() {
    on_each_database(|fixture| {
        let (receiver, poison) = (fixture.create_user("there"), fixture.create_user("poison"));
        fixture.deposit_points(100);
        reject_receiver(fixture, poison, "PERFORM pg_terminate_backend(pg_backend_pid())");
        let to = |client: usize| if client % 8 == 5 { poison } else { receiver };
        let ends: HashMap<_, _> =
            count_outcomes(fixture, Sender::Company(fixture.company), to).into_iter().collect();
        let (sent, refused) = (ends["sent"], ends["store"]);
        assert!(sent + refused == CLIENTS && refused >= CLIENTS / 8, "{ends:?}");
        let sent = i64::try_from(sent).unwrap();
        assert_eq!(fixture.wallet_points(WalletType::User, receiver), Some((sent, 0)));
        assert_eq!(fixture.reserve_points(), 100 - sent);
        accept_all_receivers(fixture);
        fixture.send_recognition(Sender::Company(fixture.company), &[poison], 1).unwrap();
    });
}

#[test]
fn a_statement_that_the_operator_cancels_is_unavailable_and_writes_nothing() {
    on_each_database(|fixture| {
        let user = fixture.create_user("user");
        fixture.deposit_points(100);
        reject_receiver(fixture, user, "PERFORM pg_cancel_backend(pg_backend_pid())");
        let refused = fixture.send_recognition(Sender::Company(fixture.company), &[user], 1).unwrap_err();
        let SendError::Store(cause) = refused else { panic!("{refused:?}") };
        assert_eq!(matches!(cause, StoreError::Unavailable(_)), !fixture.database.is_embedded(), "{cause:?}");
        accept_all_receivers(fixture);
        assert_eq!(fixture.reserve_points(), 100);
        fixture.send_recognition(Sender::Company(fixture.company), &[user], 1).unwrap();
        assert_eq!(fixture.reserve_points(), 99);
    });
}

#[test]
fn a_command_that_panics_affects_no_other() {
    on_each_database(|fixture| {
        let (receiver, other) = (fixture.create_user("there"), fixture.create_user("other"));
        fixture.deposit_points(100);
        run_concurrently(CLIENTS, |client| {
            if client % 8 != 5 {
                fixture.send_recognition(Sender::Company(fixture.company), &[receiver], 1).unwrap();
                return;
            }
            let command =
                Command::SendRecognition(fixture.send_command(Sender::Company(fixture.company), &[other], 1));
            let render = Box::new(|_: &Done| panic!("in its turn"));
            let refused = fixture.command_queue().submit_and_wait(
                fixture.provider,
                REQUESTER.clone(),
                command,
                None,
                render,
            );
            let message = "a command panicked: in its turn";
            let Outcome::Refused(Refusal::Store(StoreError::Broken(cause))) = refused else {
                panic!("{refused:?}")
            };
            assert_eq!(cause, message);
        });
        assert_eq!(fixture.wallet_points(WalletType::User, receiver), Some((42, 0)));
        fixture.send_recognition(Sender::Company(fixture.company), &[other], 1).unwrap();
        assert_eq!(fixture.reserve_points(), 57);
    });
}

/// Reports the command's number with its outcome.
struct NumberedOutcome {
    number: usize,
    points: i64,
    outcome_sender: OutcomeSender<(usize, String)>,
}

impl OutcomeReceiver for NumberedOutcome {
    fn render_response(&mut self, done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
        let Done::Sent(sent) = done else { return Err(StoreError::Broken("not a recognition".to_owned())) };
        self.points = sent.iter().map(|recognition| recognition.points.get()).sum();
        Ok((201, self.points.to_string().into_bytes()))
    }

    fn confirm_execution(&self) -> bool {
        true
    }

    fn receive_outcome(self: Box<Self>, outcome: Outcome) {
        let text = match outcome {
            Outcome::Done(_) => format!("sent {}", self.points),
            Outcome::AlreadyExecuted(record) => format!("repeated {}", String::from_utf8_lossy(&record.body)),
            Outcome::Refused(Refusal::Send(refusal)) => outcome_word::<()>(&Err(refusal)).to_owned(),
            other => format!("{other:?}"),
        };
        self.outcome_sender.send((self.number, text)).unwrap();
    }
}

/// Submits a recognition from the reserve under a key.
fn submit_keyed(
    fixture: &LedgerFixture,
    to: &[UserId],
    points: i64,
    key: Option<usize>,
    outcome: NumberedOutcome,
) {
    let recognition = fixture.send_command(Sender::Company(fixture.company), to, points);
    fixture.commands.submit_command(Submission {
        command: Command::SendRecognition(recognition),
        provider: fixture.provider,
        requester: REQUESTER.clone(),
        context_sources: fixture.context_sources(),
        idempotent_request: key.map(|key| IdempotentRequest {
            key: IdempotencyKey { scope: fixture.provider.as_uuid(), key: key.to_string() },
            request_hash: vec![7; 32],
            retention: Duration::from_secs(3_600),
        }),
        outcome_receiver: Box::new(outcome),
    });
}

/// Concurrent commands pay from one reserve. They fill many batches and need more than the reserve covers, and
/// refusals, faults and retries are among them. Their outcomes are the same as when they are executed one after
/// the other.
#[test]
fn ten_thousand_concurrent_commands_end_as_if_executed_serially() {
    const COMMANDS: usize = 10_000;
    const AT_ONCE: usize = 256;
    on_each_database(|fixture| {
        let users: Vec<UserId> = (0..5).map(|number| fixture.create_user(&format!("u{number}"))).collect();
        let mut reserve = 30_000;
        fixture.deposit_points(reserve);
        let (outcome_sender, outcomes) = channel();
        let (mut expected, mut kept) = (Vec::new(), HashMap::new());
        let mut ended: Vec<(usize, String)> = Vec::new();
        let mut random = Random(1);
        for number in 0..COMMANDS {
            let points = i64::try_from(random.number_below(6)).unwrap();
            let to = &users[..1 + random.index_below(users.len())];
            let price = points * i64::try_from(to.len()).unwrap();
            let key = Some(random.index_below(5_000)).filter(|key| *key < 500);
            let repeated = key.and_then(|key| kept.get(&key)).map(|price| format!("repeated {price}"));
            expected.push(repeated.unwrap_or_else(|| {
                if points == 0 {
                    return "faulty".to_owned();
                }
                if price > reserve {
                    return "short".to_owned();
                }
                reserve -= price;
                kept.extend(key.map(|key| (key, price)));
                format!("sent {price}")
            }));
            let outcome_sender = outcome_sender.clone();
            let outcome = NumberedOutcome { number, points: 0, outcome_sender };
            submit_keyed(fixture, to, points, key, outcome);
            while number + 1 - ended.len() >= AT_ONCE {
                ended.push(outcomes.recv().unwrap());
            }
        }
        drop(outcome_sender);
        ended.extend(outcomes);
        ended.sort_unstable();
        for ((number, outcome), expected) in ended.iter().zip(&expected) {
            assert_eq!(outcome, expected, "command {number}");
        }
        assert_eq!(ended.len(), COMMANDS);
        assert_eq!(fixture.reserve_points(), reserve);
        assert!(
            reserve < 25 && expected.iter().any(|end| end == "short"),
            "the reserve must run out: {reserve}"
        );
        assert!(expected.iter().filter(|end| end.starts_with("repeated")).count() > 100);
    });
}
