//! A thread that runs the postings of all requests, one after the other: no request's thread waits for the writer, or
//! hands it on. Whatever waits while one batch is committed is the next.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use guerdon_domain::ports::{Posting, PostingEnd, Reads, Store, StoreError, Tx, Verdict};

use super::group_commit::{GroupCommit, Waiting};
use super::writer::BATCH;
use crate::postings::WAITING_MAX;

#[derive(Default)]
struct Queue {
    waiting: Mutex<(VecDeque<Waiting>, bool)>,
    come: Condvar,
}

/// The store for requests, and the thread that runs their postings. Dropped, it ends with what waits.
pub(super) struct Postings {
    store: Arc<GroupCommit>,
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, (VecDeque<Waiting>, bool)> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner) // nothing that can panic is done under it
    }

    /// Takes those that come first, and waits for one; none where there will be no more.
    fn take(&self) -> Option<Vec<Waiting>> {
        let mut queue = self.lock();
        loop {
            let (waiting, is_closed) = &mut *queue;
            if !waiting.is_empty() {
                let many = waiting.len().min(BATCH);
                return Some(waiting.drain(..many).collect());
            }
            if *is_closed {
                return None;
            }
            queue = self.come.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Postings {
    pub(super) fn begin(store: Arc<GroupCommit>) -> std::io::Result<Self> {
        let queue = Arc::<Queue>::default();
        let (its, runs) = (Arc::clone(&queue), Arc::clone(&store));
        let work = move || {
            while let Some(waiting) = its.take() {
                // Of those that a panic takes along nobody is told anything: their end is not known.
                if catch_unwind(AssertUnwindSafe(|| runs.run_together(waiting))).is_err() {
                    log::error!("a batch of postings broke off");
                }
            }
        };
        let thread = Builder::new().name("postings".to_owned()).spawn(work)?;
        Ok(Self { store, queue, thread: Some(thread) })
    }
}

impl Store for Postings {
    fn run(&self, work: &mut dyn FnMut(&mut dyn Tx) -> Verdict) -> Result<(), StoreError> {
        self.store.run(work)
    }

    fn take_over(&self, posting: Posting) -> Option<Posting> {
        let terms = self.store.terms();
        let mut queue = self.queue.lock();
        if queue.0.len() >= WAITING_MAX {
            drop(queue);
            (posting.told)(PostingEnd::Ended(Err(StoreError::Contended)));
            return None;
        }
        queue.0.push_back(Waiting { posting, terms });
        self.queue.come.notify_one();
        None
    }

    fn check_schema(&self) -> Result<Vec<String>, StoreError> {
        self.store.check_schema()
    }

    fn read(&self, work: &mut dyn FnMut(&mut dyn Reads)) -> Result<(), StoreError> {
        self.store.read(work)
    }

    fn glance(&self, work: &mut dyn FnMut(&mut dyn Reads)) -> Result<(), StoreError> {
        self.store.glance(work)
    }

    fn glance_at_once(&self, work: &mut dyn FnMut(&mut dyn Reads)) -> Option<Result<(), StoreError>> {
        self.store.glance_at_once(work)
    }
}

impl Drop for Postings {
    fn drop(&mut self) {
        self.queue.lock().1 = true;
        self.queue.come.notify_one();
        // The last who knows the store may be a posting that this very thread has just run.
        let others = |it: &JoinHandle<()>| it.thread().id() != std::thread::current().id();
        if let Some(thread) = self.thread.take().filter(others) {
            thread.join().unwrap_or_default(); // it catches what panics
        }
    }
}
