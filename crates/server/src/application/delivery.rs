//! Delivers events to providers and emails to administrators.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use guerdon_domain::ports::{Clock, Notifiers, Store, StoreExt};
use guerdon_mailer::{MailTransport, Mailer, PersistentMailStore, RunningMailer};
use guerdon_persistence::CrossProcessNotifier;
use guerdon_webhook_dispatcher::{Dispatcher, RunningDispatcher};
use tokio::sync::oneshot;

use super::metrics::DeliveryCounters;
use crate::keys::Keys;
use crate::platform::{SystemClock, SystemIds};
use crate::settings::Settings;
use crate::transports::{build_event_sender, build_mail_transport, describe_mail_destination};

/// How long attempts in flight may take to finish when the service stops. Unsettled events are sent again later.
const STOP_TIMEOUT: Duration = Duration::from_secs(16);

/// The running dispatcher of events and the running mailer.
pub(super) struct RunningDelivery {
    events: RunningDispatcher,
    mails: RunningMailer,
    /// Exchanges wake-ups with the other processes on the same database.
    wakeups: Option<CrossProcessNotifier>,
}

impl RunningDelivery {
    /// Starts the dispatcher and the mailer.
    pub(super) fn start(
        settings: &Settings,
        store: &Arc<dyn Store>,
        keys: &Arc<Keys>,
        notifiers: &Notifiers,
        delivery_counters: &Arc<DeliveryCounters>,
        wrap_transport: impl FnOnce(Box<dyn MailTransport>) -> Box<dyn MailTransport>,
    ) -> anyhow::Result<Self> {
        if settings.embedded_database().is_some() {
            // No other process can hold a lease on the embedded database, so the existing leases belong to a process
            // that has ended.
            store.transaction(|tx| tx.end_leases(SystemClock.now()))?;
        }
        let transport = wrap_transport(build_mail_transport(settings)?);
        let mail_store = Box::new(PersistentMailStore::new(Arc::clone(store)));
        let mailer = Mailer::new(mail_store, transport, Arc::new(SystemClock), Arc::new(SystemIds))
            .with_observer(delivery_counters.clone())
            .with_wake(notifiers.notifications.clone());
        log::info!(destination = describe_mail_destination(settings).as_str(); "starting the mailer");
        let mails = mailer.start().context("cannot create the thread of the mailer")?;
        let events = build_dispatcher(settings, store, keys, notifiers, delivery_counters)?
            .start()
            .context("cannot create the threads of the webhook dispatcher")?;
        let wakeups = CrossProcessNotifier::start_thread(&settings.database, notifiers)
            .context("cannot create the thread that exchanges notifications with other processes")?;
        Ok(Self { events, mails, wakeups })
    }

    /// Returns the number of deliveries in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.events.in_flight()
    }

    /// Stops the dispatcher and the mailer. The future completes when all attempts in flight have finished or
    /// `STOP_TIMEOUT` has passed, and returns how many have not finished. A separate thread waits for them, so the
    /// caller can drop the future to stop at once. Until then, other processes are still notified of events that
    /// requests queue.
    pub(super) fn stop(self) -> impl Future<Output = usize> {
        let Self { events, mails, wakeups } = self;
        let (finished, stopped) = oneshot::channel();
        let finish = move || {
            let abandoned = stop_senders(events, mails);
            finished.send(abandoned).unwrap_or_default(); // the receiver is gone after a second signal
        };
        let thread = std::thread::Builder::new().name("finish".into()).spawn(finish);
        if let Err(cause) = thread {
            log::warn!(cause:%; "stopping without waiting for deliveries in flight");
        }
        async move {
            let abandoned = stopped.await.unwrap_or_default();
            drop(wakeups);
            abandoned
        }
    }
}

/// Returns the number of deliveries that have not finished.
fn stop_senders(events: RunningDispatcher, mails: RunningMailer) -> usize {
    let mails = std::thread::spawn(move || mails.stop(STOP_TIMEOUT));
    let stopped = events.stop(STOP_TIMEOUT);
    if stopped.abandoned > 0 {
        log::warn!(deliveries = stopped.abandoned; "deliveries were in flight and will be retried");
    }
    if !mails.join().unwrap_or_default() {
        log::warn!("an email was in flight and may be sent again");
    }
    stopped.abandoned
}

fn build_dispatcher(
    settings: &Settings,
    store: &Arc<dyn Store>,
    keys: &Arc<Keys>,
    notifiers: &Notifiers,
    delivery_counters: &Arc<DeliveryCounters>,
) -> anyhow::Result<Dispatcher> {
    let sender = build_event_sender(settings, keys)?;
    let mut dispatcher =
        Dispatcher::new(Arc::clone(store), Arc::new(sender), Arc::new(SystemClock), Arc::new(SystemIds));
    dispatcher.schedule = settings.webhooks.schedule;
    dispatcher.observer = delivery_counters.clone();
    dispatcher.wake = notifiers.events.clone();
    dispatcher.processes = notifiers.processes.clone();
    Ok(dispatcher)
}
