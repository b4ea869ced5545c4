//! The composition root: builds a service from the settings and runs it.

mod api_pages;
mod background;
mod database;
mod delivery;
mod distributions;
mod metrics;
mod next_step;
mod operator;
mod run_command;
mod single_sign_on;
mod statistics;
mod stop;
mod upkeep;
mod upkeep_metrics;
mod warnings;

use std::future::Future;
use std::net::TcpListener;
use std::path::Path;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use actix_web::dev::ServerHandle;
use actix_web::{rt, web};
use anyhow::{Context, bail};
use guerdon_domain::commands::CommandQueue;
use guerdon_domain::ports::{Notifiers, Store};
use guerdon_http_api::{
    Api, ConnectionLimits, DatabaseHealth, FailedRequestBuffer, FeedSignal, ListeningServer,
    RequestStatistics, ServiceState, Transport,
};
use guerdon_mailer::MailTransport;
use guerdon_persistence::OpenDatabase;
use tokio::time::timeout;

use crate::command_socket::{CommandHandler, CommandSocket};
use crate::commands::CommandEnvironment;
use crate::keys::{Keys, open_or_create_keys, require_master_key};
use crate::maintenance::{FailedRequestWriter, StatusSources};
use crate::platform::build_info::{COMMIT, VERSION};
use crate::platform::{context_sources, descriptors};
use crate::settings::{Http, Settings, Tls};
use crate::tls::{self, ReloadingCertificate};

pub(crate) use api_pages::describe_api;
use api_pages::render_api_pages;
use background::{HealthCheck, repeat_every};
pub(crate) use database::prepare_folders;
use delivery::RunningDelivery;
use distributions::DueDistributions;
use metrics::{DeliveryCounters, Metrics};
pub(crate) use run_command::run_command;
use statistics::StatisticsWriter;
use stop::InFlight;
pub(crate) use stop::StopReport;
use upkeep::Upkeep;

/// How many descriptors are reserved for the operator's listener, the database, commands and deliveries.
const RESERVED_DESCRIPTORS: usize = 256;
/// The number of connections for which 128 MiB is reserved. An idle TLS connection takes 10 KiB; 11 KiB leaves a
/// reserve.
const CONNECTIONS_IN_MEMORY_MAX: usize = (128 << 20) / (11 << 10);

/// A service whose listeners are open.
pub(crate) struct Application {
    api: ListeningServer,
    operator: operator::OperatorServer,
    service_state: Arc<ServiceState>,
    /// How long load balancers have to notice that the service is stopping.
    drain: Duration,
    /// The database connections of background tasks.
    background: Arc<dyn Store>,
    upkeep: Upkeep,
    health_check: HealthCheck,
    certificate: Option<Arc<ReloadingCertificate>>,
    metrics: Metrics,
    unbalanced_companies: Arc<AtomicI64>,
    statistics: StatisticsWriter,
    failed_requests: Arc<FailedRequestWriter>,
    due_distributions: DueDistributions,
    delivery: RunningDelivery,
    command_socket: Option<(CommandSocket, Arc<CommandHandler>)>,
}

impl Application {
    /// Creates or migrates the database, finds or creates the keys, continues interrupted distributions, starts the
    /// delivery of events and emails, prepares TLS, and opens the listeners.
    /// `wrap_transport` may wrap the configured transport of emails. Must be called within an actix system.
    pub(crate) fn build(
        settings: &Settings,
        wrap_transport: impl FnOnce(Box<dyn MailTransport>) -> Box<dyn MailTransport>,
    ) -> anyhow::Result<Self> {
        check_before_start(settings)?;
        let (metrics, notifiers) =
            (Metrics::install_recorder(settings.cell.as_deref())?, Notifiers::default());
        let OpenDatabase { requests, commands, background, health } =
            database::open_for_service(settings, &notifiers)?;
        let keys = Arc::new(open_or_create_keys(settings, background.as_ref())?);
        distributions::resume_distributions_at_start(background.as_ref(), &commands);
        let database_health = Arc::new(DatabaseHealth::new(notifiers.commits.clone()));
        let observed = ObservedState { database_health, ..ObservedState::default() };
        let health_check = HealthCheck::new(health, &observed);
        health_check.check_at_start()?;
        let due_distributions = DueDistributions::new(Arc::clone(&background), Arc::clone(&commands));
        let failed_requests = FailedRequestWriter::new(&background, &observed.failed_requests);
        let command_socket = open_command_socket(settings, &background, &commands, &keys, &failed_requests)?;
        let listener_tls = tls::prepare_listener_tls(settings)?;
        let (tls_config, certificate) = listener_tls.map(|tls| (tls.config, tls.certificate)).unzip();
        let api = build_api(settings, requests, commands, Arc::clone(&keys), &observed);
        connect_event_feed(&notifiers, &api);
        let api = guerdon_http_api::listen(api, settings.http.listen, tls_config)
            .with_context(|| format!("cannot listen on {} (http.listen)", settings.http.listen))?;
        let unbalanced_companies = Arc::<AtomicI64>::default();
        let service = StatusSources {
            listen: api.address,
            certificate: certificate.clone(),
            unbalanced_companies: Arc::clone(&unbalanced_companies),
            ..StatusSources::from_settings(settings, &background)
        };
        let operator = operator::start_listener(service, &observed, metrics.clone())
            .with_context(|| format!("cannot listen on {} (operator.listen)", settings.operator_listen))?;
        let counters = Arc::<DeliveryCounters>::default();
        let delivery =
            RunningDelivery::start(settings, &background, &keys, &notifiers, &counters, wrap_transport)?;
        let upkeep = Upkeep::new(settings, &background, &keys, &observed.service_state);
        let scheme = if certificate.is_some() { "https" } else { "http" };
        let (api_url, health_url) =
            (format!("{scheme}://{}", api.address), format!("http://{}", operator.address));
        let database = settings.masked_database_url();
        log::info!(api_url:%, health_url:%, database:%; "listening");
        let ObservedState { service_state, request_statistics: requests, .. } = observed;
        let statistics = StatisticsWriter { store: Arc::clone(&background), requests, deliveries: counters };
        Ok(Self {
            api,
            operator,
            service_state,
            drain: settings.http.drain,
            background,
            upkeep,
            health_check,
            certificate,
            metrics,
            unbalanced_companies,
            statistics,
            failed_requests,
            due_distributions,
            delivery,
            command_socket,
        })
    }

