//! Fairness between accounts: at most [`MOST`] units of this process are in the database with one account at a time.
//! The others wait here, without a connection, so that a locked account takes no connection from anybody else.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use guerdon_domain::ports::{Moved, Payment};
use guerdon_domain::wallets::Account;

/// How many units may be in the database with one account: enough that its row never stands idle.
const MOST: usize = 4;
/// A payment to more receivers than this asks for no place with them: it is rare, and seldom waits for one of them.
const FEW: usize = 16;

/// The accounts that a payment is about to lock, as far as they are few.
pub(super) fn accounts_of(payment: &Payment<'_>) -> Vec<Account> {
    match payment.moved {
        Moved::Price { payers, credits, .. } => payers.iter().chain(few(credits)).copied().collect(),
        Moved::Everything { wallets, to } => wallets.iter().copied().chain([to]).collect(),
        Moved::Sum { from, to, .. } => vec![from, to],
        Moved::Share { from, to, .. } => few(to).iter().copied().chain([from]).collect(),
        Moved::Difference { wallet, reserve, .. } => vec![wallet, reserve],
    }
}

/// The accounts that are worth asking for.
fn few(accounts: &[Account]) -> &[Account] {
    if accounts.len() <= FEW { accounts } else { &[] }
}

/// Who is in the database with which account, and who waits.
#[derive(Default)]
pub(crate) struct Gate(Mutex<Crowd>);

#[derive(Default)]
struct Crowd {
    inside: HashMap<Account, usize>,
    /// By arrival.
    waiting: BTreeMap<u64, Waiting>,
    arrivals: u64,
}

struct Waiting {
    wanted: Vec<Account>,
    granted: bool,
    told: Arc<Condvar>,
}

impl Gate {
    fn crowd(&self) -> MutexGuard<'_, Crowd> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes all the places, or none where one is missing.
    fn take(&self, wanted: &[Account]) -> bool {
        self.crowd().take(wanted)
    }

    fn leave(&self, held: &[Account]) {
        let mut crowd = self.crowd();
        crowd.leave(held);
        crowd.grant();
    }

