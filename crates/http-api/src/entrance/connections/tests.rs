use super::open_connections::{
    BURST_OF_CROWD, CLEANUP_THRESHOLD_MIN, INTERVAL_OF_CROWD, INTERVAL_PER_ADDRESS,
};
use super::*;

fn connections(in_all: usize, of_one_address: usize) -> Arc<Connections> {
    Connections::new(ConnectionLimits { in_all, of_one_address }, Transport::Tls)
}

fn take(from: &Arc<Connections>, address: &str, now: Instant) -> Result<Place, Refused> {
    from.take(address.parse().unwrap(), false, now).map(|(place, _)| place)
}

#[test]
fn an_address_has_its_part_and_a_network_of_ipv6_is_one() {
    let (all, now) = (connections(10, 2), Instant::now());
    let first = take(&all, "192.0.2.1", now).unwrap();
    let second = take(&all, "192.0.2.1", now).unwrap();
    assert_eq!(take(&all, "192.0.2.1", now).err(), Some(Refused::Address));
    drop(first);
    let third = take(&all, "::ffff:192.0.2.1", now).unwrap();
    assert_eq!(take(&all, "192.0.2.1", now).err(), Some(Refused::Address));
    let others = ["2001:db8::1", "2001:db8::ffff:2"].map(|address| take(&all, address, now).unwrap());
    assert_eq!(take(&all, "2001:db8::3", now).err(), Some(Refused::Address));
    assert!(take(&all, "2001:db8:0:1::3", now).is_ok());
    drop((second, third, others));
    assert_eq!(all.lock().total, 0);
}

#[test]
fn a_network_of_48_bits_has_the_limits_of_four_addresses() {
    let (all, now) = (connections(10_000, 2), Instant::now());
    let of_network = |number: u16| format!("2001:db8:1:{number:x}::1");
    let mut taken: Vec<Place> = (0..8).map(|number| take(&all, &of_network(number), now).unwrap()).collect();
    assert_eq!(take(&all, &of_network(8), now).err(), Some(Refused::Address));
    taken.push(take(&all, "2001:db8:2::1", now).unwrap());
    taken.remove(0);
    taken.push(take(&all, &of_network(8), now).unwrap());
    drop(taken);
    assert_eq!(all.lock().total, 0);
    assert!(all.lock().networks.values().all(|network| network.open == 0));
}

#[test]
fn networks_of_64_bits_that_begin_one_connection_each_are_a_crowd_together() {
    let (all, now) = (connections(10_000, 1_000), Instant::now());
    let waits: Vec<Duration> = (0..1_000)
        .map(|number: u16| {
            all.take(format!("2001:db8:1:{number:x}::1").parse().unwrap(), false, now).unwrap().1
        })
        .collect();
    // All but the first thirty-two are the crowd's.
    assert_eq!(waits[999], INTERVAL_OF_CROWD * (1_000 - 32 - BURST_OF_CROWD));
}

#[test]
fn there_are_so_many_in_all_and_a_proxy_counts_for_nothing_else() {
    let (all, now) = (connections(3, 1), Instant::now());
    let proxy = "10.0.0.1".parse().unwrap();
    let taken = [(); 3].map(|()| all.take(proxy, true, now).unwrap().0);
    assert_eq!(all.take(proxy, true, now).map(drop).err(), Some(Refused::Total));
    assert_eq!(take(&all, "192.0.2.1", now).err(), Some(Refused::Total));
    drop(taken);
    assert!(take(&all, "192.0.2.1", now).is_ok());
}

#[test]
fn an_address_begins_two_hundred_at_once_and_then_two_hundred_a_second() {
    let (all, now) = (connections(10_000, 10_000), Instant::now());
    let mut places = Vec::new();
    let mut waits = |count: usize| {
        let taken = (0..count).map(|_| all.take("192.0.2.1".parse().unwrap(), false, now).unwrap());
        let (taken, waits): (Vec<_>, Vec<_>) = taken.unzip();
        places.extend(taken);
        *waits.last().unwrap()
    };
    assert_eq!(waits(200), Duration::ZERO);
    assert_eq!(waits(1), INTERVAL_PER_ADDRESS);
    assert_eq!(waits(199), Duration::from_secs(1));
    assert_eq!(all.take("192.0.2.2".parse().unwrap(), false, now).unwrap().1, Duration::ZERO);
}

#[test]
fn addresses_that_do_nothing_any_more_are_forgotten() {
    let (all, now) = (connections(10, 1), Instant::now());
    for number in 0..CLEANUP_THRESHOLD_MIN {
        let address = std::net::Ipv4Addr::from_bits(u32::try_from(number).unwrap());
        drop(all.take(address.into(), false, now).unwrap());
    }
    let kept = take(&all, "192.0.2.1", now + Duration::from_secs(1)).unwrap();
    assert_eq!(all.lock().networks.len(), 1);
    drop(kept);
}

#[test]
fn addresses_that_begin_many_wait_for_each_other_and_a_newcomer_for_nobody() {
    let (all, now) = (connections(10_000, 1_000), Instant::now());
    let mut held = Vec::new();
    let mut wait = |address: String| {
        let (place, wait) = all.take(address.parse().unwrap(), false, now).unwrap();
        held.push(place);
        wait
    };
    let waits: Vec<Duration> =
        (0..8).flat_map(|number| vec![format!("192.0.2.{number}"); 100]).map(&mut wait).collect();
    let longest = waits.iter().max().unwrap();
    // Of each address' hundred all but the first eight are the crowd's.
    assert_eq!(*longest, INTERVAL_OF_CROWD * (8 * 92 - BURST_OF_CROWD));
    assert_eq!(wait("198.51.100.1".to_owned()), Duration::ZERO);
}
