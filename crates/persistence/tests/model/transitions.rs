//! The operations, and a generator of random ones that are possible in a state of the model.

use proptest::prelude::*;
use proptest_state_machine::ReferenceStateMachine;

use super::state::{MANAGER, Model, PEER, USER};

/// The maximum number of users of a company, without its crowd.
const USERS_MAX: usize = 12;
/// The number of addresses that users have.
const EMAILS: usize = 16;
/// The number of other users of some companies. With the owner, distributions to all of them are paid in steps.
const CROWD: usize = 1_000;

/// Who pays for a recognition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payer {
    Company,
    User(usize),
}

/// An operation, with users by their positions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transition {
    CreateUser {
        is_manager: bool,
        email: usize,
    },
    /// Changes the given fields.
    UpdateUser {
        user: usize,
        is_manager: Option<bool>,
        email: Option<usize>,
    },
    DeleteUser(usize),
    /// The active user with this address becomes the owner, or else a new user.
    ChangeOwner {
        email: usize,
    },
    /// The company moves to the other one of two providers.
    TransferCompany,
    ChangeRate(i128),
    Deposit(i128),
    Withdraw(i128),
    Distribute {
        wallet: usize,
        receivers: Vec<usize>,
        points: i128,
    },
    /// A schedule pays all active users, or all active managers. More than 1,000 are paid in steps, of which this is
    /// the first.
    DistributeToAll {
        wallet: usize,
        points: i128,
    },
    /// Executes the remaining steps of all distributions.
    FinishDistributions,
    Send {
        payer: Payer,
        receivers: Vec<usize>,
        points: i128,
    },
    /// Several recognitions from the company that are submitted together. The reserve covers all of them.
    SendTogether {
        receivers: Vec<usize>,
        points: i128,
    },
    Redeem {
        user: usize,
        points: i128,
    },
    Refund(usize),
    Override {
        user: usize,
        wallet: usize,
        points: i128,
    },
    /// Repeats a request that took effect, with its idempotency key.
    Retry(usize),
}

impl Transition {
    /// Whether the operation is a request with an idempotency key.
    pub fn has_key(&self) -> bool {
        matches!(
            self,
            Self::Deposit(_)
                | Self::Withdraw(_)
                | Self::Distribute { .. }
                | Self::Send { .. }
                | Self::Redeem { .. }
                | Self::Refund(_)
                | Self::Override { .. }
        )
    }
}

pub struct Transitions;

/// Generates mostly few points, and sometimes more than any balance.
fn points() -> BoxedStrategy<i128> {
    prop_oneof![20 => 1..60_i128, 3 => 60..5_000_i128, 1 => Just(0), 1 => Just(60_000_000)].boxed()
}

fn wallet() -> BoxedStrategy<usize> {
    prop_oneof![Just(USER), Just(PEER), Just(MANAGER)].boxed()
}

/// Generates different users, some of whom may be deleted.
fn receivers(users: usize) -> BoxedStrategy<Vec<usize>> {
    proptest::sample::subsequence((0..users).collect::<Vec<_>>(), 1..=users.min(4)).boxed()
}

impl ReferenceStateMachine for Transitions {
    type State = Model;
    type Transition = Transition;

    fn init_state() -> BoxedStrategy<Model> {
        let rate = prop_oneof![Just(50), Just(3), Just(7), Just(9_999), 1..=10_000_i128];
        let crowd = prop_oneof![9 => Just(0), 1 => Just(CROWD)];
        (rate, crowd).prop_map(|(rate, crowd)| Model::new(rate, crowd)).boxed()
    }

    fn transitions(state: &Model) -> BoxedStrategy<Transition> {
        let users = state.users.len();
        let user = 0..users;
        let redemptions = state.redemptions.len() + 1;
        let large_deposit = if state.crowd > 0 { (10_000..50_000_i128).boxed() } else { points() };
        let requests = 0..state.requests_with_key.max(1);
        let send = (prop_oneof![Just(None), user.clone().prop_map(Some)], receivers(users), points());
        prop_oneof![
            2 => (any::<bool>(), 0..EMAILS)
                .prop_map(|(is_manager, email)| Transition::CreateUser { is_manager, email }),
            2 => (user.clone(), any::<Option<bool>>(), proptest::option::of(0..EMAILS))
                .prop_map(|(user, is_manager, email)| Transition::UpdateUser { user, is_manager, email }),
            1 => (0..EMAILS).prop_map(|email| Transition::ChangeOwner { email }),
            1 => Just(Transition::TransferCompany),
            1 => user.clone().prop_map(Transition::DeleteUser),
            1 => prop_oneof![Just(50), Just(6), 1..=10_000_i128].prop_map(Transition::ChangeRate),
            2 => points().prop_map(Transition::Deposit),
            1 => large_deposit.prop_map(Transition::Deposit),
            1 => points().prop_map(Transition::Withdraw),
            4 => (wallet(), receivers(users), points())
                .prop_map(|(wallet, receivers, points)| Transition::Distribute { wallet, receivers, points }),
            2 => (wallet(), points())
                .prop_map(|(wallet, points)| Transition::DistributeToAll { wallet, points }),
            1 => Just(Transition::FinishDistributions),
            8 => send.prop_map(|(payer, receivers, points)| Transition::Send {
                payer: payer.map_or(Payer::Company, Payer::User),
                receivers,
                points,
            }),
            3 => (receivers(users), 1..20_i128)
                .prop_map(|(receivers, points)| Transition::SendTogether { receivers, points }),
            4 => (user.clone(), points()).prop_map(|(user, points)| Transition::Redeem { user, points }),
            2 => (0..redemptions).prop_map(Transition::Refund),
            2 => (user, wallet(), points())
                .prop_map(|(user, wallet, points)| Transition::Override { user, wallet, points }),
            2 => requests.prop_map(Transition::Retry),
        ]
        .boxed()
    }

    fn apply(mut state: Model, transition: &Transition) -> Model {
        state.last_verdict = state.apply(transition);
        state
    }

    fn preconditions(state: &Model, transition: &Transition) -> bool {
        let exists = |user: &usize| *user < state.users.len();
        match transition {
            Transition::CreateUser { .. } | Transition::ChangeOwner { .. } => state.users.len() < USERS_MAX,
            Transition::Retry(number) => *number < state.requests_with_key,
            // Deposits are limited; see the rules of the reserve.
            Transition::Deposit(points) => *points < 60_000_000,
            Transition::SendTogether { receivers, points } => {
                receivers.iter().all(|user| exists(user) && state.users[*user].is_active)
                    && state.covers_together(receivers.len(), *points)
            }
            Transition::Send { payer: Payer::User(user), receivers, .. } => {
                exists(user) && receivers.iter().all(exists)
            }
            Transition::Send { receivers, .. } | Transition::Distribute { receivers, .. } => {
                receivers.iter().all(exists)
            }
            Transition::DeleteUser(user)
            | Transition::UpdateUser { user, .. }
            | Transition::Redeem { user, .. }
            | Transition::Override { user, .. } => exists(user),
            Transition::ChangeRate(_)
            | Transition::Withdraw(_)
            | Transition::Refund(_)
            | Transition::TransferCompany
            | Transition::DistributeToAll { .. }
            | Transition::FinishDistributions => true,
        }
    }
}