    /// Takes all the places as soon as there is one of each; `false` where there is not in time. For one account,
    /// whoever came first is first.
    fn wait(&self, wanted: &[Account], most: Duration) -> bool {
        let until = Instant::now() + most;
        let mut crowd = self.crowd();
        if crowd.take(wanted) {
            return true;
        }
        let told = Arc::new(Condvar::new());
        let ticket = crowd.arrivals;
        crowd.arrivals += 1;
        let waiting = Waiting { wanted: wanted.to_vec(), granted: false, told: Arc::clone(&told) };
        crowd.waiting.insert(ticket, waiting);
        loop {
            let is_granted = crowd.waiting.get(&ticket).is_some_and(|it| it.granted);
            let left = until.saturating_duration_since(Instant::now());
            if is_granted || left.is_zero() {
                crowd.waiting.remove(&ticket);
                return is_granted;
            }
            crowd = told.wait_timeout(crowd, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Crowd {
    fn take(&mut self, wanted: &[Account]) -> bool {
        let is_free = |it: &Account| self.inside.get(it).is_none_or(|inside| *inside < MOST);
        if !wanted.iter().all(is_free) {
            return false;
        }
        for account in wanted {
            *self.inside.entry(*account).or_default() += 1;
        }
        true
    }

    fn leave(&mut self, held: &[Account]) {
        for account in held {
            let Some(inside) = self.inside.get_mut(account) else { continue };
            *inside -= 1;
            if *inside == 0 {
                self.inside.remove(account);
            }
        }
    }

    /// Lets in whoever can go in, in the order of arrival. Whoever is left lacks a place that is taken, so a newcomer
    /// that finds its places free overtakes nobody who could go in.
    fn grant(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        for it in waiting.values_mut().filter(|it| !it.granted) {
            if self.take(&it.wanted) {
                it.granted = true;
                it.told.notify_one();
            }
        }
        self.waiting = waiting;
    }
}

/// The places of one unit of work, over all its tries; given back when this is dropped.
pub(crate) struct Places {
    gate: Arc<Gate>,
    held: Vec<Account>,
    missed: Vec<Account>,
}

impl Places {
    pub(crate) fn at(gate: &Arc<Gate>) -> Self {
        Self { gate: Arc::clone(gate), held: Vec::new(), missed: Vec::new() }
    }

    /// Takes a place with each of these accounts, without waiting; `false` where one is missing.
    pub(crate) fn enter(&mut self, accounts: &[Account]) -> bool {
        let mut wanted: Vec<Account> =
            accounts.iter().copied().filter(|it| !self.held.contains(it)).collect();
        wanted.sort_unstable();
        wanted.dedup();
        if self.gate.take(&wanted) {
            self.held.extend(wanted);
            return true;
        }
        self.missed = wanted;
        false
    }

    /// Whether a place was missing.
    pub(crate) fn is_missing(&self) -> bool {
        !self.missed.is_empty()
    }

    /// Waits for what was missing. Holds nothing meanwhile: units that wait never wait for each other.
    pub(crate) fn wait(&mut self, most: Duration) -> bool {
        let mut wanted = std::mem::take(&mut self.held);
        self.gate.leave(&wanted);
        wanted.append(&mut self.missed);
        let is_granted = self.gate.wait(&wanted, most);
        if is_granted {
            self.held = wanted;
        }
        is_granted
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        if !self.held.is_empty() {
            self.gate.leave(&self.held);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use guerdon_domain::values::CompanyId;
    use uuid::Uuid;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    fn account(number: u128) -> Account {
        Account::Reserve(CompanyId::from_uuid(Uuid::from_u128(number)))
    }

    fn inside(gate: &Arc<Gate>, accounts: &[Account]) -> Option<Places> {
        let mut places = Places::at(gate);
        places.enter(accounts).then_some(places)
    }

    fn until_waiting(gate: &Gate, count: usize) {
        while gate.crowd().waiting.len() < count {
            std::thread::yield_now();
        }
    }

    #[test]
    fn four_go_in_and_a_fifth_has_to_wait() {
        let gate = Arc::new(Gate::default());
        let mut four: Vec<Places> = (0..MOST).map(|_| inside(&gate, &[account(1)]).unwrap()).collect();
        assert!(inside(&gate, &[account(2), account(1)]).is_none());
        assert!(inside(&gate, &[account(2)]).is_some());
        four.pop();
        assert!(inside(&gate, &[account(1), account(1)]).is_some());
        drop(four);
        assert!(gate.crowd().inside.is_empty());
    }

    #[test]
    fn a_unit_enters_an_account_once() {
        let gate = Arc::new(Gate::default());
        let mut places = inside(&gate, &[account(1)]).unwrap();
        assert!((0..MOST).all(|_| places.enter(&[account(1), account(2)])));
        assert_eq!(gate.crowd().inside.get(&account(1)), Some(&1));
    }

    #[test]
    fn who_came_first_goes_in_first() {
        let gate = Arc::new(Gate::default());
        let mut four: Vec<Places> = (0..MOST).map(|_| inside(&gate, &[account(1)]).unwrap()).collect();
        let (tell, told) = channel();
        std::thread::scope(|scope| {
            for number in 0..3 {
                let (gate, tell) = (&gate, tell.clone());
                scope.spawn(move || {
                    let mut places = Places::at(gate);
                    assert!(!places.enter(&[account(1)]));
                    assert!(places.wait(LONG));
                    tell.send((number, places)).unwrap();
                });
                until_waiting(gate, number + 1);
            }
            let let_in = (0..3).map(|_| {
                drop(four.pop());
                told.recv().unwrap()
            });
            let (order, _places): (Vec<usize>, Vec<Places>) = let_in.unzip();
            assert_eq!(order, [0, 1, 2]);
        });
    }

    #[test]
    fn who_waits_holds_no_place() {
        let gate = Arc::new(Gate::default());
        let four: Vec<Places> = (0..MOST).map(|_| inside(&gate, &[account(1)]).unwrap()).collect();
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                let mut places = inside(&gate, &[account(2)]).unwrap();
                assert!(!places.enter(&[account(1)]));
                assert!(places.wait(LONG));
                places.held.len()
            });
            until_waiting(&gate, 1);
            assert_eq!(gate.crowd().inside.get(&account(2)), None);
            drop(four);
            assert_eq!(waiter.join().unwrap(), 2);
        });
        assert!(gate.crowd().inside.is_empty());
    }

    #[test]
    fn who_waits_too_long_is_told_and_forgotten() {
        let gate = Arc::new(Gate::default());
        let _four: Vec<Places> = (0..MOST).map(|_| inside(&gate, &[account(1)]).unwrap()).collect();
        let mut places = Places::at(&gate);
        assert!(!places.enter(&[account(1)]) && places.is_missing());
        assert!(!places.wait(Duration::from_millis(1)));
        assert!(gate.crowd().waiting.is_empty());
    }
}
