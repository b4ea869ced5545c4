//! Events and mails: each is claimed by one process at a time and settled only by the holder of its lease.

use std::collections::HashSet;
use std::time::Duration;

use guerdon_domain::notifications::{Notification, NotifiedCompany};
use guerdon_domain::ports::{
    Attempt, Claim, ClaimedEvent, Fate, MailFate, NewMail, RETRIED_MAIL_DUE, Settlement, StoreError,
    StoreExt as _, Timestamp, Tx,
};
use guerdon_domain::recognitions::Sender;
use guerdon_domain::values::{CompanyId, EmailAddress};
use uuid::Uuid;

use crate::support::{World, at_once, on_each};

fn lease(number: u64) -> Uuid {
    Uuid::from_u64_pair(7, number)
}

/// Sends recognitions from the company and returns their events.
fn cause_events(world: &World, count: usize) {
    let ann = world.user("receiver");
    world.deposit(1_000_000);
    for _ in 0..count {
        world.send(Sender::Company(world.company), &[ann], 1).unwrap();
    }
}

fn now(world: &World) -> Timestamp {
    world.context().clock.now()
}

fn claim(world: &World, at: Timestamp, number: u64, limit: u16) -> Vec<ClaimedEvent> {
    let until = at + Duration::from_secs(60);
    let claim = Claim { provider: world.provider, limit, now: at, until, lease: lease(number) };
    world.store.transaction(|tx| tx.claim_events(&claim)).unwrap().unwrap().events
}

fn settlement(world: &World, event: &ClaimedEvent, number: u64, fate: Fate, at: Timestamp) -> Settlement {
    let attempt = Attempt {
        id: world.context().ids.next(),
        company_id: world.company,
        number: event.attempts + 1,
        started_at: at,
        duration: Duration::from_millis(12),
        status: Some(if fate == Fate::Delivered { 200 } else { 503 }),
        cause: (fate != Fate::Delivered).then(|| "status 503".to_owned()),
        answer: b"answer".to_vec(),
    };
    Settlement { event: event.id, lease: lease(number), attempt: Some(attempt), fate }
}

fn settle(world: &World, settlements: &[Settlement]) {
    world.store.transaction(|tx: &mut dyn Tx| tx.settle_events(settlements)).unwrap();
}

#[test]
fn an_event_is_claimed_once_until_its_lease_ends() {
    on_each(|world| {
        cause_events(world, 5);
        let at = now(world);
        let first = claim(world, at, 1, 3);
        assert_eq!(first.len(), 3);
        assert_eq!(claim(world, at, 2, 10).len(), 2, "the deliveries left by the first claim");
        assert_eq!(claim(world, at, 3, 10).len(), 0);
        let due = world.store.transaction(|tx| tx.next_event_due()).unwrap();
        assert_eq!(due, Some(at + Duration::from_secs(60)));
        let later = at + Duration::from_secs(60);
        let again: HashSet<_> = claim(world, later, 4, 10).into_iter().map(|event| event.id).collect();
        assert_eq!(again.len(), 5, "every lease has ended");
        // A process that lost its lease may report the attempt, but changes nothing.
        settle(world, &[settlement(world, &first[0], 1, Fate::Delivered, at)]);
        assert_eq!(world.database.count("deliveries WHERE state = 2"), 0);
        assert_eq!(world.database.count("attempts"), 1);
        world.store.transaction(|tx| tx.end_leases(later)).unwrap();
        assert_eq!(claim(world, later, 5, 10).len(), 5, "leases can be ended");
    });
}

#[test]
fn each_fate_is_stored_with_its_attempt() {
    on_each(|world| {
        cause_events(world, 5);
        let at = now(world);
        let claimed = claim(world, at, 1, 5);
        let retry = at + Duration::from_secs(15);
        let fates =
            [Fate::Delivered, Fate::RetryAt(retry), Fate::Exhausted, Fate::Unaddressed, Fate::Released(at)];
        let mut settlements: Vec<Settlement> =
            claimed.iter().zip(fates).map(|(event, fate)| settlement(world, event, 1, fate, at)).collect();
        settlements[3].attempt = None;
        settlements[4].attempt = None;
        settle(world, &settlements);
        let count = |what: &str| world.database.count(what);
        assert_eq!(count("attempts WHERE number = 1 AND status = 200 AND cause IS NULL"), 1);
        assert_eq!(count("attempts WHERE duration_micros = 12000 AND status = 503"), 2);
        assert_eq!(count("deliveries WHERE state = 2 AND attempts = 1 AND next_attempt_at IS NULL"), 1);
        assert_eq!(count("deliveries WHERE state = 3 AND attempts = 1 AND next_attempt_at IS NULL"), 1);
        assert_eq!(count("deliveries WHERE state = 4 AND attempts = 0 AND next_attempt_at IS NULL"), 1);
        assert_eq!(count("deliveries WHERE lease_id IS NOT NULL"), 0);
        let released = claim(world, at, 2, 5);
        assert_eq!((released.len(), released[0].id, released[0].attempts), (1, claimed[4].id, 0));
        let retried = claim(world, retry, 3, 5);
        assert_eq!((retried.len(), retried[0].id, retried[0].attempts), (1, claimed[1].id, 1));
        assert_eq!(retried[0].body, claimed[1].body);
    });
}