    /// Logs the command that creates a provider, unless one exists. `config_file` is the file of the settings.
    pub(crate) fn log_next_step(&self, config_file: Option<&Path>) {
        next_step::log_next_step(self.background.as_ref(), config_file);
    }

    /// Serves until the future that `stop` returns completes, then shuts down in order. Calls `stop` again during the
    /// shutdown; if that future completes, shuts down immediately.
    pub(crate) async fn run_until_stopped<F: Future<Output = ()>>(
        self,
        mut stop: impl FnMut() -> F,
    ) -> anyhow::Result<StopReport> {
        let open_connections = self.api.connections;
        let api: ServerHandle = self.api.server.handle();
        let operator = self.operator.server.handle();
        let mut api_task = rt::spawn(self.api.server);
        rt::spawn(self.operator.server);
        let (statistics, mut due_distributions) = (Arc::new(self.statistics), self.due_distributions);
        let periodic_statistics = Arc::clone(&statistics);
        let (failed_requests, periodic_writer) = (Arc::clone(&self.failed_requests), self.failed_requests);
        let mut tasks = background::spawn_tasks(
            self.background,
            self.upkeep,
            self.health_check,
            self.certificate,
            self.metrics,
            self.unbalanced_companies,
        );
        tasks.push(rt::spawn(repeat_every("distributions", distributions::CHECK_INTERVAL, move || {
            due_distributions.run_all()
        })));
        tasks.push(rt::spawn(repeat_every("statistics", statistics::STORE_INTERVAL, move || {
            periodic_statistics.store_counts()
        })));
        tasks.push(rt::spawn(repeat_every("failed requests", FailedRequestWriter::INTERVAL, move || {
            periodic_writer.store_batch()
        })));
        let handler = self.command_socket.map(|(command_socket, handler)| {
            tasks.push(rt::spawn(command_socket.accept_commands(Arc::clone(&handler))));
            handler
        });
        let api_ended = tokio::select! {
            () = stop() => false,
            _ = &mut api_task => true,
        };
        let began_at = Instant::now();
        let in_flight =
            InFlight { connections: open_connections.get(), deliveries: self.delivery.in_flight() };
        let stopped = self.delivery.stop(); // while requests in flight finish
        let deliveries = if api_ended {
            in_flight.deliveries
        } else {
            stop::stop_in_order(&self.service_state, self.drain, &in_flight, &api, stopped, &mut stop).await
        };
        tasks.iter().for_each(rt::task::JoinHandle::abort);
        let commands = match handler {
            Some(handler) => handler.wait_until_idle(stop::COMMANDS_TIMEOUT).await,
            None => 0,
        };
        operator.stop(false).await;
        // An unavailable database must not delay the end of the process; nothing depends on these records.
        let store_remaining_records = web::block(move || {
            failed_requests.store_all();
            statistics.store_counts();
        });
        let _written = timeout(statistics::FINAL_STORE_TIMEOUT, store_remaining_records).await;
        if api_ended {
            bail!("the provider API stopped unexpectedly")
        }
        Ok(StopReport { began_at, deliveries, commands })
    }
}

