//! The statements that repositories send, overheard on their own connections.

use std::cell::RefCell;
use std::sync::Once;

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};

thread_local! {
    static OVERHEARD: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

fn overhear() -> Option<Box<dyn Instrumentation>> {
    Some(Box::new(|event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            let text = query.to_string();
            let statement = text.split(" -- binds:").next().unwrap_or_default().trim().to_owned();
            OVERHEARD.with_borrow_mut(|it| it.as_mut().map(|it| it.push(statement)));
        }
    }))
}

/// Must be called before the connections are made that are to be overheard.
pub fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| set_default_instrumentation(overhear).unwrap());
}

/// Every statement that `work` sends on this thread, in order.
pub fn statements(work: impl FnOnce()) -> Vec<String> {
    OVERHEARD.set(Some(Vec::new()));
    work();
    OVERHEARD.take().unwrap_or_default()
}
