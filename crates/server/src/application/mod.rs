//! The composition root: builds a service from the settings and runs it.

mod api_pages;
mod background;
mod database;
mod delivery;
mod distributions;
mod figures;
mod metrics;
mod operator;
mod run_command;
mod single_sign_on;
mod stop;
mod warnings;

use std::future::Future;
use std::net::TcpListener;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use actix_web::dev::ServerHandle;
use actix_web::{rt, web};
use anyhow::{Context, bail};
use guerdon_domain::commands::CommandQueue;
use guerdon_domain::ports::{Store, Wakes};
use guerdon_http_api::{Api, ConnectionLimits, Gate, Limits, Listening, Pulse, Traffic, Transport};
use guerdon_mailer::Transport as MailTransport;
use guerdon_persistence::Opened;
use guerdon_webhook_dispatcher::Bodies;
use tokio::time::timeout;

use crate::command_socket::{CommandHandler, CommandSocket};
use crate::commands::CommandEnvironment;
use crate::keys::{Keys, open_or_create_keys, require_master_key};
use crate::maintenance::Service;
use crate::platform::build_info::{COMMIT, LONG, VERSION};
use crate::platform::{SystemClock, SystemIds, descriptors};
use crate::settings::{Http, Retention, Settings, Tls};
use crate::tls::{self, Reloading};

pub(crate) use api_pages::describe_api;
use api_pages::render_api_pages;
pub(crate) use database::prepare_folders;
use delivery::Delivery;
use distributions::DuePayments;
pub(crate) use distributions::finish_started;
use figures::Figures;
use metrics::{Counting, Metrics};
pub(crate) use run_command::run_command;

/// Descriptors that are reserved for the operator's listener, the database, commands and deliveries.
const RESERVED_DESCRIPTORS: usize = 256;
/// How many connections fit into 128 MiB, the memory that one `serve` has for them. An idle connection over TLS takes
/// 10 KiB.
const MAX_CONNECTIONS_IN_MEMORY: usize = (128 << 20) / (11 << 10);

/// A service whose listeners are open.
pub(crate) struct Application {
    api: Listening,
    operator: operator::Listening,
    gate: Arc<Gate>,
    /// How long load balancers have to notice that the service stops.
    drain: Duration,
    /// The database connections of background tasks.
    background: Arc<dyn Store>,
    retention: Retention,
    pulse: Arc<Pulse>,
    certificate: Option<Arc<Reloading>>,
    metrics: Metrics,
    unbalanced: Arc<AtomicI64>,
    figures: Figures,
    payments: DuePayments,
    delivery: Delivery,
    command_socket: Option<(CommandSocket, Arc<CommandHandler>)>,
}

impl Application {
    /// Creates or migrates the database, finds or creates the keys, prepares TLS, and opens the listeners. Mails are
    /// sent by the transport that `wrap` returns for the configured one. Must be called within an actix system.
    pub(crate) fn build(
        settings: &Settings,
        wrap: impl FnOnce(Box<dyn MailTransport>) -> Box<dyn MailTransport>,
    ) -> anyhow::Result<Self> {
        log::info!(version = VERSION, commit = COMMIT; "guerdon {LONG}");
        // These checks come first, so that a start that is refused creates nothing.
        require_master_key(settings)?;
        tls::check(settings)?;
        for (address, name) in
            [(settings.http.listen, "http.listen"), (settings.operator_listen, "operator.listen")]
        {
            TcpListener::bind(address).with_context(|| format!("cannot listen on {address} ({name})"))?;
        }
        warnings::tell(settings);
        let (metrics, wakes) = (Metrics::install()?, Wakes::default());
        let Opened { requests, commands, background } = database::open_for_service(settings, &wakes)?;
        let keys = Arc::new(open_or_create_keys(settings, background.as_ref())?);
        finish_started(settings, background.as_ref(), &commands);
        let gate = Gate::new();
        let pulse = Arc::<Pulse>::default();
        background::check_at_start(background.as_ref(), &gate, &pulse)?;
        let payments = DuePayments::new(Arc::clone(&background), Arc::clone(&commands));
        let command_socket = command_socket(settings, &background, &commands, &keys)?;
        let terminated = tls::prepare(settings)?;
        let (tls_config, certificate) = terminated.map(|tls| (tls.config, tls.certificate)).unzip();
        let address = settings.http.listen;
        let (counting, traffic) = (Arc::<Counting>::default(), Arc::<Traffic>::default());
        let api = guerdon_http_api::listen(
            api(settings, requests, commands, Arc::clone(&keys), &gate, &pulse, &traffic),
            address,
            tls_config,
        )
        .with_context(|| format!("cannot listen on {address} (http.listen)"))?;
        let unbalanced = Arc::<AtomicI64>::default();
        let service = Service {
            listen: api.address,
            certificate: certificate.clone(),
            unbalanced: Arc::clone(&unbalanced),
            ..Service::of(settings, &background)
        };
        let operator = operator::listen(service, Arc::clone(&gate), Arc::clone(&pulse), metrics.clone())
            .with_context(|| format!("cannot listen on {} (operator.listen)", settings.operator_listen))?;
        let delivery = Delivery::start(settings, &background, &keys, &wakes, &counting, wrap)?;
        let scheme = if certificate.is_some() { "https" } else { "http" };
        let (listening, health, database) = (api.address, operator.address, settings.shown_database());
        log::info!("listening on {scheme}://{listening} (database {database}), health on http://{health}");
        let drain = settings.http.drain;
        let figures = Figures { store: Arc::clone(&background), traffic, counting };
        Ok(Self {
            api,
            operator,
            gate,
            drain,
            background,
            retention: settings.retention,
            pulse,
            certificate,
            metrics,
            unbalanced,
            figures,
            payments,
            delivery,
            command_socket,
        })
    }

