//! Journal entries.

use std::borrow::Cow;

use diesel::prelude::*;
use guerdon_domain::journal::{Act, Actor, By, JournalEntry, ScheduledDate, Sending};
use guerdon_domain::money::{Points, PointsPerDollar};
use guerdon_domain::ports::StoreError;
use guerdon_domain::recognitions::Sender;
use guerdon_domain::values::{CompanyId, IsoDate, JournalEntryId, Message, OccasionId, ProviderId, fit};
use guerdon_domain::wallets::{AccountKind, WalletType};
use uuid::Uuid;

use super::Reading;
use super::columns::row;
use super::companies::rate_column;
use super::schema::journal_entries;
use super::seals::Chain;
use super::types::{At, Id};

/// The stored numbers of the kinds of entries.
pub(crate) mod kind {
    use guerdon_domain::audit_log::Action;

    pub(crate) const FOUNDING: i16 = 1;
    pub(crate) const RATE: i16 = 2;
    pub(crate) const MOVE: i16 = 3;
    pub(crate) const SENDING: i16 = 4;
    pub(crate) const AMENDMENT: i16 = 5;
    pub(crate) const DEPOSIT: i16 = 6;
    pub(crate) const DISTRIBUTION: i16 = 7;
    pub(crate) const REDEMPTION: i16 = 8;
    pub(crate) const REFUND: i16 = 9;
    pub(crate) const OVERRIDE: i16 = 10;
    pub(crate) const DELETION: i16 = 11;
    pub(crate) const WITHDRAWAL: i16 = 12;

    /// The kind that the audit log lists as this action; `None` if no journal entry records the action.
    pub(crate) fn of(action: Action) -> Option<i16> {
        Some(match action {
            Action::CompanyCreated => FOUNDING,
            Action::RateChanged => RATE,
            Action::CompanyTransferred => MOVE,
            Action::RecognitionSent => SENDING,
            Action::RecognitionUpdated => AMENDMENT,
            Action::Deposited => DEPOSIT,
            Action::Distributed => DISTRIBUTION,
            Action::Redeemed => REDEMPTION,
            Action::Refunded => REFUND,
            Action::WalletReplaced => OVERRIDE,
            Action::UserDeleted => DELETION,
            Action::Withdrawn => WITHDRAWAL,
            _ => return None,
        })
    }
}

row! {
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
        created_at: At,
    }
}

impl<'a> JournalEntryRow<'a> {
    pub(crate) fn of(it: &'a JournalEntry) -> Self {
        let bare = Self {
            id: Id(it.id),
            company_id: Id(it.company_id),
            provider_id: Id(it.provider_id),
            kind: kind::FOUNDING,
            actor: it.by.actor.code(),
            reference: it.by.reference.as_deref().map(Cow::Borrowed),
            idempotency_key: it.by.key.as_deref().map(Cow::Borrowed),
            points_per_dollar: rate_column(it.rate),
            points: 0,
            legs: fit(it.act.legs()),
            wallet: None,
            subject_id: None,
            occasion_id: None,
            due_on: None,
            share: None,
            message: None,
            created_at: At(it.created_at),
        };
        bare.saying(&it.act)
    }

    fn saying(self, act: &'a Act) -> Self {
        let about = |id: Uuid| Some(Id(id));
        match act {
            Act::Founding => self,
            Act::Rate => Self { kind: kind::RATE, ..self },
            Act::Move { to } => Self { kind: kind::MOVE, subject_id: about(to.as_uuid()), ..self },
            Act::Sending(it) => Self {
                kind: kind::SENDING,
                subject_id: about(it.sender.id()),
                occasion_id: Some(Id(it.occasion_id)),
                points: it.points.get(),
                share: Some(it.share),
                message: Some(Cow::Borrowed(it.message.as_str())),
                ..self
            },
            Act::Amendment { recognition, message, share } => Self {
                kind: kind::AMENDMENT,
                subject_id: about(recognition.as_uuid()),
                share: *share,
                message: message.as_ref().map(|message| Cow::Borrowed(message.as_str())),
                ..self
            },
            Act::Deposit { points } => Self { kind: kind::DEPOSIT, points: points.get(), ..self },
            Act::Withdrawal { points } => Self { kind: kind::WITHDRAWAL, points: points.get(), ..self },
            Act::Distribution { wallet, points, date, .. } => Self {
                kind: kind::DISTRIBUTION,
                subject_id: date.map(|date| Id(date.schedule.as_uuid())),
                due_on: date.map(|date| date.due_on.to_string()),
                wallet: Some(wallet.kind().code()),
                points: points.get(),
                ..self
            },
            Act::Redemption { user, points } => Self {
                kind: kind::REDEMPTION,
                subject_id: about(user.as_uuid()),
                points: points.get(),
                ..self
            },
            Act::Refund { redemption, points } => Self {
                kind: kind::REFUND,
                subject_id: about(redemption.as_uuid()),
                points: points.get(),
                ..self
            },
            Act::Override { user, wallet, points } => Self {
                kind: kind::OVERRIDE,
                subject_id: about(user.as_uuid()),
                wallet: Some(wallet.kind().code()),
                points: points.get(),
                ..self
            },
            Act::Deletion { user, .. } => {
                Self { kind: kind::DELETION, subject_id: about(user.as_uuid()), ..self }
            }
        }
    }

    /// Whether recognitions belong to it.
    pub(crate) fn is_sending(&self) -> bool {
        self.kind == kind::SENDING
    }

