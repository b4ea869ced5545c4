use std::collections::HashMap;
use std::time::Duration;

use guerdon_domain::events::EventState;
use guerdon_test_support::Random;

use super::provider_id;
use super::simulation::Simulation;
use crate::schedule::RetrySchedule;

const DAY: u64 = 86_400;
const PROVIDERS: u64 = 5;
const EVENTS: u64 = 2_500;

/// Returns, for each provider, the times in seconds at which its receiver alternately fails and recovers.
fn random_outages(dice: &mut Random) -> Vec<Vec<u64>> {
    (0..PROVIDERS)
        .map(|_| {
            let mut at = 0;
            std::iter::from_fn(|| {
                // Available for up to twenty days, then failing for between a minute and five days.
                let longest = [60, 3_600, DAY, 5 * DAY][usize::try_from(dice.number_below(4)).unwrap()];
                at += 1 + dice.number_below(20 * DAY);
                let broken = at;
                at += 1 + dice.number_below(longest);
                (broken < 400 * DAY).then_some([broken, at])
            })
            .flatten()
            .collect()
        })
        .collect()
}

#[test]
fn a_year_of_random_outages_loses_no_event_and_respects_every_wait() {
    for seed in [1, 2, 3] {
        let mut dice = Random(seed);
        let outages = random_outages(&mut dice);
        let mut behaviour = Random(seed + 1_000);
        let receiver = move |provider, _, at: Duration| {
            let number = (0..PROVIDERS).find(|number| provider_id(*number) == provider).unwrap();
            let changes = &outages[usize::try_from(number).unwrap()];
            let is_broken = changes.partition_point(|change| *change <= at.as_secs()) % 2 == 1;
            let millis = match (is_broken, behaviour.number_below(10)) {
                (true, 0) => 15_000,
                (true, _) => 1 + behaviour.number_below(2_000),
                (false, 0) => 1 + behaviour.number_below(900),
                (false, _) => 1 + behaviour.number_below(60),
            };
            (Duration::from_millis(millis), !is_broken && behaviour.number_below(50) > 0)
        };
        let mut simulation = Simulation::new(Box::new(receiver));
        simulation.tick = Duration::from_millis(200);
        simulation.add_dispatcher();
        for _ in 0..EVENTS {
            let at = Duration::from_micros(dice.number_below(365 * DAY * 1_000_000));
            let (burst, provider) = (1 + dice.number_below(3), dice.number_below(PROVIDERS));
            (0..burst).for_each(|_| simulation.add_event_at(at, provider));
        }
        simulation.run_until(Duration::from_secs(375 * DAY));
        assert_all_settled(&simulation, seed);
    }
}

fn assert_all_settled(simulation: &Simulation, seed: u64) {
    let (delivered, exhausted) = (
        simulation.store.count_in_state(EventState::Delivered),
        simulation.store.count_in_state(EventState::Exhausted),
    );
    assert_eq!(delivered + exhausted, simulation.created.len(), "seed {seed}: events were lost");
    assert!(delivered > 500 && exhausted > 0, "seed {seed}: {delivered} delivered, {exhausted} exhausted");
    let mut attempts: HashMap<_, Vec<_>> = HashMap::new();
    for sent in &simulation.sent {
        attempts.entry(sent.event).or_default().push(*sent);
    }
    simulation.store.with_data(|data| {
        for (event, sent) in &attempts {
            let row = &data.rows[event];
            assert_eq!(row.attempts.len(), sent.len(), "seed {seed}: an attempt is not recorded");
            assert!(sent.len() <= 11);
            assert_eq!(row.state == EventState::Delivered, sent.last().unwrap().confirmed);
            assert_eq!(
                sent.iter().filter(|attempt| attempt.confirmed).count(),
                usize::from(row.state == EventState::Delivered)
            );
            assert!(row.state == EventState::Delivered || sent.len() == 11);
            for (retry, pair) in (0..).zip(sent.windows(2)) {
                let waited = pair[1].started - pair[0].ended;
                let wait = RetrySchedule::default().retry_wait(retry).unwrap();
                assert!(waited >= wait, "seed {seed}: retry {retry} came {:?} early", wait - waited);
                // Events that fall due at the same time wait, because their provider may have only eight attempts in
                // progress.
                assert!(waited <= wait + Duration::from_secs(120), "seed {seed}: retry {retry} came late");
            }
        }
    });
}
