//! A receiver that hangs does not delay the events of other providers.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::{ALLOW_LOCAL_RECEIVERS, WebhookFixture};
use crate::support::for_each_database_with;
use crate::support::receiver::Reply;

const RECEIVERS: usize = 25;
const WAITING_EVENTS: usize = 200;

#[test]
fn a_receiver_that_hangs_delays_no_other() {
    for_each_database_with(&ALLOW_LOCAL_RECEIVERS, |service| {
        let (stuck, well) =
            (WebhookFixture::create(service, RECEIVERS + 1), WebhookFixture::create(service, 2));
        stuck.receiver.set_default_reply(Reply::AfterRelease(200));
        let receivers: Vec<&str> = stuck.sample.users.iter().skip(1).map(String::as_str).collect();
        for _ in 0..WAITING_EVENTS / RECEIVERS {
            stuck.send_recognitions(service, &receivers);
        }
        let under_way = stuck.receiver.take_requests(8);
        let mut slowest = Duration::ZERO;
        for _ in 0..10 {
            let started = Instant::now();
            well.send_recognition(service);
            slowest = slowest.max(well.next().received_at - started);
        }
        eprintln!("the slowest of ten: {slowest:?} from request to arrival");
        assert!(slowest < Duration::from_secs(1), "{slowest:?}");
        assert_eq!(stuck.receiver.connection_count(), 8, "eight concurrently");
        stuck.receiver.release_held_replies();
        let rest = stuck.receiver.take_requests(WAITING_EVENTS - 8);
        let ids: HashSet<&str> = under_way.iter().chain(&rest).map(|arrival| arrival.event_id()).collect();
        assert_eq!(ids.len(), WAITING_EVENTS);
    });
}
