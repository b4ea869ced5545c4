//! Reading the audit log page by page.

use guerdon_domain::audit_log::list_newest_entries;
use guerdon_domain::ports::AuditLogQuery;

use crate::support::on_each_database;

#[test]
fn log_pages_contain_each_entry_once() {
    on_each_database(|fixture| {
        let moment = fixture.context().clock.now();
        for points in 1..=9 {
            fixture.clock.set_time(moment); // several entries may have the same timestamp
            fixture.deposit_points(points);
        }
        let look = |before, limit| {
            let wanted =
                AuditLogQuery { company: Some(fixture.company), before, limit, ..AuditLogQuery::default() };
            fixture.read_snapshot(|reads| list_newest_entries(reads, &wanted))
        };
        let all: Vec<_> = look(None, 50).into_iter().map(|entry| entry.id).collect();
        let (mut listed, mut before) = (Vec::new(), None);
        loop {
            let some = look(before, 4);
            let Some(last) = some.last() else { break };
            before = Some(last.id);
            listed.extend(some.into_iter().map(|entry| entry.id));
        }
        assert!(all.len() > 9, "includes the creation of the company: {all:?}");
        assert_eq!(listed, all);
    });
}

#[test]
fn points_have_thousands_separators() {
    on_each_database(|fixture| {
        fixture.deposit_points(1);
        fixture.deposit_points(1_250);
        let newest = AuditLogQuery { company: Some(fixture.company), limit: 2, ..AuditLogQuery::default() };
        let entries = fixture.read_snapshot(|reads| list_newest_entries(reads, &newest));
        let details: Vec<_> = entries.into_iter().map(|entry| entry.detail).collect();
        assert_eq!(details, ["1,250 points", "1 point"]);
    });
}
