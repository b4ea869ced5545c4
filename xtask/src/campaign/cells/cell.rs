//! One cell: two instances of the service on a primary with a synchronous standby.

use anyhow::{Context, Result, ensure};
use guerdon_test_harness::{CellRouter, RoutedCell, WebhookReceiver};
use tempfile::TempDir;

use super::super::context::{Setup, temporary_folder};
use super::super::ledger::Ledger;
use super::super::load::LoadTarget;
use super::super::server_pair::ServerPair;
use crate::measurement::fixture::{Company, Provider};
use crate::measurement::service::{RunningService, free_address};

const DATABASE: &str = "cell";
const USERS: usize = 20;
/// The points in the peer wallet of each user, more than the campaign spends.
const POINTS: &str = "1000000";

pub(super) struct Cell {
    pair: ServerPair,
    url: String,
    instances: Vec<Instance>,
    providers: Vec<(Provider, Company)>,
}

/// An instance of the service, with a port that it keeps.
pub(super) struct Instance {
    service: RunningService,
    /// A request that succeeds once the instance has started.
    probe: Vec<u8>,
    _folder: TempDir,
}

impl Instance {
    /// Stops the instance as a rolling restart does, and starts it again.
    pub(super) fn restart_gracefully(&mut self) -> Result<()> {
        self.service.terminate()?;
        self.service.restart(&self.probe).map(drop)
    }
}

impl Cell {
    pub(super) fn start(
        setup: &Setup<'_>,
        receiver: &WebhookReceiver,
        name: &str,
        providers: usize,
    ) -> Result<Self> {
        let pair = ServerPair::start(setup.workspace)?;
        let url = pair.create_database(DATABASE)?;
        let start = || -> Result<Instance> {
            let folder = temporary_folder()?;
            let (data, scratch) = (folder.path().join("data"), folder.path().join("scratch"));
            std::fs::create_dir(&data)?;
            let mut settings = RoutedCell::settings(name).to_vec();
            settings.push(("GUERDON_HTTP__LISTEN", free_address()?.to_string()));
            let database = Some(pair.service_database(&url));
            let service = RunningService::start_in(setup.program, &data, &scratch, database, &settings)?;
            Ok(Instance { service, probe: Vec::new(), _folder: folder })
        };
        let mut instances = vec![start()?, start()?];
        let service = &instances.first().context("no instance")?.service;
        let create = |number: usize| -> Result<(Provider, Company)> {
            let name = format!("Provider {number}");
            let provider = Provider::create_named(service, &name, Some(&receiver.named_url()))?;
            let company = Company::create(service, &provider, &format!("company-{number}"), USERS)?;
            let points = ["--wallet", "peer_wallet", "--points", POINTS];
            service.run_cli(&[&["distribution", "run", &company.id][..], &points].concat())?;
            Ok((provider, company))
        };
        let providers = (0..providers).map(create).collect::<Result<Vec<_>>>()?;
        let (provider, _) = providers.first().context("no provider")?;
        let probe = provider.get_request("/v1/companies");
        instances.iter_mut().for_each(|instance| instance.probe.clone_from(&probe));
        Ok(Self { pair, url, instances, providers })
    }

    pub(super) fn api_keys(&self) -> impl Iterator<Item = String> {
        let credentials = self.providers.iter().map(|(provider, _)| &provider.credentials);
        credentials.filter_map(|credentials| Some(credentials.split_once(':')?.0.to_owned()))
    }

    /// The addresses and certificates for the router.
    pub(super) fn routed(&self) -> Result<RoutedCell> {
        let [first, second] = self.instances.as_slice() else { anyhow::bail!("a cell has two instances") };
        let endpoint = |instance: &Instance| {
            (instance.service.https().address(), instance.service.data_folder().to_owned())
        };
        Ok(RoutedCell { instances: [endpoint(first), endpoint(second)] })
    }

    /// The targets of the load, and the instances to restart during the load.
    pub(super) fn split_instances(&mut self, router: &CellRouter) -> (Vec<LoadTarget<'_>>, &mut [Instance]) {
        (targets_of(&self.providers, router), &mut self.instances)
    }

    /// The targets of the load, and the servers to fail over during the load.
    pub(super) fn split_pair(&mut self, router: &CellRouter) -> (Vec<LoadTarget<'_>>, &mut ServerPair) {
        (targets_of(&self.providers, router), &mut self.pair)
    }

    pub(super) fn ledger(&self) -> Ledger {
        Ledger::new(self.pair.sql_client(&self.url))
    }

    /// Verifies the ledger. Fails if an instance has panicked.
    pub(super) fn verify(&self) -> Result<()> {
        for Instance { service, .. } in &self.instances {
            service.check_health().context("an instance is no longer running")?;
            let log = service.read_log();
            ensure!(!log.contains("panicked"), "the service panicked:\n{log}");
        }
        self.instances.first().context("no instance")?.service.run_cli(&["verify"]).map(drop)
    }
}

fn targets_of<'a>(providers: &'a [(Provider, Company)], router: &CellRouter) -> Vec<LoadTarget<'a>> {
    let target = |(provider, company): &'a (Provider, Company)| LoadTarget {
        endpoints: vec![router.https().clone()],
        provider,
        company,
    };
    providers.iter().map(target).collect()
}