    /// The number of legs that it states.
    pub(crate) fn legs(&self) -> usize {
        usize::try_from(self.legs).unwrap_or(0)
    }

    /// Whether it states that it is public.
    pub(crate) fn shares(&self) -> Option<bool> {
        self.share
    }

    /// The journal entry of the redemption that it states to refund.
    pub(crate) fn refunds(&self) -> Option<Id<JournalEntryId>> {
        self.subject_id.filter(|_| self.kind == kind::REFUND).map(|subject| Id(subject.0.into()))
    }

    /// Chains the whole row. Its transfers and its recognitions follow.
    pub(crate) fn seal(&self, chain: &mut Chain) {
        fn text<'a>(it: &'a Option<Cow<'_, str>>) -> Option<&'a [u8]> {
            it.as_deref().map(str::as_bytes)
        }
        fn id<T: AsRef<[u8]>>(it: &Option<Id<T>>) -> Option<&[u8]> {
            it.as_ref().map(|id| id.0.as_ref())
        }
        chain.bytes(Some(self.id.0.as_ref()));
        chain.bytes(Some(self.company_id.0.as_ref()));
        chain.bytes(Some(self.provider_id.0.as_ref()));
        chain.bytes(text(&self.reference));
        chain.bytes(text(&self.idempotency_key));
        chain.bytes(id(&self.subject_id));
        chain.bytes(id(&self.occasion_id));
        chain.bytes(self.due_on.as_deref().map(str::as_bytes));
        chain.digest(text(&self.message));
        chain.number(self.kind);
        chain.number(self.actor);
        chain.number(self.points_per_dollar);
        chain.number(self.points);
        chain.number(self.legs);
        chain.number(self.wallet.unwrap_or(0));
        chain.number(self.share.map_or(-1, i64::from));
        chain.number(self.created_at.0.unix_micros());
    }

    pub(crate) fn read(&self) -> Result<JournalEntry, StoreError> {
        let reading = Reading { table: "journal_entries", id: &self.id.0 };
        let act = self.act(&reading)?;
        let rate = PointsPerDollar::new(self.points_per_dollar.into());
        Ok(JournalEntry {
            id: self.id.0,
            company_id: self.company_id.0,
            provider_id: self.provider_id.0,
            act,
            by: By {
                actor: reading.make("actor", Actor::from_code(self.actor))?,
                reference: self.reference.as_deref().map(str::to_owned),
                key: self.idempotency_key.as_deref().map(str::to_owned),
            },
            rate: reading.make("points_per_dollar", rate)?,
            created_at: self.created_at.0,
        })
    }

    fn act(&self, reading: &Reading<'_>) -> Result<Act, StoreError> {
        let subject = || reading.make("subject_id", self.subject_id.map(|subject_id| subject_id.0));
        let wallet = || {
            let found = self.wallet.and_then(AccountKind::from_code).and_then(WalletType::from_kind);
            reading.make("wallet", found)
        };
        let points = reading.make("points", Points::new(self.points))?;
        let legs = reading.make("legs", u32::try_from(self.legs).ok())?;
        Ok(match self.kind {
            kind::FOUNDING => Act::Founding,
            kind::RATE => Act::Rate,
            kind::MOVE => Act::Move { to: subject()?.into() },
            kind::SENDING => Act::Sending(self.sending(reading, points, legs)?),
            kind::AMENDMENT => Act::Amendment {
                recognition: subject()?.into(),
                message: reading.parse_opt("message", self.message.as_deref(), Message::parse)?,
                share: self.share,
            },
            kind::DEPOSIT => Act::Deposit { points },
            kind::WITHDRAWAL => Act::Withdrawal { points },
            kind::DISTRIBUTION => {
                Act::Distribution { wallet: wallet()?, points, receivers: legs, date: self.date(reading)? }
            }
            kind::REDEMPTION => Act::Redemption { user: subject()?.into(), points },
            kind::REFUND => Act::Refund { redemption: subject()?.into(), points },
            kind::OVERRIDE => Act::Override { user: subject()?.into(), wallet: wallet()?, points },
            kind::DELETION => Act::Deletion { user: subject()?.into(), wallets: legs },
            _ => return Err(reading.corrupt("kind")),
        })
    }

    fn sending(&self, reading: &Reading<'_>, points: Points, receivers: u32) -> Result<Sending, StoreError> {
        let sender = reading.make("subject_id", self.subject_id)?;
        Ok(Sending {
            sender: sender_of(sender, self.company_id),
            occasion_id: reading.make("occasion_id", self.occasion_id)?.0,
            points,
            receivers,
            message: reading.parse(
                "message",
                reading.make("message", self.message.as_deref())?,
                Message::parse,
            )?,
            share: reading.make("share", self.share)?,
        })
    }

    fn date(&self, reading: &Reading<'_>) -> Result<Option<ScheduledDate>, StoreError> {
        let due_on = reading.parse_opt("due_on", self.due_on.as_deref(), IsoDate::parse)?;
        let schedule = self.subject_id.map(|subject_id| subject_id.0.into());
        Ok(due_on.zip(schedule).map(|(due_on, schedule)| ScheduledDate { schedule, due_on }))
    }
}

/// The sender. A company as the sender has its own id, which no user has.
pub(super) fn sender_of(sender: Id, company: Id<CompanyId>) -> Sender {
    if sender.0 == company.0.as_uuid() { Sender::Company(company.0) } else { Sender::User(sender.0.into()) }
}
