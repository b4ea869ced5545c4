//! The status of the running service, as `guerdon status` and the console show it.

use std::net::SocketAddr;
use std::sync::atomic::AtomicI64;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use guerdon_domain::notifications::Channel;
use guerdon_domain::ports::{Clock as _, Seal, Setting, Store, StoreError, StoreExt, Timestamp};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use url::Url;

use super::{CheckedCounts, DeletedCounts, LatestRecords, PruneRecord, VerificationRecord};
use crate::platform::SystemClock;
use crate::platform::build_info::LONG_VERSION;
use crate::settings::{Settings, Tls};
use crate::tls::ReloadingCertificate;

/// The sources of the status.
pub(crate) struct StatusSources {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) started_at: Instant,
    /// The URL of the database, without passwords.
    pub(crate) database: String,
    pub(crate) listen: SocketAddr,
    /// The configured address. [`Self::operator_address`] is the actual one, set when the service listens (port 0).
    pub(crate) operator_listen: SocketAddr,
    pub(crate) operator_address: OnceLock<SocketAddr>,
    pub(crate) certificate: Option<Arc<ReloadingCertificate>>,
    /// Whether the certificate is self-signed.
    pub(crate) is_self_signed: bool,
    /// The host name under which clients reach the service.
    pub(crate) instance: String,
    pub(crate) cell: Option<String>,
    /// How many companies have accounts that do not sum to zero, as of the last check.
    pub(crate) unbalanced_companies: Arc<AtomicI64>,
}

/// The status of a service, as it is serialized.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ServiceStatus {
    pub(crate) version: String,
    /// `None` if there is only one cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cell: Option<String>,
    pub(crate) uptime_seconds: u64,
    pub(crate) database: String,
    pub(crate) listen: String,
    pub(crate) operator_listen: String,
    pub(crate) maintenance: bool,
    pub(crate) events_pending: i64,
    /// `None` if no event is pending.
    pub(crate) oldest_event_seconds: Option<i64>,
    pub(crate) mails_waiting: i64,
    /// `None` behind a proxy.
    pub(crate) certificate_expires_at: Option<String>,
    /// `None` before the first seal.
    pub(crate) seal: Option<SealStatus>,
    /// The points that unfinished distributions hold; `None` if all are finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) in_transit: Option<InTransitStatus>,
    /// `None` if the ledger was never verified.
    #[serde(default)]
    pub(crate) last_verification: Option<VerificationStatus>,
    /// `None` if no prune has ended yet.
    #[serde(default)]
    pub(crate) last_prune: Option<PruneStatus>,
    /// `None` if no backup was recorded.
    #[serde(default)]
    pub(crate) last_backup_at: Option<String>,
}

/// The latest verification of the ledger.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct VerificationStatus {
    /// When it ended.
    pub(crate) at: String,
    pub(crate) duration_ms: u64,
    pub(crate) ok: bool,
    /// How many violations it found.
    pub(crate) violations: u64,
    /// How many rows it read.
    pub(crate) checked: CheckedCounts,
}

impl VerificationStatus {
    /// `None` if the stored time is invalid.
    fn from_record(record: &VerificationRecord) -> Option<Self> {
        Some(Self {
            at: record.ended_at()?.to_string(),
            duration_ms: u64::try_from(record.duration().as_millis()).unwrap_or(u64::MAX),
            ok: record.violations == 0,
            violations: record.violations,
            checked: record.checked,
        })
    }
}

/// The latest prune.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct PruneStatus {
    /// When it ended.
    pub(crate) at: String,
    pub(crate) deleted: DeletedCounts,
}

impl PruneStatus {
    /// `None` if the stored time is invalid.
    fn from_record(record: &PruneRecord) -> Option<Self> {
        Some(Self { at: record.ended_at()?.to_string(), deleted: record.deleted })
    }
}

/// The unfinished distributions.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct InTransitStatus {
    pub(crate) distributions: usize,
    /// The points that these distributions have taken from reserves but not yet paid to users.
    pub(crate) points: i64,
}

/// The latest seal.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct SealStatus {
    pub(crate) sequence: i64,
    pub(crate) at: String,
}

impl StatusSources {
    /// Creates the sources of a service that starts now with these settings.
    pub(crate) fn from_settings(settings: &Settings, store: &Arc<dyn Store>) -> Self {
        let url = Url::parse(&settings.service_url).ok();
        let host = url.and_then(|url| url.host_str().map(str::to_owned));
        Self {
            store: Arc::clone(store),
            started_at: Instant::now(),
            database: settings.masked_database_url(),
            listen: settings.http.listen,
            operator_listen: settings.operator_listen,
            operator_address: OnceLock::new(),
            certificate: None,
            is_self_signed: settings.http.tls == Tls::SelfSigned,
            instance: host.unwrap_or_else(|| settings.service_url.clone()),
            cell: settings.cell.clone(),
            unbalanced_companies: Arc::default(),
        }
    }

    /// Reads the current status. Fails if the database is unavailable.
    pub(crate) fn read_status(&self) -> Result<ServiceStatus, StoreError> {
        let (maintenance, depth, mails, seal, unfinished) =
            self.store.read_snapshot(|reads| -> Result<_, StoreError> {
                let maintenance = reads.get_setting(Setting::Maintenance)?;
                Ok((
                    maintenance,
                    reads.outbox_statistics()?,
                    reads.count_unsent_notifications(Channel::Mail)?,
                    reads.last_seal()?,
                    reads.unfinished_distributions()?,
                ))
            })?;
        let LatestRecords { verification, prune, backup_at } =
            self.store.read_snapshot(LatestRecords::load)?;
        let now = SystemClock.now();
        let age = |at: Timestamp| (now - at).whole_seconds().max(0);
        Ok(ServiceStatus {
            version: LONG_VERSION.to_owned(),
            cell: self.cell.clone(),
            uptime_seconds: self.started_at.elapsed().as_secs(),
            database: self.database.clone(),
            listen: self.listen.to_string(),
            operator_listen: self.operator_address.get().unwrap_or(&self.operator_listen).to_string(),
            maintenance: maintenance.as_deref() == Some(Setting::ON),
            events_pending: depth.pending,
            oldest_event_seconds: depth.oldest_created_at.map(age),
            mails_waiting: mails.waiting,
            certificate_expires_at: self.certificate_expires_at().map(|end| Timestamp::new(end).to_string()),
            seal: seal
                .map(|seal: Seal| SealStatus { sequence: seal.sequence, at: seal.created_at.to_string() }),
            in_transit: (!unfinished.distributions.is_empty()).then_some(InTransitStatus {
                distributions: unfinished.distributions.len(),
                points: unfinished.points,
            }),
            last_verification: verification.as_ref().and_then(VerificationStatus::from_record),
            last_prune: prune.as_ref().and_then(PruneStatus::from_record),
            last_backup_at: backup_at.map(|at| at.to_string()),
        })
    }

    /// When the certificate expires; `None` behind a proxy.
    pub(crate) fn certificate_expires_at(&self) -> Option<OffsetDateTime> {
        let seconds = self.certificate.as_ref()?.expires_at()?;
        OffsetDateTime::from_unix_timestamp(seconds).ok()
    }
}
