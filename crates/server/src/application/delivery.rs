//! Delivers events to providers and mails to administrators.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use guerdon_domain::ports::{Clock, Store, StoreError, StoreExt, Wakes};
use guerdon_mailer::{Mailer, Running as Mailing, StoreMailJournal, Transport};
use guerdon_persistence::Wakeups;
use guerdon_webhook_dispatcher::{Dispatcher, Running as Dispatching, Schedule};
use tokio::sync::oneshot;

use super::metrics::Counting;
use crate::keys::Keys;
use crate::platform::{SystemClock, SystemIds};
use crate::settings::Settings;
use crate::transports::{build_courier, build_mail_transport, describe_mail_destination};

/// How long attempts in flight may take to finish when the service stops. Unsettled events are sent again later.
const FINISH_WITHIN: Duration = Duration::from_secs(16);

/// The dispatcher of events and the mailer, running.
pub(super) struct Delivery {
    events: Dispatching,
    mails: Mailing,
    /// Exchanges wake-ups with the other processes on the same database.
    wakeups: Option<Wakeups>,
}

impl Delivery {
    /// Starts the dispatcher and the mailer.
    pub(super) fn start(
        settings: &Settings,
        store: &Arc<dyn Store>,
        keys: &Arc<Keys>,
        wakes: &Wakes,
        counting: &Arc<Counting>,
        wrap: impl FnOnce(Box<dyn Transport>) -> Box<dyn Transport>,
    ) -> anyhow::Result<Self> {
        if settings.embedded_database().is_some() {
            // No other process can hold a lease on the embedded database: existing ones are of a process that ended.
            store.transaction(|tx| -> Result<(), StoreError> { tx.end_leases(SystemClock.now()) })?;
        }
        let transport = wrap(build_mail_transport(settings)?);
        let mailer = build_mailer(transport, store, counting).woken_by(wakes.mails.clone());
        log::info!("{}", describe_mail_destination(settings));
        let mails = mailer.start().context("cannot create a thread")?;
        let events = build_dispatcher(settings, store, keys, wakes, counting)?
            .start()
            .context("cannot create a thread")?;
        let wakeups = Wakeups::share(&settings.database, wakes).context("cannot create a thread")?;
        Ok(Self { events, mails, wakeups })
    }

    /// Stops both. The future is ready when the attempts in flight have finished; they finish on a thread of their own,
    /// which a second signal does not wait for. Until then, wake-ups go out for what requests still queue.
    pub(super) fn stop(self) -> impl Future<Output = ()> {
        let Self { events, mails, wakeups } = self;
        let (tell, told) = oneshot::channel();
        let finish = move || {
            finish(events, mails);
            tell.send(()).unwrap_or_default(); // the receiver is gone after a second signal
        };
        let begun = std::thread::Builder::new().name("finish".into()).spawn(finish);
        if let Err(cause) = begun {
            log::warn!("stopping without waiting for deliveries in flight: {cause}");
        }
        async move {
            told.await.unwrap_or_default();
            drop(wakeups);
        }
    }
}

fn finish(events: Dispatching, mails: Mailing) {
    let mails = std::thread::spawn(move || mails.stop(FINISH_WITHIN));
    let stopped = events.stop(FINISH_WITHIN);
    if stopped.abandoned > 0 {
        log::warn!("{} deliveries were in flight and will be retried", stopped.abandoned);
    }
    if !mails.join().unwrap_or_default() {
        log::warn!("a mail was in flight and may be sent again");
    }
}

fn build_dispatcher(
    settings: &Settings,
    store: &Arc<dyn Store>,
    keys: &Arc<Keys>,
    wakes: &Wakes,
    counting: &Arc<Counting>,
) -> anyhow::Result<Dispatcher> {
    let sender = build_courier(settings, keys)?;
    let mut dispatcher =
        Dispatcher::new(Arc::clone(store), Arc::new(sender), Arc::new(SystemClock), Arc::new(SystemIds));
    dispatcher.schedule = Schedule::scaled(settings.webhooks.time_scale)
        .context("webhooks.time_scale must be from 0.001 to 1000000000")?;
    dispatcher.observer = counting.clone();
    dispatcher.wake = wakes.events.clone();
    dispatcher.processes = wakes.processes.clone();
    Ok(dispatcher)
}

fn build_mailer(transport: Box<dyn Transport>, store: &Arc<dyn Store>, counting: &Arc<Counting>) -> Mailer {
    let journal = Box::new(StoreMailJournal::new(Arc::clone(store)));
    let mailer = Mailer::new(journal, transport, Arc::new(SystemClock), Arc::new(SystemIds));
    mailer.observed_by(counting.clone())
}
