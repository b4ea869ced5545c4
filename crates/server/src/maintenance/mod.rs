//! Maintenance: the status of the running service, verification of the ledger and the stored secrets, backups,
//! retention, sealing, the record of failed requests.

mod backup_record;
mod daily_verification;
mod failed_requests;
mod pacer;
mod prune_record;
pub(crate) mod retention;
pub(crate) mod sealing;
mod status;
mod stored_record;
mod verification;
mod verification_record;

pub(crate) use backup_record::{load_last_backup, record_backup};
pub(crate) use daily_verification::DailyVerification;
pub(crate) use failed_requests::FailedRequestWriter;
pub(crate) use prune_record::{DeletedCounts, PruneRecord};
pub(crate) use status::{ServiceStatus, StatusSources};
pub(crate) use verification::{VerificationOptions, verify_database};
pub(crate) use verification_record::{CheckedCounts, VerificationRecord};

use guerdon_domain::ports::{ReadTx, StoreError, Timestamp};

/// The records of the latest verification and prune, and when the latest backup ended.
pub(crate) struct LatestRecords {
    pub(crate) verification: Option<VerificationRecord>,
    pub(crate) prune: Option<PruneRecord>,
    pub(crate) backup_at: Option<Timestamp>,
}

impl LatestRecords {
    pub(crate) fn load(reads: &mut dyn ReadTx) -> Result<Self, StoreError> {
        Ok(Self {
            verification: VerificationRecord::load(reads)?,
            prune: PruneRecord::load(reads)?,
            backup_at: load_last_backup(reads)?,
        })
    }
}
