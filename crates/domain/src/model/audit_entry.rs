//! What the audit log tells.

use uuid::Uuid;

use super::By;
use crate::values::{CompanyId, ProviderId, Timestamp, stored};

stored! {
    /// What was done, by its name in the audit log.
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
        WalletReplaced => 18, "wallet.override";
        /// What the wallets held went back to the reserve.
        UserDeleted => 19, "user.delete";
        /// What was known of a deleted user was erased.
        UserErased => 20, "user.erase";
        UsersImported => 21, "import.users";
        /// An occasion that every provider can use.
        GlobalOccasionCreated => 22, "occasion.create-global";
        GlobalOccasionChanged => 23, "occasion.set-global";
        GlobalOccasionDeleted => 24, "occasion.delete-global";
        EventsReplayed => 25, "event.replay";
        MailsRetried => 26, "mail.retry";
        /// Maintenance was turned on or off.
        MaintenanceTurned => 27, "maintenance";
        Pruned => 28, "prune";
        /// A mail was sent to see whether mails go.
        MailTested => 29, "mail.test";
        /// A provider was sent an event that tells of nothing.
        ExampleSent => 30, "webhook.send-example";
        /// A copy of the embedded database was begun.
        BackupBegun => 31, "backup";
    }
}

/// One thing that was done: by whom, when, to what. Written in the transaction that did it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditEntry {
    pub id: Uuid,
    pub at: Timestamp,
    pub by: By,
    pub action: Action,
    pub company_id: Option<CompanyId>,
    /// Whose it is, or which provider it is about.
    pub provider_id: Option<ProviderId>,
    /// What it was done to, where that is neither the company nor the provider.
    pub object_id: Option<Uuid>,
    /// The rest in words, on one line; never a secret, nor anybody's name.
    pub detail: String,
}

impl AuditEntry {
    /// What it was done to: the object, or the provider where it is about no company.
    pub fn object_or_provider(&self) -> Option<Uuid> {
        let provider = self.provider_id.filter(|_| self.company_id.is_none());
        self.object_id.or(provider.map(|it| it.as_uuid()))
    }

    #[must_use]
    pub fn of_company(self, id: CompanyId) -> Self {
        Self { company_id: Some(id), ..self }
    }

    #[must_use]
    pub fn of_provider(self, id: ProviderId) -> Self {
        Self { provider_id: Some(id), ..self }
    }

    #[must_use]
    pub fn about(self, object: Uuid) -> Self {
        Self { object_id: Some(object), ..self }
    }

    #[must_use]
    pub fn saying(self, detail: impl Into<String>) -> Self {
        Self { detail: detail.into(), ..self }
    }
}
