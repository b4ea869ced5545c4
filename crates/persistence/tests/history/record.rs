//! A recorded history: the operations of concurrent processes, and their JSON Lines form (docs/history-format.md).

use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};

/// An account, as a position in the list of names.
pub type AccountIndex = usize;

/// What a process requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// Moves points: adds each number to the balance of its account.
    Move { changes: Vec<(AccountIndex, i64)>, key: Option<String> },
    /// Reads one balance.
    Read { account: AccountIndex },
    /// Reads all balances in one snapshot.
    Snapshot,
    /// Claims due events under a lease that does not end during the history.
    Claim,
    /// Counts journal entries. No operation is in progress.
    Count,
}

/// What a process learned from an operation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OperationResult {
    /// The points were moved. The response is equal for every request with the same key.
    Moved(String),
    Balance(i64),
    Balances(Vec<i64>),
    Claimed(Vec<String>),
    Counted(i64),
}

/// How an operation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It took effect.
    Ok(OperationResult),
    /// A rule refused it. It had no effect.
    Refused,
    /// The client disconnected before the operation took effect.
    Cancelled,
    /// It is unknown whether it took effect.
    Unknown,
}

/// A point in the history: its place in the order of all points, and the time since the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    pub index: usize,
    pub time: Duration,
}

/// An operation of a process, from its invocation to its completion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    pub process: usize,
    pub invoked: Moment,
    pub completed: Moment,
    pub request: Request,
    pub end: End,
}

/// The operations of all processes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct History {
    /// The names of the accounts.
    pub accounts: Vec<String>,
    /// The accounts whose balance may be negative.
    pub outside: Vec<AccountIndex>,
    pub operations: Vec<Operation>,
}

impl History {
    /// Writes the history as JSON Lines, in the order of its points.
    pub fn write_to(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let mut lines: Vec<(usize, Value)> = Vec::with_capacity(self.operations.len() * 2);
        for operation in &self.operations {
            let (f, value) = self.request_value(&operation.request);
            let line = |kind: &str, moment: Moment, value: Value| {
                let time = u64::try_from(moment.time.as_nanos()).unwrap_or(u64::MAX);
                let Operation { process, .. } = operation;
                let Moment { index, .. } = moment;
                json!({"process": process, "index": index, "type": kind, "f": f, "value": value, "time": time})
            };
            lines.push((operation.invoked.index, line("invoke", operation.invoked, value.clone())));
            let (kind, value) = match &operation.end {
                End::Ok(result) => ("ok", self.result_value(result, value)),
                End::Refused => ("fail", value),
                End::Cancelled => ("fail", value),
                End::Unknown => ("info", value),
            };
            lines.push((operation.completed.index, line(kind, operation.completed, value)));
        }
        lines.sort_by_key(|(index, _)| *index);
        lines.iter().try_for_each(|(_, line)| writeln!(out, "{line}"))
    }

    fn request_value(&self, request: &Request) -> (&'static str, Value) {
        match request {
            Request::Move { changes, key } => {
                let name = |(account, change): &(AccountIndex, i64)| json!([self.accounts[*account], change]);
                ("move", json!({"changes": changes.iter().map(name).collect::<Vec<_>>(), "key": key}))
            }
            Request::Read { account } => ("read", json!({"account": self.accounts[*account]})),
            Request::Snapshot => ("snapshot", Value::Null),
            Request::Claim => ("claim", Value::Null),
            Request::Count => ("count", Value::Null),
        }
    }

    fn result_value(&self, result: &OperationResult, request: Value) -> Value {
        let with = |name: &str, value: Value| {
            let mut fields = request.as_object().cloned().unwrap_or_default();
            fields.insert(name.to_owned(), value);
            Value::Object(fields)
        };
        match result {
            OperationResult::Moved(response) => with("response", json!(response)),
            OperationResult::Balance(balance) => with("balance", json!(balance)),
            OperationResult::Balances(balances) => {
                let named = self.accounts.iter().cloned().zip(balances.iter().map(|balance| json!(balance)));
                with("balances", Value::Object(named.collect()))
            }
            OperationResult::Claimed(events) => with("events", json!(events)),
            OperationResult::Counted(count) => with("count", json!(count)),
        }
    }
}
