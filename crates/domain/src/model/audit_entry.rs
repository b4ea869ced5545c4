//! Entries of the audit log.

use uuid::Uuid;

use super::Requester;
use crate::values::{CompanyId, ProviderId, Timestamp, stored_enum};

stored_enum! {
    /// An audited action, by its name in the audit log.
    enum Action {
        ProviderCreated => 1, "provider.create";
        ProviderChanged => 2, "provider.set";
        /// A secret was replaced.
        SecretRotated => 3, "provider.rotate";
        CompanyCreated => 4, "company.create";
        OptionsSet => 5, "company.options";
        RateChanged => 6, "company.rate";
        CompanyTransferred => 7, "company.transfer";
        SamlChanged => 8, "saml.update";
        RecognitionSent => 9, "recognition.create";
        RecognitionUpdated => 10, "recognition.update";
        Deposited => 11, "reserve.deposit";
        Withdrawn => 12, "reserve.withdraw";
        Distributed => 13, "distribution.run";
        ScheduleCreated => 14, "distribution.schedule";
        ScheduleCancelled => 15, "distribution.cancel";
        Redeemed => 16, "redemption.create";
        Refunded => 17, "redemption.refund";
        BalanceOverridden => 18, "wallet.override";
        /// The wallets were emptied into the reserve.
        UserDeleted => 19, "user.delete";
        /// The personal data of a deleted user was erased.
        UserErased => 20, "user.erase";
        UsersImported => 21, "import.users";
        /// An occasion that every provider can use was created.
        GlobalOccasionCreated => 22, "occasion.create-global";
        GlobalOccasionChanged => 23, "occasion.set-global";
        GlobalOccasionDeleted => 24, "occasion.delete-global";
        EventsReplayed => 25, "event.replay";
        MailsRetried => 26, "mail.retry";
        /// Maintenance mode was turned on or off.
        MaintenanceModeChanged => 27, "maintenance";
        Pruned => 28, "prune";
        /// A test email was about to be sent.
        MailTested => 29, "mail.test";
        /// An example event was about to be sent to a provider.
        ExampleSent => 30, "webhook.send-example";
        /// A backup of the embedded database was started.
        BackupStarted => 31, "backup";
        /// The company was closed here, to be opened in another cell.
        CompanyHandedOver => 32, "company.export";
        /// The company of an archive was opened here, or the archive was refused.
        CompanyImported => 33, "company.import";
        /// A company that was handed over was opened here again.
        CompanyReopened => 34, "company.reopen";
        /// The end of a backup was recorded.
        BackupRecorded => 35, "backup.record";
    }
}

/// A record of one action: who, when, and on what. Written in the transaction of the action.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub id: Uuid,
    pub at: Timestamp,
    pub requester: Requester,
    pub action: Action,
    pub company_id: Option<CompanyId>,
    /// The provider that owns the object, or the provider that the action is about.
    pub provider_id: Option<ProviderId>,
    /// The object of the action, if it is neither the company nor the provider.
    pub object_id: Option<Uuid>,
    /// Details in one line. They never contain a secret or a personal name.
    pub detail: String,
}

impl AuditEntry {
    /// The object of the action; or the provider, if the action is not about a company.
    pub fn object_or_provider(&self) -> Option<Uuid> {
        let provider = self.provider_id.filter(|_| self.company_id.is_none());
        self.object_id.or(provider.map(|provider| provider.as_uuid()))
    }

    #[must_use]
    pub fn with_company(self, id: CompanyId) -> Self {
        Self { company_id: Some(id), ..self }
    }

    #[must_use]
    pub fn with_provider(self, id: ProviderId) -> Self {
        Self { provider_id: Some(id), ..self }
    }

    #[must_use]
    pub fn with_object(self, object: Uuid) -> Self {
        Self { object_id: Some(object), ..self }
    }

    #[must_use]
    pub fn with_detail(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }
}