#[test]
fn the_last_failure_is_found_among_many_untried_deliveries() {
    on_each(|world| {
        cause_events(world, 30);
        let last = || {
            let mut found = None;
            world.reading(|reads| {
                found = reads.last_failure(world.provider)?;
                Ok::<_, StoreError>(())
            });
            found.map(|(event, made)| (event, made.number))
        };
        assert_eq!(last(), None);
        let at = now(world);
        let claimed = claim(world, at, 1, 2);
        let failed = settlement(world, &claimed[0], 1, Fate::Exhausted, at);
        let later = at + Duration::from_secs(1);
        let again = settlement(world, &claimed[1], 1, Fate::RetryAt(later + Duration::from_secs(15)), later);
        settle(world, &[failed]);
        assert_eq!(last(), Some((claimed[0].id, 1)));
        settle(world, &[again]);
        assert_eq!(last(), Some((claimed[1].id, 1)));
    });
}

#[test]
fn the_first_of_two_settlements_under_one_lease_wins() {
    on_each(|world| {
        cause_events(world, 1);
        let at = now(world);
        let claimed = claim(world, at, 1, 1);
        let twice =
            [Fate::Delivered, Fate::Exhausted].map(|fate| settlement(world, &claimed[0], 1, fate, at));
        settle(world, &twice);
        assert_eq!(
            world.database.count("deliveries WHERE state = 2 AND attempts = 1 AND lease_id IS NULL"),
            1
        );
    });
}

#[test]
fn concurrent_claims_never_overlap() {
    on_each(|world| {
        cause_events(world, 40);
        let at = now(world);
        let claimed = std::sync::Mutex::new(Vec::new());
        at_once(8, |client| {
            for round in 0..4 {
                let number = u64::try_from(client * 10 + round).unwrap();
                claimed.lock().unwrap().extend(claim(world, at, number, 2).into_iter().map(|event| event.id));
            }
        });
        let claimed = claimed.into_inner().unwrap();
        assert_eq!(claimed.iter().collect::<HashSet<_>>().len(), claimed.len());
    });
}

#[test]
fn a_replay_makes_waiting_events_due_and_leaves_events_in_flight() {
    on_each(|world| {
        cause_events(world, 2);
        let at = now(world);
        let claimed = claim(world, at, 1, 2);
        let later = at + Duration::from_secs(3_600);
        settle(world, &[settlement(world, &claimed[0], 1, Fate::RetryAt(later), at)]);
        let replay = |which: usize| {
            world.store.transaction(|tx| tx.replay_event(claimed[which].id, at)).unwrap().unwrap()
        };
        assert!(replay(0), "waiting for its retry");
        assert!(!replay(0), "already due");
        assert!(!replay(1), "in flight");
        let again = claim(world, at, 2, 9);
        assert_eq!(again.len(), 1);
        assert_eq!((again[0].id, again[0].attempts, again[0].attempts_before_replay), (claimed[0].id, 1, 0));
    });
}

#[test]
fn events_of_a_suspended_provider_wait() {
    on_each(|world| {
        cause_events(world, 1);
        let at = now(world);
        let providers = || world.store.transaction(|tx| tx.providers_with_due_events(at)).unwrap();
        assert_eq!(providers(), [world.provider]);
        let suspend = |suspended| {
            let change =
                guerdon_domain::ports::ProviderChange { suspended: Some(suspended), ..Default::default() };
            world.store.transaction(|tx| tx.change_provider(world.provider, &change, at)).unwrap()
        };
        suspend(true);
        assert_eq!(providers(), []);
        assert_eq!(world.store.transaction(|tx| tx.next_event_due()).unwrap(), None);
        suspend(false);
        assert_eq!(claim(world, at, 1, 9).len(), 1);
    });
}

