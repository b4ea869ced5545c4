//! Executes commands while a fault is injected, and checks the database afterwards.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use guerdon_domain::commands::{Command, Done, Outcome, OutcomeReceiver, Refusal, Submission};
use guerdon_domain::money::{Points, Sum};
use guerdon_domain::ports::StoreError;
use guerdon_domain::reserve::{ChangeReserve, ReserveDirection};

use super::test_command::{Effect, Mix, Size, TestCommand, Users, list_commands, retention, set_alert};
use crate::support::{LedgerFixture, REQUESTER};

/// A command ends long before this, by its own deadline.
const OUTCOME_TIMEOUT: Duration = Duration::from_secs(30);

/// The numbers of rows that commands add.
const COUNTED: [&str; 5] = ["journal_entries", "recognitions", "events", "deliveries", "notifications"];

/// Renders the response to a command, and sends the outcome with the command's index.
struct IndexedReceiver {
    index: usize,
    outcomes: Sender<(usize, Outcome)>,
}

fn response_body(done: &Done) -> Vec<u8> {
    format!("{done:?}").into_bytes()
}

impl OutcomeReceiver for IndexedReceiver {
    fn render_response(&mut self, done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
        Ok((201, response_body(done)))
    }

    fn confirm_execution(&self) -> bool {
        true
    }

    fn receive_outcome(self: Box<Self>, outcome: Outcome) {
        self.outcomes.send((self.index, outcome)).unwrap_or_default();
    }
}

/// Keeps a worker busy from the end of its command until the gate opens.
struct Gate {
    entered: Sender<()>,
    opened: Receiver<()>,
}

impl OutcomeReceiver for Gate {
    fn render_response(&mut self, _done: &Done) -> Result<(u16, Vec<u8>), StoreError> {
        Ok((201, Vec::new()))
    }

    fn confirm_execution(&self) -> bool {
        true
    }

    fn receive_outcome(self: Box<Self>, _outcome: Outcome) {
        self.entered.send(()).unwrap();
        self.opened.recv().unwrap_err(); // the sender is dropped
    }
}

/// The commands of a run, and the database before it.
pub struct Run<'f> {
    fixture: &'f LedgerFixture,
    size: Size,
    pub commands: Vec<TestCommand>,
    before: Vec<i64>,
}

/// The bodies of the responses that clients have received, by the keys of the requests.
pub type Acknowledged = BTreeMap<String, String>;

impl<'f> Run<'f> {
    /// Prepares a run. The tag distinguishes its keys from those of other runs.
    pub fn prepare(fixture: &'f LedgerFixture, users: &Users, tag: &str, size: Size, mix: Mix) -> Self {
        let commands = list_commands(fixture, users, tag, size, mix);
        if mix != Mix::Refused {
            expire_first_key(fixture, &commands);
        }
        set_alert(fixture);
        let before = fixture.database.count_each(&COUNTED);
        Self { fixture, size, commands, before }
    }

    /// The run that another process has prepared.
    pub fn resume(
        fixture: &'f LedgerFixture,
        users: &Users,
        (tag, size, mix): (&str, Size, Mix),
        before: &str,
    ) -> Self {
        let commands = list_commands(fixture, users, tag, size, mix);
        let before = before.split(',').map(|count| count.parse().unwrap()).collect();
        Self { fixture, size, commands, before }
    }

    /// The numbers of rows before the run, for another process.
    pub fn rows_before(&self) -> String {
        self.before.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
    }

    /// Executes the commands. Calls `start_fault` before the first one, and `acknowledge` with the key and the
    /// response of each command that succeeds.
    pub fn execute(&self, start_fault: &dyn Fn(), acknowledge: &mut dyn FnMut(&str, &str)) {
        let (sender, outcomes) = channel();
        let mut end = |(index, outcome): (usize, Outcome)| {
            let command: &TestCommand = &self.commands[index];
            match outcome {
                Outcome::Done(done) => {
                    let body = String::from_utf8(response_body(&done)).unwrap();
                    acknowledge(&command.key, &body);
                }
                Outcome::AlreadyExecuted(record) => {
                    acknowledge(&command.key, &String::from_utf8(record.body).unwrap());
                }
                Outcome::Refused(refusal) => assert_refusal(command, refusal),
                // A session whose connection was lost holds the key until the server ends the session.
                Outcome::KeyInUse => {}
                Outcome::KeyMisused => panic!("{}: {outcome:?}", command.key),
            }
        };
        match self.size {
            Size::OneCommand => {
                start_fault();
                for (index, command) in self.commands.iter().enumerate() {
                    let (sender, outcome) = channel();
                    self.submit(command, index, &sender);
                    drop(sender);
                    receive_all(&outcome).into_iter().for_each(&mut end);
                }
            }
            Size::FullBatch => {
                let gate = self.occupy_workers();
                start_fault();
                for (index, command) in self.commands.iter().enumerate() {
                    self.submit(command, index, &sender);
                }
                drop((gate, sender));
                receive_all(&outcomes).into_iter().for_each(&mut end);
            }
        }
    }

