use super::open_connections::{ADDRESS_INTERVAL, CLEANUP_THRESHOLD_MIN, FREQUENT_BURST, FREQUENT_INTERVAL};
use super::*;

fn connection_limiter(total: usize, per_address: usize) -> Arc<ConnectionLimiter> {
    let transport = Transport { terminates_tls: true, trusted_proxies: Vec::new() };
    ConnectionLimiter::new(ConnectionLimits { total, per_address }, transport)
}

fn acquire_from(
    limiter: &Arc<ConnectionLimiter>,
    address: &str,
    now: Instant,
) -> Result<ConnectionPermit, LimitReached> {
    limiter.acquire_permit(address.parse().unwrap(), false, now).map(|(permit, _)| permit)
}

#[test]
fn connections_per_address_are_limited_and_an_ipv6_network_is_one_address() {
    let (limiter, now) = (connection_limiter(10, 2), Instant::now());
    let first = acquire_from(&limiter, "192.0.2.1", now).unwrap();
    let second = acquire_from(&limiter, "192.0.2.1", now).unwrap();
    assert_eq!(acquire_from(&limiter, "192.0.2.1", now).err(), Some(LimitReached::Address));
    drop(first);
    let third = acquire_from(&limiter, "::ffff:192.0.2.1", now).unwrap();
    assert_eq!(acquire_from(&limiter, "192.0.2.1", now).err(), Some(LimitReached::Address));
    let others =
        ["2001:db8::1", "2001:db8::ffff:2"].map(|address| acquire_from(&limiter, address, now).unwrap());
    assert_eq!(acquire_from(&limiter, "2001:db8::3", now).err(), Some(LimitReached::Address));
    assert!(acquire_from(&limiter, "2001:db8:0:1::3", now).is_ok());
    drop((second, third, others));
    assert_eq!(lock_mutex(&limiter.open).total, 0);
}

#[test]
fn a_network_of_48_bits_has_the_limits_of_four_addresses() {
    let (limiter, now) = (connection_limiter(10_000, 2), Instant::now());
    let of_network = |number: u16| format!("2001:db8:1:{number:x}::1");
    let mut permits: Vec<ConnectionPermit> =
        (0..8).map(|number| acquire_from(&limiter, &of_network(number), now).unwrap()).collect();
    assert_eq!(acquire_from(&limiter, &of_network(8), now).err(), Some(LimitReached::Address));
    permits.push(acquire_from(&limiter, "2001:db8:2::1", now).unwrap());
    permits.remove(0);
    permits.push(acquire_from(&limiter, &of_network(8), now).unwrap());
    drop(permits);
    assert_eq!(lock_mutex(&limiter.open).total, 0);
    assert!(lock_mutex(&limiter.open).networks.values().all(|network| network.open == 0));
}

#[test]
fn networks_of_64_bits_with_one_connection_each_share_the_frequent_limit() {
    let (limiter, now) = (connection_limiter(10_000, 1_000), Instant::now());
    let waits: Vec<Duration> = (0..1_000)
        .map(|number: u16| {
            limiter
                .acquire_permit(format!("2001:db8:1:{number:x}::1").parse().unwrap(), false, now)
                .unwrap()
                .1
        })
        .collect();
    // All but the first thirty-two count towards the limit of frequent addresses.
    assert_eq!(waits[999], FREQUENT_INTERVAL * (1_000 - 32 - FREQUENT_BURST));
}

#[test]
fn total_connections_are_limited_and_a_proxy_counts_only_towards_the_total() {
    let (limiter, now) = (connection_limiter(3, 1), Instant::now());
    let proxy = "10.0.0.1".parse().unwrap();
    let permits = [(); 3].map(|()| limiter.acquire_permit(proxy, true, now).unwrap().0);
    assert_eq!(limiter.acquire_permit(proxy, true, now).map(drop).err(), Some(LimitReached::Total));
    assert_eq!(acquire_from(&limiter, "192.0.2.1", now).err(), Some(LimitReached::Total));
    drop(permits);
    assert!(acquire_from(&limiter, "192.0.2.1", now).is_ok());
}

#[test]
fn an_address_may_open_a_burst_of_two_hundred_and_then_two_hundred_per_second() {
    let (limiter, now) = (connection_limiter(10_000, 10_000), Instant::now());
    let mut held = Vec::new();
    let mut waits = |count: usize| {
        let permits =
            (0..count).map(|_| limiter.acquire_permit("192.0.2.1".parse().unwrap(), false, now).unwrap());
        let (permits, waits): (Vec<_>, Vec<_>) = permits.unzip();
        held.extend(permits);
        *waits.last().unwrap()
    };
    assert_eq!(waits(200), Duration::ZERO);
    assert_eq!(waits(1), ADDRESS_INTERVAL);
    assert_eq!(waits(199), Duration::from_secs(1));
    assert_eq!(limiter.acquire_permit("192.0.2.2".parse().unwrap(), false, now).unwrap().1, Duration::ZERO);
}

#[test]
fn idle_addresses_are_removed() {
    let (limiter, now) = (connection_limiter(10, 1), Instant::now());
    for number in 0..CLEANUP_THRESHOLD_MIN {
        let address = std::net::Ipv4Addr::from_bits(u32::try_from(number).unwrap());
        drop(limiter.acquire_permit(address.into(), false, now).unwrap());
    }
    let kept = acquire_from(&limiter, "192.0.2.1", now + Duration::from_secs(1)).unwrap();
    assert_eq!(lock_mutex(&limiter.open).networks.len(), 1);
    drop(kept);
}

#[test]
fn frequent_addresses_share_a_limit_that_does_not_delay_a_new_address() {
    let (limiter, now) = (connection_limiter(10_000, 1_000), Instant::now());
    let mut held = Vec::new();
    let mut wait = |address: String| {
        let (permit, wait) = limiter.acquire_permit(address.parse().unwrap(), false, now).unwrap();
        held.push(permit);
        wait
    };
    let waits: Vec<Duration> =
        (0..8).flat_map(|number| vec![format!("192.0.2.{number}"); 100]).map(&mut wait).collect();
    let longest = waits.iter().max().unwrap();
    // All but the first eight of each address count towards the limit of frequent addresses.
    assert_eq!(*longest, FREQUENT_INTERVAL * (8 * 92 - FREQUENT_BURST));
    assert_eq!(wait("198.51.100.1".to_owned()), Duration::ZERO);
}
