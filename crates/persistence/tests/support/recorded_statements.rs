//! Records the statements that repositories send on the connections to one database, from any thread.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use guerdon_persistence::testing::TestDatabase;

/// The recorded statements by database name, for databases that are being recorded.
static RECORDINGS: Mutex<Option<HashMap<String, Vec<String>>>> = Mutex::new(None);

/// Prefixes of statements that open a connection or checkpoint the write-ahead log. They belong to no request and can
/// occur anywhere.
const IGNORED_PREFIXES: [&str; 4] = ["PRAGMA", "SET ", "DO ", "SHOW "];

fn lock_recordings() -> MutexGuard<'static, Option<HashMap<String, Vec<String>>>> {
    RECORDINGS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn record_queries() -> Option<Box<dyn Instrumentation>> {
    let mut database = String::new();
    Some(Box::new(move |event: InstrumentationEvent<'_>| match event {
        InstrumentationEvent::StartEstablishConnection { url, .. } => url.clone_into(&mut database),
        InstrumentationEvent::StartQuery { query, .. } => {
            let mut all = lock_recordings();
            let mut all = all.iter_mut().flatten();
            if let Some((_, heard)) = all.find(|(name, _)| database.contains(name.as_str())) {
                let text = query.to_string();
                let statement = text.split(" -- binds:").next().unwrap_or_default().trim();
                if !IGNORED_PREFIXES.iter().any(|prefix| statement.starts_with(prefix)) {
                    heard.push(statement.to_owned());
                }
            }
        }
        _ => {}
    }))
}

/// Call this before the connections to be recorded are opened.
pub fn start_recording() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_default_instrumentation(record_queries).unwrap());
}

/// Every statement that the database receives while `work` runs, in order.
pub fn record_statements(database: &TestDatabase, work: impl FnOnce()) -> Vec<String> {
    // The path of the file, or the database name on the server.
    let address = database.url.split('?').next().unwrap_or_default();
    let name = address.strip_prefix("sqlite://").or_else(|| address.rsplit('/').next());
    let name = name.unwrap_or_default().to_owned();
    lock_recordings().get_or_insert_default().insert(name.clone(), Vec::new());
    work();
    lock_recordings().as_mut().and_then(|heard| heard.remove(&name)).unwrap_or_default()
}