    fn submit(&self, command: &TestCommand, index: usize, outcomes: &Sender<(usize, Outcome)>) {
        self.fixture.commands.submit_command(Submission {
            command: command.command.clone(),
            provider: self.fixture.provider,
            requester: REQUESTER.clone(),
            context_sources: command.context_sources(self.fixture),
            idempotent_request: Some(command.idempotent_request(self.fixture, retention())),
            outcome_receiver: Box::new(IndexedReceiver { index, outcomes: outcomes.clone() }),
        });
    }

    /// Occupies all fast workers until the result is dropped, so that the commands that are submitted until
    /// then form one batch.
    fn occupy_workers(&self) -> Vec<Sender<()>> {
        let workers = if self.fixture.database.is_embedded() { 1 } else { 2 };
        let occupy = |_| {
            let (entered, has_entered) = channel();
            let (gate, opened) = channel();
            let nothing = Sum::Points(Points::ZERO);
            let (company_id, direction) = (self.fixture.company, ReserveDirection::Withdrawal);
            self.fixture.commands.submit_command(Submission {
                command: Command::ChangeReserve(ChangeReserve { company_id, direction, sum: nothing }),
                provider: self.fixture.provider,
                requester: REQUESTER.clone(),
                context_sources: self.fixture.context_sources(),
                idempotent_request: None,
                outcome_receiver: Box::new(Gate { entered, opened }),
            });
            has_entered.recv_timeout(OUTCOME_TIMEOUT).unwrap();
            gate
        };
        (0..workers).map(occupy).collect()
    }

    /// Retries a command until no lost session holds its key any longer.
    fn retry(&self, command: &TestCommand, index: usize) -> Option<Outcome> {
        let started = Instant::now();
        loop {
            let (sender, outcome) = channel();
            self.submit(command, index, &sender);
            drop(sender);
            match receive_all(&outcome).pop() {
                Some((_, Outcome::KeyInUse)) if started.elapsed() < OUTCOME_TIMEOUT => {}
                received => return received.map(|(_, outcome)| outcome),
            }
        }
    }

    /// Retries every command and checks that each took effect exactly once, and that the ledger is consistent.
    pub fn retry_and_check(&self, acknowledged: &Acknowledged) {
        for (index, command) in self.commands.iter().enumerate() {
            let received = acknowledged.get(&command.key);
            match self.retry(command, index) {
                Some(Outcome::AlreadyExecuted(record)) => {
                    let stored = String::from_utf8(record.body).unwrap();
                    assert!(received.is_none_or(|body| *body == stored), "{}: other response", command.key);
                }
                Some(Outcome::Done(_)) => {
                    assert_eq!(received, None, "{}: an acknowledged command was lost", command.key);
                }
                Some(Outcome::Refused(refusal)) if command.effect.is_none() => {
                    assert_refusal(command, refusal);
                }
                other => panic!("{}: {other:?}", command.key),
            }
        }
        let after = self.fixture.database.count_each(&COUNTED);
        let added: Vec<i64> = after.iter().zip(&self.before).map(|(after, before)| after - before).collect();
        let effects: Vec<Effect> = self.commands.iter().filter_map(|command| command.effect).collect();
        let events = effects.iter().map(|effect| effect.events).sum();
        let expected = [
            i64::try_from(effects.len()).unwrap(),
            effects.iter().map(|effect| effect.recognitions).sum(),
            events,
            events,
            i64::from(!effects.is_empty()), // the alert of the reserve
        ];
        assert_eq!(added, expected, "rows added to {COUNTED:?}");
        assert_eq!(self.fixture.audit_ledger(), []);
    }
}

/// Receives outcomes until all receivers are dropped.
fn receive_all(outcomes: &Receiver<(usize, Outcome)>) -> Vec<(usize, Outcome)> {
    use std::sync::mpsc::RecvTimeoutError;
    let mut all = Vec::new();
    loop {
        match outcomes.recv_timeout(OUTCOME_TIMEOUT) {
            Ok(outcome) => all.push(outcome),
            Err(RecvTimeoutError::Disconnected) => return all,
            Err(RecvTimeoutError::Timeout) => panic!("a command did not end"),
        }
    }
}

/// Fails unless the refusal is expected: a failure of the store, or the rule that the command violates.
fn assert_refusal(command: &TestCommand, refusal: Refusal) {
    if let Err(refusal) = refusal.into_failure() {
        assert_eq!(command.effect, None, "{}: {refusal}", command.key);
    }
}

/// Uses the key of the first command for a response that expires before the run.
fn expire_first_key(fixture: &LedgerFixture, commands: &[TestCommand]) {
    let first = commands.first().unwrap();
    let render = Box::new(|_: &Done| Ok((201, b"expired".to_vec())));
    let outcome = fixture.command_queue().submit_and_wait(
        fixture.provider,
        REQUESTER.clone(),
        first.command.clone(),
        Some(first.idempotent_request(fixture, Duration::from_secs(1))),
        render,
    );
    assert!(matches!(outcome, Outcome::Done(_)), "{outcome:?}");
    let later = fixture.context().clock.now() + Duration::from_secs(2);
    fixture.clock.set_time(later);
}
