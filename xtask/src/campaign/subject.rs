//! A service under load whose data outlives its process.

use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use guerdon_test_harness::WebhookReceiver;
use tempfile::TempDir;

use super::context::{Setup, temporary_folder};
use super::load::LoadTarget;
use super::sql::SqlClient;
use crate::measurement::fixture::{Company, Provider};
use crate::measurement::service::RunningService;
use crate::postgres::{Cluster, ServerDatabase};

const DATABASE: &str = "campaign";
const USERS: usize = 200;
/// The points in the peer wallet of each user, more than any campaign spends.
const POINTS: &str = "1000000";

/// A service with a provider and a company whose users send recognitions.
pub(super) struct Subject {
    pub(super) service: RunningService,
    pub(super) provider: Provider,
    pub(super) company: Company,
    cluster: Option<Cluster>,
    _folder: TempDir,
}

impl Subject {
    /// Starts a service that delivers its events to this receiver, with a new database.
    pub(super) fn start(setup: &Setup<'_>, receiver: &WebhookReceiver) -> Result<Self> {
        let cluster = setup.database.start_cluster(setup.workspace)?;
        let database = cluster.as_ref().map(|cluster| cluster.create_service_database(DATABASE));
        Ok(Self { cluster, ..Self::start_on(setup, receiver, database.transpose()?)? })
    }

    /// Starts a service on a new embedded database, unless another is given.
    pub(super) fn start_on(
        setup: &Setup<'_>,
        receiver: &WebhookReceiver,
        database: Option<ServerDatabase>,
    ) -> Result<Self> {
        Self::start_with(setup, receiver, database, &[])
    }

    /// Like [`Self::start_on`], with additional settings.
    pub(super) fn start_with(
        setup: &Setup<'_>,
        receiver: &WebhookReceiver,
        database: Option<ServerDatabase>,
        extra_settings: &[(&str, String)],
    ) -> Result<Self> {
        let folder = temporary_folder()?;
        let (data, scratch) = (folder.path().join("data"), folder.path().join("scratch"));
        std::fs::create_dir(&data)?;
        let service = RunningService::start_in(setup.program, &data, &scratch, database, extra_settings)?;
        let (provider, company) = create_company(&service, receiver)?;
        Ok(Self { service, provider, company, cluster: None, _folder: folder })
    }

    pub(super) fn target(&self) -> LoadTarget<'_> {
        LoadTarget {
            endpoints: vec![self.service.https().clone()],
            provider: &self.provider,
            company: &self.company,
        }
    }

    /// Returns a client of the service's database.
    pub(super) fn sql_client(&self, setup: &Setup<'_>) -> Result<SqlClient> {
        match &self.cluster {
            Some(cluster) => Ok(SqlClient::for_cluster(cluster, DATABASE)),
            None => SqlClient::for_file(setup.workspace, &self.service.installation().database_file()),
        }
    }

    /// Starts the killed service again. Returns the time until it serves a request.
    pub(super) fn restart(&mut self) -> Result<Duration> {
        let user = self.provider.get_request(&format!("/v1/users/{}", self.company.user_id(0)));
        self.service.restart(&user)
    }

    /// Deletes all files of the killed service.
    pub(super) fn delete_data(&mut self) -> Result<()> {
        self.service.wait_for_exit()?;
        let data = self.service.data_folder();
        std::fs::remove_dir_all(data)?;
        Ok(std::fs::create_dir(data)?)
    }

    /// Fails if the service panicked since its last start.
    pub(super) fn check_log(&self) -> Result<()> {
        let log = self.service.read_log();
        ensure!(!log.contains("panicked"), "the service panicked:\n{log}");
        Ok(())
    }

    /// Verifies the ledger. Fails if it is damaged, or if the service panicked since its last start.
    pub(super) fn verify(&self) -> Result<()> {
        self.check_log()?;
        self.service.run_cli(&["verify"]).map(drop)
    }
}

/// Creates a provider that receives events, and a company whose users have points.
pub(super) fn create_company(
    service: &RunningService,
    receiver: &WebhookReceiver,
) -> Result<(Provider, Company)> {
    let provider = Provider::create(service, Some(&receiver.named_url()))?;
    let company = Company::create(service, &provider, "campaign", USERS)?;
    service
        .run_cli(&["distribution", "run", &company.id, "--wallet", "peer_wallet", "--points", POINTS])
        .context("distributing points")?;
    Ok((provider, company))
}
