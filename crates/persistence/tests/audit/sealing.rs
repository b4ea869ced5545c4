//! Sealing while entries are added.

use guerdon_domain::ports::{Clock as _, Pacer, Seal};
use guerdon_domain::sealing::{SealOutcome, seal_until};

use crate::support::{LedgerFixture, on_each_database};

/// How many entries a step seals.
const STEP_ENTRIES: usize = 3;
/// Sealing that never ends is stopped after this many steps.
const STEPS_MAX: usize = 1_000;

/// Adds entries after each step.
struct AddsEntries<'a> {
    fixture: &'a LedgerFixture,
    entries: usize,
    steps: usize,
}

impl Pacer for AddsEntries<'_> {
    fn rows_max(&self) -> i64 {
        i64::try_from(STEP_ENTRIES).unwrap()
    }

    fn begin_step(&mut self) {}

    fn end_step(&mut self) {
        self.steps += 1;
        assert!(self.steps < STEPS_MAX, "sealing never ends while entries are added");
        add_entries(self.fixture, self.entries);
    }

    fn begin_phase(&mut self) {}
}

fn add_entries(fixture: &LedgerFixture, count: usize) {
    (0..count).for_each(|_| fixture.deposit_points(1));
}

fn last_seal(fixture: &LedgerFixture) -> Option<Seal> {
    fixture.read_snapshot(|reads| reads.last_seal())
}

#[test]
fn sealing_up_to_an_end_ends_although_each_step_adds_as_many_entries_as_it_seals() {
    on_each_database(|fixture| {
        add_entries(fixture, 4 * STEP_ENTRIES);
        let end = fixture.read_snapshot(|reads| reads.ledger_end());
        let mut pacer = AddsEntries { fixture, entries: STEP_ENTRIES, steps: 0 };
        // Tests of other databases on the same server can delay a seal briefly.
        let latest = loop {
            let sealed = seal_until(fixture.store.as_ref(), end, fixture.clock.now(), &mut pacer).unwrap();
            if let SealOutcome::Complete(latest) = sealed {
                break latest;
            }
        };
        assert!(pacer.steps >= 4, "{} steps", pacer.steps);
        assert!(latest.is_some() && latest == last_seal(fixture));
        assert!(!fixture.read_snapshot(|reads| reads.has_unsealed_rows_before(end)));
        let later_end = fixture.read_snapshot(|reads| reads.ledger_end());
        assert!(fixture.read_snapshot(|reads| reads.has_unsealed_rows_before(later_end)));
    });
}
