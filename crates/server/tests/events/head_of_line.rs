//! A provider's receiver that hangs does not delay the events of others.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use super::{LOCAL, Post};
use crate::support::on_each_with;
use crate::support::receiver::Reply;

const RECEIVERS: usize = 25;
const WAITING: usize = 200;

#[test]
fn a_receiver_that_hangs_delays_no_other() {
    on_each_with(&LOCAL, |service| {
        let (stuck, well) = (Post::make(service, RECEIVERS + 1), Post::make(service, 2));
        stuck.receiver.answer(Reply::Held(200));
        let receivers: Vec<&str> = stuck.sample.users.iter().skip(1).map(String::as_str).collect();
        for _ in 0..WAITING / RECEIVERS {
            stuck.recognise_all(service, &receivers);
        }
        let under_way = stuck.receiver.take(8);
        let mut slowest = Duration::ZERO;
        for _ in 0..10 {
            let began = Instant::now();
            well.recognise(service);
            slowest = slowest.max(well.next().at - began);
        }
        eprintln!("the slowest of ten: {slowest:?} from request to arrival");
        assert!(slowest < Duration::from_secs(1), "{slowest:?}");
        assert_eq!(stuck.receiver.connections(), 8, "eight concurrently");
        stuck.receiver.release();
        let rest = stuck.receiver.take(WAITING - 8);
        let ids: HashSet<&str> = under_way.iter().chain(&rest).map(|arrival| arrival.event_id()).collect();
        assert_eq!(ids.len(), WAITING);
    });
}
