//! Named conditions. They are part of a statement's SQL and not bound: only then can the partial indexes over
//! them be used. Each starts with its column, so that an alias can precede it.

/// Deliveries and notifications that wait for an attempt (`deliveries_due`, `notifications_due`).
pub(crate) const PENDING: &str = "state = 1";
/// Deliveries whose last attempt failed (`deliveries_exhausted`, `deliveries_exhausted_by_provider`).
pub(crate) const EXHAUSTED: &str = "state = 3";
/// Deliveries without a destination (`deliveries_unaddressed`, `deliveries_unaddressed_by_provider`).
pub(crate) const UNADDRESSED: &str = "state = 4";
/// Deliveries that were handed over with their company (`deliveries_handed_over`).
pub(crate) const HANDED_OVER: &str = "state = 5";
/// Active users who administer their company (`users_admins`).
pub(crate) const IS_ACTIVE_ADMIN: &str = "company_admin AND deleted_at IS NULL";
/// Notifications that were sent (`notifications_sent`).
pub(crate) const SENT: &str = "state = 2";
/// Notifications that were given up (`notifications_given_up`).
pub(crate) const GIVEN_UP: &str = "state = 3";

/// Journal entries that change a company itself: its creation, its rate, its provider
/// (`journal_entries_company_changes`).
pub(crate) const CHANGES_COMPANY: &str = "kind <= 3";
/// Journal entries that amend a recognition (`journal_entries_amended`).
pub(crate) const IS_AMENDMENT: &str = "kind = 5";
/// Journal entries that can occur only once for their subject: refunds and deletions
/// (`journal_entries_unique_subject`).
pub(crate) const IS_ONCE_PER_SUBJECT: &str = "kind IN (9, 11)";

/// Journal entries other than sent recognitions, which are the most frequent kind (`journal_entries_not_recognitions`,
/// `journal_entries_listed`, `journal_entries_listed_by_company`).
pub(crate) const IS_NOT_RECOGNITION: &str = "kind <> 4";
/// Journal entries that were not requested by a provider (`journal_entries_not_by_provider`).
pub(crate) const IS_NOT_BY_PROVIDER: &str = "actor <> 1";
/// Events other than received recognitions, which are the most frequent kind (`events_not_received`).
pub(crate) const IS_NOT_RECEIVED_EVENT: &str = "kind <> 1";

/// Accounts that are wallets of users. All other accounts belong to the company itself.
pub(crate) const IS_WALLET: &str = "kind <= 3";

/// The condition that a company was handed over to another cell. The column has the company's id.
pub(crate) fn is_handed_over(company_column: &str) -> String {
    format!(
        "EXISTS (SELECT 1 FROM companies WHERE companies.id = {company_column} \
         AND companies.handed_over_at IS NOT NULL)"
    )
}

#[cfg(test)]
mod tests {
    use guerdon_domain::companies::HANDED_OVER_DELIVERY_STATE;
    use guerdon_domain::events::{EventKind, EventState};
    use guerdon_domain::journal::Actor;
    use guerdon_domain::ports::NotificationState;
    use guerdon_domain::wallets::AccountKind;

    use super::super::kind;
    use super::*;

    #[test]
    fn conditions_match_the_stored_codes() {
        let state = |code: i16| format!("state = {code}");
        assert_eq!(PENDING, state(EventState::Pending.code()));
        assert_eq!(PENDING, state(NotificationState::Waiting.code()));
        assert_eq!(GIVEN_UP, state(NotificationState::GivenUp.code()));
        assert_eq!(SENT, state(NotificationState::Sent.code()));
        assert_eq!(EXHAUSTED, state(EventState::Exhausted.code()));
        assert_eq!(HANDED_OVER, state(HANDED_OVER_DELIVERY_STATE));
        assert_eq!(UNADDRESSED, state(EventState::Unaddressed.code()));
        assert_eq!(
            [kind::COMPANY_CREATION, kind::RATE_CHANGE, kind::COMPANY_TRANSFER, kind::RECOGNITION],
            [1, 2, 3, 4]
        );
        assert_eq!(IS_NOT_RECOGNITION, format!("kind <> {}", kind::RECOGNITION));
        assert_eq!(IS_NOT_BY_PROVIDER, format!("actor <> {}", Actor::Provider.code()));
        assert_eq!(IS_NOT_RECEIVED_EVENT, format!("kind <> {}", EventKind::RecognitionReceived.code()));
        assert_eq!(CHANGES_COMPANY, format!("kind <= {}", kind::COMPANY_TRANSFER));
        assert_eq!(IS_AMENDMENT, format!("kind = {}", kind::AMENDMENT));
        assert_eq!(IS_ONCE_PER_SUBJECT, format!("kind IN ({}, {})", kind::REFUND, kind::DELETION));
        assert_eq!(IS_WALLET, format!("kind <= {}", AccountKind::ManagerWallet.code()));
        assert_eq!(AccountKind::Reserve.code(), AccountKind::ManagerWallet.code() + 1);
    }
}
