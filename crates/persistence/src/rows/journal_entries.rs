//! Journal entries.

use std::borrow::Cow;

use diesel::prelude::*;
use guerdon_domain::journal::{Actor, EntryKind, JournalEntry, Requester, ScheduledDate, SentRecognition};
use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::ports::StoreError;
use guerdon_domain::recognitions::Sender;
use guerdon_domain::values::{
    CompanyId, IsoDate, JournalEntryId, Message, OccasionId, ProviderId, checked_cast,
};
use guerdon_domain::wallets::WalletType;

use super::companies::rate_column;
use super::schema::journal_entries;
use super::seals::SealChain;
use super::{DbTimestamp, Id, RowReader, declare_row};

/// The stored numbers of the kinds of entries.
pub(crate) mod kind {
    use guerdon_domain::audit_log::Action;
    use guerdon_domain::events::{EventKind, EventSubject};

    pub(crate) const COMPANY_CREATION: i16 = 1;
    pub(crate) const RATE_CHANGE: i16 = 2;
    pub(crate) const COMPANY_TRANSFER: i16 = 3;
    pub(crate) const RECOGNITION: i16 = 4;
    pub(crate) const AMENDMENT: i16 = 5;
    pub(crate) const DEPOSIT: i16 = 6;
    pub(crate) const DISTRIBUTION: i16 = 7;
    pub(crate) const REDEMPTION: i16 = 8;
    pub(crate) const REFUND: i16 = 9;
    pub(crate) const OVERRIDE: i16 = 10;
    pub(crate) const DELETION: i16 = 11;
    pub(crate) const WITHDRAWAL: i16 = 12;

    /// The kind of the journal entries that are reported by events of this kind, with one event for each entry.
    /// `None` if the events report its recognitions instead.
    pub(crate) fn reported_by(event: EventKind) -> Option<i16> {
        match event.subject() {
            EventSubject::SentRecognition => None,
            EventSubject::AmendedRecognition | EventSubject::User => from_action(event.action()),
        }
    }

    /// The kind that the audit log lists as this action; `None` if no journal entry records the action.
    pub(crate) fn from_action(action: Action) -> Option<i16> {
        Some(match action {
            Action::CompanyCreated => COMPANY_CREATION,
            Action::RateChanged => RATE_CHANGE,
            Action::CompanyTransferred => COMPANY_TRANSFER,
            Action::RecognitionSent => RECOGNITION,
            Action::RecognitionUpdated => AMENDMENT,
            Action::Deposited => DEPOSIT,
            Action::Distributed => DISTRIBUTION,
            Action::Redeemed => REDEMPTION,
            Action::Refunded => REFUND,
            Action::BalanceOverridden => OVERRIDE,
            Action::UserDeleted => DELETION,
            Action::Withdrawn => WITHDRAWAL,
            _ => return None,
        })
    }
}

declare_row! {
    #[derive(Queryable, Selectable, Insertable)]
    struct JournalEntryRow<'a> in journal_entries {
        id: Id<JournalEntryId>,
        company_id: Id<CompanyId>,
        provider_id: Id<ProviderId>,
        kind: i16,
        actor: i16,
        reference: Option<Cow<'a, str>>,
        idempotency_key: Option<Cow<'a, str>>,
        points_per_dollar: i32,
        points: i64,
        legs: i32,
        wallet: Option<i16>,
        subject_id: Option<Id>,
        occasion_id: Option<Id<OccasionId>>,
        due_on: Option<String>,
        share: Option<bool>,
        message: Option<Cow<'a, str>>,
        created_at: DbTimestamp,
    }
}

