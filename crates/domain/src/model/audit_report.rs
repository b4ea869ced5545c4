//! The results of an audit.

use std::collections::BTreeMap;

/// The maximum number of reported violations of one invariant. Further ones are only counted.
const DETAILS_PER_INVARIANT_MAX: usize = 100;

/// One violated invariant, described for the operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The invariant's short name, such as `balance` or `conservation`.
    pub invariant: &'static str,
    /// The fault and its location.
    pub detail: String,
}

/// The number of rows that an audit has read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckedRows {
    pub journal_entries: u64,
    pub transfers: u64,
    pub accounts: u64,
    pub recognitions: u64,
    pub events: u64,
    pub seals: u64,
}

/// The results of an audit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditReport {
    /// Empty if the database is intact.
    pub violations: Vec<Violation>,
    pub checked: CheckedRows,
}

/// The violations so far: at most a hundred descriptions per invariant, and a count of the others.
#[derive(Debug, Default)]
pub struct Findings {
    violations: BTreeMap<&'static str, (Vec<String>, u64)>,
    pub checked: CheckedRows,
}

impl Findings {
    /// Adds a violation. `detail` is called only if the description will be shown.
    pub fn add_violation(&mut self, invariant: &'static str, detail: impl FnOnce() -> String) {
        let (details, more) = self.violations.entry(invariant).or_default();
        if details.len() < DETAILS_PER_INVARIANT_MAX {
            details.push(detail());
        } else {
            *more += 1;
        }
    }

    /// Adds a violation if `holds` is false.
    pub fn require(&mut self, holds: bool, invariant: &'static str, detail: impl FnOnce() -> String) {
        if !holds {
            self.add_violation(invariant, detail);
        }
    }

    /// Adds the findings of another part.
    pub fn merge(&mut self, other: Self) {
        for (invariant, (details, more)) in other.violations {
            let (_, counted) = self.violations.entry(invariant).or_default();
            *counted += more;
            details.into_iter().for_each(|detail| self.add_violation(invariant, || detail));
        }
        let (sum, more) = (&mut self.checked, other.checked);
        sum.journal_entries += more.journal_entries;
        sum.transfers += more.transfers;
        sum.accounts += more.accounts;
        sum.recognitions += more.recognitions;
        sum.events += more.events;
        sum.seals += more.seals;
    }

    /// All violations, ordered by the names of the invariants.
    pub fn into_violations(self) -> Vec<Violation> {
        let to_violations = |(invariant, (details, more)): (&'static str, (Vec<String>, u64))| {
            let rest = (more > 0).then(|| format!("and {more} more"));
            details.into_iter().chain(rest).map(move |detail| Violation { invariant, detail })
        };
        self.violations.into_iter().flat_map(to_violations).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn violations_beyond_the_limit_are_only_counted() {
        let mut findings = Findings::default();
        for number in 0..103 {
            findings.add_violation("b", || format!("line {number}"));
        }
        let mut elsewhere = Findings::default();
        elsewhere.require(true, "a", || unreachable!());
        elsewhere.require(false, "a", || "only".to_owned());
        findings.merge(elsewhere);
        let all = findings.into_violations();
        assert_eq!(all.len(), 102);
        assert_eq!((all[0].invariant, all[0].detail.as_str()), ("a", "only"));
        assert_eq!(all[101].detail, "and 3 more");
    }

    #[test]
    fn merged_findings_are_one_list() {
        let found = |count| {
            let mut findings = Findings::default();
            (0..count).for_each(|number| findings.add_violation("a", || format!("line {number}")));
            findings
        };
        let mut all = found(120);
        all.merge(found(110));
        let all = all.into_violations();
        assert_eq!((all.len(), all[100].detail.as_str()), (101, "and 130 more"));
    }
}

/// A part of an audit that can run independently of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditPart {
    /// The database's own checks of its files.
    Storage,
    /// The accounts, compared with their entries.
    Balances,
    /// The journal in order, with transfers, recognitions and events, and the chain of seals.
    Journal,
    /// Checks by single queries.
    Tables,
}

impl AuditPart {
    /// Every part, the longest first.
    pub const ALL: [Self; 4] = [Self::Storage, Self::Balances, Self::Journal, Self::Tables];
}
