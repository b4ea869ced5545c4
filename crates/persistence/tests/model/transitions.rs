//! Generates random operations that are possible in a state of the model.

use proptest::prelude::*;
use proptest_state_machine::ReferenceStateMachine;

use super::reference::{MANAGER, Model, PEER, Payer, Transition, USER};

/// The maximum number of users of a company.
const USERS_MAX: usize = 12;

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
        prop_oneof![Just(50), Just(3), Just(7), Just(9_999), 1..=10_000_i128].prop_map(Model::new).boxed()
    }

    fn transitions(state: &Model) -> BoxedStrategy<Transition> {
        let users = state.users.len();
        let user = 0..users;
        let redemptions = state.redemptions.len() + 1;
        let send = (prop_oneof![Just(None), user.clone().prop_map(Some)], receivers(users), points());
        prop_oneof![
            2 => any::<bool>().prop_map(|is_manager| Transition::CreateUser { is_manager }),
            1 => user.clone().prop_map(Transition::DeleteUser),
            1 => prop_oneof![Just(50), Just(6), 1..=10_000_i128].prop_map(Transition::ChangeRate),
            3 => points().prop_map(Transition::Deposit),
            1 => points().prop_map(Transition::Withdraw),
            4 => (wallet(), receivers(users), points())
                .prop_map(|(wallet, receivers, points)| Transition::Distribute { wallet, receivers, points }),
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
            Transition::CreateUser { .. } => state.users.len() < USERS_MAX,
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
            | Transition::Redeem { user, .. }
            | Transition::Override { user, .. } => exists(user),
            Transition::ChangeRate(_) | Transition::Withdraw(_) | Transition::Refund(_) => true,
        }
    }
}