impl<'a> JournalEntryRow<'a> {
    pub(crate) fn from_entry(entry: &'a JournalEntry) -> Self {
        let (kind, subject, points) = match &entry.kind {
            EntryKind::CompanyCreation => (kind::COMPANY_CREATION, None, None),
            EntryKind::RateChange => (kind::RATE_CHANGE, None, None),
            EntryKind::CompanyTransfer { to } => (kind::COMPANY_TRANSFER, Some(to.as_uuid()), None),
            EntryKind::Recognition(sent) => (kind::RECOGNITION, Some(sent.sender.id()), Some(sent.points)),
            EntryKind::Amendment { recognition, .. } => (kind::AMENDMENT, Some(recognition.as_uuid()), None),
            EntryKind::Deposit { points } => (kind::DEPOSIT, None, Some(*points)),
            EntryKind::Withdrawal { points } => (kind::WITHDRAWAL, None, Some(*points)),
            EntryKind::Distribution { points, date, .. } => {
                (kind::DISTRIBUTION, date.map(|date| date.schedule.as_uuid()), Some(*points))
            }
            EntryKind::Redemption { user, points } => (kind::REDEMPTION, Some(user.as_uuid()), Some(*points)),
            EntryKind::Refund { redemption, points } => {
                (kind::REFUND, Some(redemption.as_uuid()), Some(*points))
            }
            EntryKind::Override { user, points, .. } => (kind::OVERRIDE, Some(user.as_uuid()), Some(*points)),
            EntryKind::UserDeletion { user, .. } => (kind::DELETION, Some(user.as_uuid()), None),
        };
        let row = Self {
            id: Id(entry.id),
            company_id: Id(entry.company_id),
            provider_id: Id(entry.provider_id),
            kind,
            actor: entry.requester.actor.code(),
            reference: entry.requester.reference.as_deref().map(Cow::Borrowed),
            idempotency_key: entry.requester.key.as_deref().map(Cow::Borrowed),
            points_per_dollar: rate_column(entry.rate),
            points: points.map_or(0, Points::get),
            legs: checked_cast(entry.kind.leg_count()),
            wallet: None,
            subject_id: subject.map(Id),
            occasion_id: None,
            due_on: None,
            share: None,
            message: None,
            created_at: DbTimestamp(entry.created_at),
        };
        row.with_columns_of(&entry.kind)
    }

    /// Fills the columns that only some kinds of entries have.
    fn with_columns_of(self, entry_kind: &'a EntryKind) -> Self {
        match entry_kind {
            EntryKind::Recognition(sent) => Self {
                occasion_id: Some(Id(sent.occasion_id)),
                share: Some(sent.share),
                message: Some(Cow::Borrowed(sent.message.as_str())),
                ..self
            },
            EntryKind::Amendment { message, share, .. } => Self {
                share: *share,
                message: message.as_ref().map(|message| Cow::Borrowed(message.as_str())),
                ..self
            },
            EntryKind::Distribution { wallet, date, .. } => {
                Self { wallet: Some(wallet.code()), due_on: date.map(|date| date.due_on.to_string()), ..self }
            }
            EntryKind::Override { wallet, .. } => Self { wallet: Some(wallet.code()), ..self },
            EntryKind::CompanyCreation
            | EntryKind::RateChange
            | EntryKind::CompanyTransfer { .. }
            | EntryKind::Deposit { .. }
            | EntryKind::Withdrawal { .. }
            | EntryKind::Redemption { .. }
            | EntryKind::Refund { .. }
            | EntryKind::UserDeletion { .. } => self,
        }
    }

    /// The recorded number of legs.
    pub(crate) fn leg_count(&self) -> usize {
        usize::try_from(self.legs).unwrap_or(0)
    }

    /// The recorded id of the refunded redemption.
    pub(crate) fn refunded_redemption(&self) -> Option<Id<JournalEntryId>> {
        self.subject_id.filter(|_| self.kind == kind::REFUND).map(|subject| Id(subject.0.into()))
    }

    /// Adds the whole row to the hash chain. Its transfers and its recognitions follow.
    pub(crate) fn chain_to(&self, chain: &mut SealChain) {
        let Self {
            id,
            company_id,
            provider_id,
            kind,
            actor,
            reference,
            idempotency_key,
            points_per_dollar,
            subject_id,
            occasion_id,
            wallet,
            points,
            share,
            message,
            due_on,
            legs,
            created_at,
        } = self;
        chain.add_bytes(Some(id.0));
        chain.add_bytes(Some(company_id.0));
        chain.add_bytes(Some(provider_id.0));
        chain.add_bytes(reference.as_deref());
        chain.add_bytes(idempotency_key.as_deref());
        chain.add_bytes(subject_id.map(|subject_id| subject_id.0));
        chain.add_bytes(occasion_id.map(|occasion_id| occasion_id.0));
        chain.add_bytes(due_on.as_deref());
        chain.add_digest(message.as_deref());
        chain.add_number(*kind);
        chain.add_number(*actor);
        chain.add_number(*points_per_dollar);
        chain.add_number(*points);
        chain.add_number(*legs);
        chain.add_number(wallet.unwrap_or(0));
        chain.add_number(share.map_or(-1, i64::from));
        chain.add_number(created_at.0.unix_micros());
    }