/// The state of a running service, which the API shares with the operator's listener and the background tasks.
#[derive(Default)]
struct ObservedState {
    service_state: Arc<ServiceState>,
    database_health: Arc<DatabaseHealth>,
    request_statistics: Arc<RequestStatistics>,
    failed_requests: Arc<FailedRequestBuffer>,
}

/// Fails if the service cannot start with these settings, before anything is created.
fn check_before_start(settings: &Settings) -> anyhow::Result<()> {
    log::info!(version = VERSION, commit = COMMIT; "starting");
    require_master_key(settings)?;
    tls::check_certificate(settings)?;
    for (address, name) in
        [(settings.http.listen, "http.listen"), (settings.operator_listen, "operator.listen")]
    {
        TcpListener::bind(address).with_context(|| format!("cannot listen on {address} ({name})"))?;
    }
    warnings::log_warnings(settings);
    Ok(())
}

fn build_api(
    settings: &Settings,
    store: Arc<dyn Store>,
    commands: Arc<dyn CommandQueue>,
    keys: Arc<Keys>,
    observed: &ObservedState,
) -> Api {
    Api {
        store,
        command_queue: commands,
        context_sources: context_sources(),
        secret_verifier: keys,
        service_state: Arc::clone(&observed.service_state),
        feed_signal: FeedSignal::new(),
        database_health: Arc::clone(&observed.database_health),
        request_statistics: Arc::clone(&observed.request_statistics),
        failed_requests: Arc::clone(&observed.failed_requests),
        response_retention: settings.retention.idempotency,
        rate_limits: settings.rate_limits,
        connection_limits: connection_limits(&settings.http),
        keep_alive: settings.http.keep_alive,
        transport: Transport {
            terminates_tls: settings.http.tls != Tls::Proxy,
            trusted_proxies: settings.http.trusted_proxies.clone(),
        },
        cell: settings.cell.clone(),
        service_url: settings.service_url.as_str().into(),
        retired_versions: settings.http.retired_versions.clone(),
        sunsets: settings.http.sunsets.clone(),
        pages: LazyLock::new(render_api_pages),
        request_log_level: if settings.log.requests { log::Level::Info } else { log::Level::Debug },
    }
}

/// Makes commits wake the requests that wait for new events.
fn connect_event_feed(notifiers: &Notifiers, api: &Api) {
    let feed_signal = Arc::clone(&api.feed_signal);
    notifiers.event_feed.set_listener(move |committed| feed_signal.notify(committed));
}

/// Returns the configured limits, or as many connections as descriptors and memory allow. A configured number may
/// exceed what the memory allows, but not what the descriptors allow.
fn connection_limits(http: &Http) -> ConnectionLimits {
    let available = descriptors::raise_limit().saturating_sub(RESERVED_DESCRIPTORS).max(1);
    let configured = usize::try_from(http.max_connections).unwrap_or(usize::MAX);
    if configured > available {
        log::warn!(
            configured, available;
            "the limit of open files allows fewer connections than http.max_connections: raise it (ulimit -n, \
             LimitNOFILE), or lower http.max_connections"
        );
    }
    if configured > CONNECTIONS_IN_MEMORY_MAX {
        log::warn!(
            configured, recommended_max = CONNECTIONS_IN_MEMORY_MAX;
            "http.max_connections exceeds the recommended maximum: the process may need more than 256 MiB of \
             memory"
        );
    }
    let total =
        if configured == 0 { available.min(CONNECTIONS_IN_MEMORY_MAX) } else { configured.min(available) };
    let per_address = usize::try_from(http.max_connections_per_address).unwrap_or(usize::MAX);
    log::info!(total, per_address; "connection limits of the provider API");
    ConnectionLimits { total, per_address }
}

/// Opens the socket for commands, which only the embedded database needs.
fn open_command_socket(
    settings: &Settings,
    store: &Arc<dyn Store>,
    commands: &Arc<dyn CommandQueue>,
    keys: &Arc<Keys>,
    failed_requests: &Arc<FailedRequestWriter>,
) -> anyhow::Result<Option<(CommandSocket, Arc<CommandHandler>)>> {
    let Some(database) = settings.embedded_database() else { return Ok(None) };
    let defaults =
        CommandEnvironment::new(Arc::clone(store), Arc::clone(commands), Arc::clone(keys), settings);
    let environment = CommandEnvironment { failed_requests: Some(Arc::clone(failed_requests)), ..defaults };
    let command_socket = CommandSocket::open_in(&settings.data_dir)?;
    Ok(Some((command_socket, Arc::new(CommandHandler::new(environment, database)))))
}

/// Converts a count to the value of a gauge; a count that does not fit becomes the maximum.
fn to_gauge(count: impl TryInto<u32>) -> u32 {
    count.try_into().unwrap_or(u32::MAX)
}
