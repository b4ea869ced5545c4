//! Reading the audit log page by page.

use guerdon_domain::audit_log::newest;
use guerdon_domain::ports::AuditWanted;

use crate::support::on_each;

#[test]
fn log_pages_contain_each_entry_once() {
    on_each(|world| {
        let moment = world.context().clock.now();
        for points in 1..=9 {
            world.clock.jump(moment); // several entries may have the same timestamp
            world.deposit(points);
        }
        let look = |before, limit| {
            let wanted =
                AuditWanted { company: Some(world.company), before, limit, ..AuditWanted::default() };
            world.reading(|reads| newest(reads, &wanted))
        };
        let all: Vec<_> = look(None, 50).into_iter().map(|entry| entry.id).collect();
        let (mut told, mut before) = (Vec::new(), None);
        loop {
            let some = look(before, 4);
            let Some(last) = some.last() else { break };
            before = Some(last.id);
            told.extend(some.into_iter().map(|entry| entry.id));
        }
        assert!(all.len() > 9, "includes the creation of the company: {all:?}");
        assert_eq!(told, all);
    });
}