    /// Serves until `stop` is ready, then shuts down in order. If `stop` becomes ready again, it shuts down faster.
    pub(crate) async fn run<F: Future<Output = ()>>(self, mut stop: impl FnMut() -> F) -> anyhow::Result<()> {
        let api: ServerHandle = self.api.server.handle();
        let operator = self.operator.server.handle();
        let mut api_ends = rt::spawn(self.api.server);
        rt::spawn(self.operator.server);
        let (figures, mut payments) = (Arc::new(self.figures), self.payments);
        let writing = Arc::clone(&figures);
        let mut tasks = background::spawn_tasks(
            self.background,
            self.retention,
            &self.gate,
            self.pulse,
            self.certificate,
            self.metrics,
            self.unbalanced,
        );
        tasks.push(rt::spawn(background::repeat_every(distributions::EVERY, move || payments.run())));
        tasks.push(rt::spawn(background::repeat_every(figures::EVERY, move || writing.write())));
        let handler = self.command_socket.map(|(command_socket, handler)| {
            tasks.push(rt::spawn(command_socket.take(Arc::clone(&handler))));
            handler
        });
        let ended_early = tokio::select! {
            () = stop() => false,
            _ = &mut api_ends => true,
        };
        let delivery = self.delivery;
        let delivered = delivery.stop(); // at the same time as requests in flight finish
        if !ended_early {
            stop::in_order(&self.gate, self.drain, &api, delivered, &mut stop).await;
        }
        tasks.iter().for_each(rt::task::JoinHandle::abort);
        if let Some(handler) = handler {
            handler.finish(stop::COMMANDS_WITHIN).await;
        }
        operator.stop(false).await;
        // An unavailable database must not delay the end; nothing depends on these statistics.
        let _written = timeout(figures::LAST_WITHIN, web::block(move || figures.write())).await;
        if ended_early { bail!("the provider API stopped unexpectedly") } else { Ok(()) }
    }
}

fn api(
    settings: &Settings,
    store: Arc<dyn Store>,
    commands: Arc<dyn CommandQueue>,
    keys: Arc<Keys>,
    gate: &Arc<Gate>,
    pulse: &Arc<Pulse>,
    traffic: &Arc<Traffic>,
) -> Api {
    let limit = settings.rate_limit;
    Api {
        store,
        commands,
        clock: Arc::new(SystemClock),
        ids: Arc::new(SystemIds),
        bodies: Arc::new(Bodies),
        secrets: keys,
        gate: Arc::clone(gate),
        pulse: Arc::clone(pulse),
        traffic: Arc::clone(traffic),
        answers_kept: settings.retention.idempotency,
        limits: Limits {
            requests_per_second: limit.requests_per_second,
            burst: limit.burst,
            failed_logins_per_minute: limit.failed_logins_per_minute,
        },
        connections: connection_limits(&settings.http),
        keep_alive: settings.http.keep_alive,
        transport: match &settings.http.tls {
            Tls::Proxy { trusted } => Transport::Proxy { trusted: trusted.clone() },
            Tls::SelfSigned | Tls::Files { .. } => Transport::Tls,
        },
        service_url: settings.service_url.as_str().into(),
        retired_versions: settings.http.retired_versions.clone(),
        sunsets: settings.http.sunsets.clone(),
        pages: LazyLock::new(render_api_pages),
        request_lines: if settings.log.requests { log::Level::Info } else { log::Level::Debug },
    }
}

/// Returns as many connections as descriptors and memory allow. A configured number may exceed the memory, but not the
/// descriptors.
fn connection_limits(http: &Http) -> ConnectionLimits {
    let left = descriptors::raise_limit().saturating_sub(RESERVED_DESCRIPTORS).max(1);
    let wanted = usize::try_from(http.max_connections).unwrap_or(usize::MAX);
    if wanted > left {
        log::warn!("http.max_connections is {wanted}, but the limit of descriptors allows only {left}");
    }
    if wanted > MAX_CONNECTIONS_IN_MEMORY {
        log::warn!(
            "http.max_connections is {wanted}: more than {MAX_CONNECTIONS_IN_MEMORY} connections may take more memory than 256 MiB"
        );
    }
    let in_all = if wanted == 0 { left.min(MAX_CONNECTIONS_IN_MEMORY) } else { wanted.min(left) };
    let of_one_address = usize::try_from(http.max_connections_per_address).unwrap_or(usize::MAX);
    log::info!("up to {in_all} connections to the provider API, {of_one_address} per address");
    ConnectionLimits { in_all, of_one_address }
}

/// The socket for commands: only the embedded database needs one.
fn command_socket(
    settings: &Settings,
    store: &Arc<dyn Store>,
    commands: &Arc<dyn CommandQueue>,
    keys: &Arc<Keys>,
) -> anyhow::Result<Option<(CommandSocket, Arc<CommandHandler>)>> {
    let Some(database) = settings.embedded_database() else { return Ok(None) };
    let environment =
        CommandEnvironment::new(Arc::clone(store), Arc::clone(commands), Arc::clone(keys), settings);
    let command_socket = CommandSocket::open(&settings.data_dir)?;
    Ok(Some((command_socket, Arc::new(CommandHandler::new(environment, database)))))
}
