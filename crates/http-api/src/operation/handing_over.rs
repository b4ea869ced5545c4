//! Handing work over to the store, which runs it together with others and holds no thread of ours meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use guerdon_domain::ports::{Posting, PostingEnd, StoreError, Tx, Verdict};
use guerdon_domain::values::ProviderId;
use tokio::sync::oneshot::{self, Sender};
use tokio::time::Instant;

use crate::operation::error::ApiError;
use crate::operation::promise::Promise;
use crate::operation::shares::{Counted, Turn, WAIT_MAX, Waits};
use crate::operation::state::{BEGIN_WITHIN, State, broken_off, busy};

/// What came of work that was handed over, with what was held for it.
pub(crate) enum Handed<T, H> {
    Done(T, H),
    /// Nothing of it was kept. It is to be [run](State::block) here, and what comes last dropped after that.
    Alone(H, (Turn, Box<dyn Send>)),
}

/// What a posting is told of: its end, and its place if it still needs that.
type Told<H> = Result<(PostingEnd, H, Option<Turn>), ApiError>;

/// A posting that waits for its provider's turn. It is handed over on whatever thread leaves the place: a worker that has its
/// hands full with refusing others is not waited for.
struct InLine<W, H> {
    state: Arc<State>,
    work: W,
    held: H,
    tell: Sender<Told<H>>,
    has_begun: Arc<AtomicBool>,
    _counted: Option<Counted>,
}

impl<W, H> Waits for InLine<W, H>
where
    W: FnMut(&mut dyn Tx) -> Verdict + Send + 'static,
    H: Send + 'static,
{
    fn has_gone(&self) -> bool {
        self.tell.is_closed()
    }

    fn begin(self: Box<Self>, turn: Turn) {
        let Self { state, work, held, tell, has_begun, .. } = *self;
        has_begun.store(true, Ordering::Release);
        let permit = match state.cross() {
            Ok(permit) => permit,
            Err(refusal) => return drop(tell.send(Err(refusal))),
        };
        let told = move |end| {
            drop(permit);
            let (left, kept) = match end {
                PostingEnd::Ended(_) => (Some(turn), None),
                PostingEnd::Alone(_) => (None, Some(turn)),
            };
            drop(tell.send(Ok((end, held, kept)))); // the client may have gone
            drop(left); // another begins
        };
        let posting = Posting { work: Box::new(work), told: Box::new(told) };
        if let Some(given_back) = state.api.store.take_over(posting) {
            (given_back.told)(PostingEnd::Alone(Box::new(())));
        }
    }
}

impl State {
    /// Hands `work` over when it is the provider's turn. `held` comes back with the end of its transaction; where the client
    /// has gone, it is let go then.
    pub(crate) async fn hand_over<T, E, H>(
        self: &Arc<Self>,
        provider: ProviderId,
        held: H,
        mut work: impl FnMut(&Self, &Promise, &mut dyn Tx) -> Result<T, E> + Send + 'static,
    ) -> Result<Handed<T, H>, E>
    where
        T: Send + 'static,
        H: Send + 'static,
        E: From<ApiError> + From<StoreError> + Send + 'static,
    {
        let (promise, has_begun) = (Arc::<Promise>::default(), Arc::<AtomicBool>::default());
        let (its, arrived) = (Arc::clone(&promise), Instant::now());
        let result = Arc::new(Mutex::new(None));
        let (given, state) = (Arc::clone(&result), Arc::clone(self));
        let work = move |tx: &mut dyn Tx| {
            let is_late = arrived.elapsed() > BEGIN_WITHIN;
            let done = if is_late { Err(busy().into()) } else { work(&state, &its, tx) };
            let verdict = if done.is_ok() { Verdict::Commit } else { Verdict::Rollback };
            *given.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
            verdict
        };
        let (tell, told) = oneshot::channel();
        let (state, begins) = (Arc::clone(self), Arc::clone(&has_begun));
        self.writes.line_up(provider, |counted| {
            Box::new(InLine { state, work, held, tell, has_begun: begins, _counted: counted })
        })?;
        let waits_too_long = || !has_begun.load(Ordering::Acquire) && arrived.elapsed() > WAIT_MAX;
        let told = self.wait_for(told, &promise, waits_too_long).await?.map_err(broken_off)?;
        let (end, held, turn) = told?;
        match (end, turn) {
            (PostingEnd::Ended(end), _) => end?,
            (PostingEnd::Alone(apart), Some(turn)) if arrived.elapsed() <= BEGIN_WITHIN => {
                return Ok(Handed::Alone(held, (turn, apart)));
            }
            (PostingEnd::Alone(_too_late), _) => return Err(busy().into()),
        }
        let done = result.lock().unwrap_or_else(PoisonError::into_inner).take();
        let done = done.unwrap_or_else(|| Err(broken_off("it did not run").into()))?;
        self.api.pulse.served();
        Ok(Handed::Done(done, held))
    }
}