    pub(crate) fn to_journal_entry(&self) -> Result<JournalEntry, StoreError> {
        let reader = RowReader { table: "journal_entries", id: &self.id.0 };
        let kind = self.to_entry_kind(&reader)?;
        let rate = PointsPerDollar::new(self.points_per_dollar.into());
        Ok(JournalEntry {
            id: self.id.0,
            company_id: self.company_id.0,
            provider_id: self.provider_id.0,
            kind,
            requester: Requester {
                actor: reader.require_valid("actor", Actor::from_code(self.actor))?,
                reference: self.reference.as_deref().map(str::to_owned),
                key: self.idempotency_key.as_deref().map(str::to_owned),
            },
            rate: reader.require_valid("points_per_dollar", rate)?,
            created_at: self.created_at.0,
        })
    }

    fn to_entry_kind(&self, reader: &RowReader<'_>) -> Result<EntryKind, StoreError> {
        let subject = || reader.require_valid("subject_id", self.subject_id.map(|subject_id| subject_id.0));
        let wallet = || {
            let found = self.wallet.and_then(WalletType::from_code);
            reader.require_valid("wallet", found)
        };
        let points = reader.require_valid("points", Points::new(self.points))?;
        let legs = reader.require_valid("legs", u32::try_from(self.legs).ok())?;
        Ok(match self.kind {
            kind::COMPANY_CREATION => EntryKind::CompanyCreation,
            kind::RATE_CHANGE => EntryKind::RateChange,
            kind::COMPANY_TRANSFER => EntryKind::CompanyTransfer { to: subject()?.into() },
            kind::RECOGNITION => EntryKind::Recognition(self.to_sent_recognition(reader, points, legs)?),
            kind::AMENDMENT => EntryKind::Amendment {
                recognition: subject()?.into(),
                message: reader.parse_nullable("message", self.message.as_deref(), Message::parse)?,
                share: self.share,
            },
            kind::DEPOSIT => EntryKind::Deposit { points },
            kind::WITHDRAWAL => EntryKind::Withdrawal { points },
            kind::DISTRIBUTION => EntryKind::Distribution {
                wallet: wallet()?,
                points,
                receivers: legs,
                date: self.scheduled_date(reader)?,
            },
            kind::REDEMPTION => EntryKind::Redemption { user: subject()?.into(), points },
            kind::REFUND => EntryKind::Refund { redemption: subject()?.into(), points },
            kind::OVERRIDE => EntryKind::Override { user: subject()?.into(), wallet: wallet()?, points },
            kind::DELETION => EntryKind::UserDeletion { user: subject()?.into(), wallets: legs },
            _ => return Err(reader.corrupt_column("kind")),
        })
    }

    fn to_sent_recognition(
        &self,
        reader: &RowReader<'_>,
        points: Points,
        receivers: u32,
    ) -> Result<SentRecognition, StoreError> {
        let sender = reader.require_valid("subject_id", self.subject_id)?;
        Ok(SentRecognition {
            sender: sender_of(sender, self.company_id),
            occasion_id: reader.require_valid("occasion_id", self.occasion_id)?.0,
            points,
            receivers,
            message: reader.parse_column(
                "message",
                reader.require_valid("message", self.message.as_deref())?,
                Message::parse,
            )?,
            share: reader.require_valid("share", self.share)?,
        })
    }

    fn scheduled_date(&self, reader: &RowReader<'_>) -> Result<Option<ScheduledDate>, StoreError> {
        let due_on = reader.parse_nullable("due_on", self.due_on.as_deref(), IsoDate::parse)?;
        let schedule = self.subject_id.map(|subject_id| subject_id.0.into());
        Ok(due_on.zip(schedule).map(|(due_on, schedule)| ScheduledDate { schedule, due_on }))
    }
}

/// Converts a stored sender id: either the id of the company itself, or the id of a user.
pub(super) fn sender_of(sender: Id, company: Id<CompanyId>) -> Sender {
    if sender.0 == company.0.as_uuid() { Sender::Company(company.0) } else { Sender::User(sender.0.into()) }
}
