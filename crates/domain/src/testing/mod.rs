//! The contract of a store for the use cases of [`LedgerTx`]. The in-memory store and both databases fulfil
//! it.
//!
//! To test a store, implement [`StoreUnderTest`] for it and call [`store_contract!`](crate::store_contract),
//! which expands to one `#[test]` per case. To add a case, write a function in the file of its subject and add
//! its name to `store_cases!`.

#![expect(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a case fails by panicking"
)]

mod env;

use crate::events::EventKind;
use crate::ports::{LedgerTx, StoreError, Verdict};
use env::TestEnv;

/// The store of one case, initially empty.
pub trait StoreUnderTest {
    /// Runs `work` in one transaction, as [`Store::run_transaction`](crate::ports::Store::run_transaction)
    /// does.
    fn run_transaction(&self, work: &mut dyn FnMut(&mut dyn LedgerTx) -> Verdict) -> Result<(), StoreError>;

    /// The number of queued events of this kind.
    fn count_events(&self, kind: EventKind) -> usize;

    /// The number of notifications that were queued to an address.
    fn count_notifications(&self, recipient: &str) -> usize;

    /// The violations that the store's audit finds after a case; empty if the store has no audit.
    fn audit_violations(&self) -> Vec<String> {
        Vec::new()
    }
}

/// One case of the contract. It panics if the store breaks the contract.
pub type Case = fn(&dyn StoreUnderTest);

fn run_case(store: &dyn StoreUnderTest, case: fn(&TestEnv<'_>)) {
    case(&TestEnv::new(store));
    assert_eq!(store.audit_violations(), Vec::<String>::new());
}

/// Passes its arguments and the names of all cases, grouped by file, to another macro.
#[doc(hidden)]
#[macro_export]
macro_rules! store_cases {
    ([$($macro:tt)+] $($argument:tt)*) => {
        $($macro)+! {
            $($argument)*
            accounts {
                a_company_pays_from_its_reserve_and_a_user_from_the_peer_wallet
                one_recognition_is_paid_from_one_wallet
                all_points_can_be_paid_but_no_more
                shown_points_can_be_paid_in_any_split
                a_new_rate_changes_only_the_points_shown
                the_funds_of_a_deleted_user_return_once
                a_deleted_user_neither_sends_nor_receives
                an_override_moves_the_difference_from_or_to_the_reserve
                a_redemption_is_refunded_once
                spent_points_stop_at_the_largest_number
                transactions_are_listed_newest_first_without_roundings
            }
            companies {
                a_new_company_has_an_owner_and_its_accounts
                a_domain_is_unique_across_providers
                a_company_is_absent_foreign_or_own
                a_company_joins_only_a_corporation_of_its_provider
                a_company_update_writes_only_what_differs
                ownership_moves_to_an_existing_or_a_new_user
                an_owner_is_renamed
                a_company_moves_to_another_provider
                an_option_needs_an_existing_company
                a_company_that_is_handed_over_is_read_but_not_written
                companies_are_listed_oldest_first
            }
            occasions {
                an_occasion_is_created_in_a_company_of_the_provider
                an_occasion_update_writes_only_what_differs
                a_foreign_or_global_occasion_is_never_changed
                a_deleted_occasion_keeps_its_name
                occasions_of_a_company_and_global_ones_are_listed_together
            }
            payments {
                an_account_is_opened_once_in_its_company
                a_closed_or_missing_account_receives_nothing
                the_account_locked_first_is_refused_first
                the_first_payer_that_covers_the_whole_pays
                points_in_transit_reach_accounts_that_are_still_open
                a_transfer_has_the_accounts_and_the_price_of_its_reason
            }
            recognitions {
                each_receiver_gets_a_recognition_and_an_event
                recognitions_are_listed_newest_first
                sender_receivers_and_occasion_belong_to_the_provider
                every_broken_rule_is_reported
                the_total_size_of_messages_is_limited
                a_dry_run_returns_the_effects_and_moves_nothing
                zero_points_move_nothing
                points_are_within_the_range_of_the_company
                a_changed_recognition_queues_an_event
                a_recognition_belongs_to_the_provider_of_its_company
            }
            reserves {
                a_deposit_increases_the_reserve
                the_deposits_of_a_company_are_limited_in_total
                each_crossing_of_the_threshold_alerts_every_administrator_once
                a_new_threshold_or_rate_alerts_if_the_reserve_is_below
                a_reserve_that_just_shows_the_threshold_is_not_low
                every_reserve_is_below_a_threshold_above_every_amount
            }
            units {
                an_error_rolls_back_the_unit
                a_verdict_rolls_back_the_unit
                a_swallowed_failure_rolls_back_the_unit
                a_conflict_rolls_back_the_unit
                a_unit_reads_its_own_writes
            }
            users {
                a_new_user_has_its_wallets
                an_email_address_is_unique_among_active_users_of_a_company
                a_user_update_writes_only_what_differs
                invalid_user_updates_are_refused
                the_manager_wallet_opens_once_and_stays
                a_user_is_deleted_once_and_an_owner_never
                users_are_found_and_listed_in_order
                many_users_are_found_by_their_keys
                many_users_are_created_except_for_taken_addresses
            }
        }
    };
}

macro_rules! declare_cases {
    ($($group:ident { $($case:ident)* })*) => {
        $(mod $group;)*

        /// The cases, in a module for each subject.
        pub mod cases {
            $(
                pub mod $group {
                    $(
                        pub fn $case(store: &dyn crate::testing::StoreUnderTest) {
                            crate::testing::run_case(store, crate::testing::$group::$case);
                        }
                    )*
                }
            )*
        }
    };
}

store_cases! { [declare_cases] }

/// Expands to one `#[test]` per case, in a module for each subject:
/// `accounts::spent_points_stop_at_the_largest_number`.
///
/// The argument is the absolute path of a `fn(Case)` that runs a case on an empty store.
#[macro_export]
macro_rules! store_contract {
    ($($run:ident)::+) => {
        $crate::store_cases! { [$crate::store_contract] ($($run)::+) }
    };
    (($run:path) $($group:ident { $($case:ident)* })*) => {
        $(
            mod $group {
                $(
                    #[test]
                    fn $case() {
                        $run($crate::testing::cases::$group::$case);
                    }
                )*
            }
        )*
    };
}
