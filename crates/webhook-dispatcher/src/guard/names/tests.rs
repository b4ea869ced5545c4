use std::io;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::{LookUp, NameError, Names, THREADS_MAX};

const LONG: Duration = Duration::from_secs(60);
const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(198, 51, 100, 1));

/// Completes each lookup when the test says so.
struct Held {
    looked_up: AtomicUsize,
    begun: Sender<String>,
    go_on: Mutex<Receiver<io::Result<Vec<IpAddr>>>>,
}

impl LookUp for Held {
    fn look_up(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        self.looked_up.fetch_add(1, Ordering::SeqCst);
        let _nobody_listens = self.begun.send(name.to_owned());
        match name.strip_prefix("held") {
            Some(_) => self.go_on.lock().unwrap().recv().unwrap(),
            None => Ok(vec![ADDRESS]),
        }
    }
}

struct Bench {
    held: Arc<Held>,
    names: Arc<Names>,
    begun: Receiver<String>,
    answers: Sender<io::Result<Vec<IpAddr>>>,
}

/// Without a cache.
fn bench() -> Bench {
    bench_that_keeps(Duration::ZERO)
}

fn bench_that_keeps(kept: Duration) -> Bench {
    let (begun_in, begun) = channel();
    let (answers, go_on) = channel();
    let held = Arc::new(Held { looked_up: AtomicUsize::new(0), begun: begun_in, go_on: Mutex::new(go_on) });
    let names = Arc::new(Names::new(Arc::<Held>::clone(&held), kept));
    Bench { held, names, begun, answers }
}

#[test]
fn an_answer_is_kept_for_a_moment_and_no_failure_is() {
    let Bench { held, names, answers, .. } = bench_that_keeps(LONG);
    for _ in 0..3 {
        assert_eq!(names.addresses("a.example", LONG), Ok(vec![ADDRESS].into()));
    }
    assert_eq!(held.looked_up.load(Ordering::SeqCst), 1);
    for asked in 2..=4 {
        answers.send(Ok(Vec::new())).unwrap();
        assert_eq!(names.addresses("held.example", LONG), Err(NameError::Unknown));
        assert_eq!(held.looked_up.load(Ordering::SeqCst), asked);
    }
}

#[test]
fn no_more_answers_are_kept_than_there_is_room_for() {
    let Bench { held, names, .. } = bench_that_keeps(LONG);
    let all = super::KEPT_MAX + 10;
    for number in 0..all {
        names.addresses(&format!("a{number}.example"), LONG).unwrap();
    }
    names.addresses("a0.example", LONG).unwrap();
    assert_eq!(held.looked_up.load(Ordering::SeqCst), all);
    names.addresses(&format!("a{}.example", all - 1), LONG).unwrap();
    assert_eq!(held.looked_up.load(Ordering::SeqCst), all + 1);
}

#[test]
fn a_name_is_looked_up_anew_where_no_answer_is_kept() {
    let Bench { held, names, .. } = bench();
    for asked in 1..=3 {
        assert_eq!(names.addresses("a.example", LONG), Ok(vec![ADDRESS].into()));
        assert_eq!(held.looked_up.load(Ordering::SeqCst), asked);
    }
}

#[test]
fn those_who_ask_meanwhile_share_one_answer() {
    let Bench { held, names, begun, answers } = bench();
    let ask = || {
        let names = Arc::clone(&names);
        thread::spawn(move || names.addresses("held.example", LONG))
    };
    let first = ask();
    assert_eq!(begun.recv().unwrap(), "held.example");
    let others: Vec<_> = (0..20).map(|_| ask()).collect();
    // Each waiting caller holds a reference to the lookup, in addition to those of the map, the worker and the first
    // caller.
    while Arc::strong_count(&names.look_ups.state.lock().unwrap().open["held.example"]) < 23 {
        thread::yield_now();
    }
    answers.send(Ok(vec![ADDRESS])).unwrap();
    for asker in others.into_iter().chain([first]) {
        assert_eq!(asker.join().unwrap(), Ok(vec![ADDRESS].into()));
    }
    assert_eq!(held.looked_up.load(Ordering::SeqCst), 1);
}

#[test]
fn nobody_waits_longer_than_allowed_and_hanging_names_hold_one_thread_each() {
    let Bench { held, names, begun, answers } = bench();
    for number in 0..3 {
        for _ in 0..5 {
            let asked = names.addresses(&format!("held{number}.example"), Duration::from_millis(1));
            assert_eq!(asked, Err(NameError::TooSlow));
        }
        begun.recv().unwrap();
    }
    assert_eq!(held.looked_up.load(Ordering::SeqCst), 3);
    assert_eq!(names.addresses("other.example", LONG), Ok(vec![ADDRESS].into()));
    for _ in 0..3 {
        answers.send(Err(io::ErrorKind::NotFound.into())).unwrap();
    }
}

#[test]
fn there_are_never_more_threads_than_allowed() {
    let Bench { names, begun, answers, .. } = bench();
    for number in 0..THREADS_MAX + 10 {
        let asked = names.addresses(&format!("held{number}.example"), Duration::ZERO);
        assert_eq!(asked, Err(NameError::TooSlow));
    }
    for _ in 0..THREADS_MAX {
        begun.recv().unwrap();
    }
    assert_eq!(names.look_ups.state.lock().unwrap().threads, THREADS_MAX);
    assert_eq!(names.look_ups.state.lock().unwrap().waiting.len(), 10);
    for _ in 0..THREADS_MAX + 10 {
        answers.send(Ok(vec![ADDRESS])).unwrap();
    }
    for _ in 0..10 {
        begun.recv().unwrap();
    }
}

#[test]
fn a_name_without_addresses_is_unknown() {
    let Bench { names, answers, .. } = bench();
    answers.send(Ok(Vec::new())).unwrap();
    assert_eq!(names.addresses("held.example", LONG), Err(NameError::Unknown));
    answers.send(Err(io::ErrorKind::NotFound.into())).unwrap();
    assert_eq!(names.addresses("held.example", LONG), Err(NameError::Unknown));
}