fn notification(id: CompanyId) -> Notification {
    let company = NotifiedCompany { id, name: "Acme".into(), domain: "acme.example".into() };
    Notification::CertificateEnding { company, ends_at: Timestamp::UNIX_EPOCH, has_ended: true }
}

#[test]
fn a_mail_is_claimed_once_and_settled_by_its_holder() {
    on_each(|world| {
        let at = now(world);
        let mail = |number| NewMail {
            id: lease(number),
            company_id: world.company,
            recipient: EmailAddress::parse("a@example.com").unwrap(),
            notification: notification(world.company),
            created_at: at,
        };
        let mails = [mail(1), mail(2), mail(3)];
        world.store.transaction(|tx| tx.queue_mails(&mails)).unwrap();
        let until = at + Duration::from_secs(120);
        let claim =
            |at, number| world.store.transaction(|tx| tx.claim_mails(at, until, lease(number), 16)).unwrap();
        assert_eq!(claim(at, 10).len(), 3);
        assert_eq!(claim(at, 11).len(), 0);
        let settle = |id, number, fate| {
            world.store.transaction(|tx| tx.settle_mail(lease(id), lease(number), fate)).unwrap();
        };
        settle(1, 10, MailFate::Sent);
        settle(2, 10, MailFate::GivenUp);
        settle(3, 11, MailFate::Sent); // does not hold the lease
        assert_eq!(world.store.transaction(|tx| tx.next_mail_due()).unwrap(), Some(until));
        let left = claim(until, 12);
        assert_eq!((left.len(), left[0].id), (1, lease(3)));
        settle(3, 12, MailFate::RetryAt(until + Duration::from_secs(15)));
        assert_eq!(claim(until + Duration::from_secs(15), 13)[0].attempts, 1);
        // A second settlement, as after a commit whose response was lost, changes neither ended deliveries nor
        // deliveries that were claimed again.
        settle(1, 10, MailFate::Sent);
        settle(2, 10, MailFate::GivenUp);
        settle(3, 12, MailFate::RetryAt(until + Duration::from_secs(15)));
        assert_eq!(world.database.count("mails WHERE attempts = 1"), 3);
        assert_eq!(world.database.count("mails WHERE state = 2"), 1);
        assert_eq!(world.database.count("mails WHERE state = 3 AND next_attempt_at IS NULL"), 1);
        assert_eq!(world.database.count("mails WHERE state = 1 AND lease_id IS NOT NULL"), 1);
    });
}

#[test]
fn a_mail_that_is_retried_is_due_before_all_others() {
    on_each(|world| {
        let at = now(world);
        let mail = |number| NewMail {
            id: lease(number),
            company_id: world.company,
            recipient: EmailAddress::parse("a@example.com").unwrap(),
            notification: notification(world.company),
            created_at: at,
        };
        let later = at + Duration::from_secs(3_600);
        let lease_end = at + Duration::from_secs(120);
        let run =
            |work: &dyn Fn(&mut dyn Tx) -> Result<(), StoreError>| world.store.transaction(work).unwrap();
        run(&|tx| tx.queue_mails(&[mail(1), mail(2), mail(3)]));
        run(&|tx| tx.claim_mails(at, lease_end, lease(10), 2).map(drop));
        let retry = |number| world.store.transaction(|tx| tx.retry_mail(lease(number))).unwrap();
        assert!(!retry(1), "in flight");
        run(&|tx| tx.settle_mail(lease(1), lease(10), MailFate::RetryAt(later)));
        run(&|tx| tx.settle_mail(lease(2), lease(10), MailFate::GivenUp));
        let next = || world.store.transaction(|tx| tx.next_mail_due()).unwrap();
        assert_eq!(next(), Some(at));
        assert!(retry(1) && retry(2) && !retry(4));
        assert_eq!(next(), Some(RETRIED_MAIL_DUE));
        let claimed = world.store.transaction(|tx| tx.claim_mails(at, lease_end, lease(11), 2)).unwrap();
        let mut claimed: Vec<_> = claimed.iter().map(|mail| (mail.id, mail.attempts)).collect();
        claimed.sort();
        assert_eq!(claimed, [(lease(1), 1), (lease(2), 0)]);
        assert_eq!(next(), Some(at));
    });
}
