//! New identifiers.

use guerdon_domain::ports::IdGenerator;
use uuid::Uuid;

/// Generates UUIDs of version 7, which increase monotonically within the process.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct SystemIds;

impl IdGenerator for SystemIds {
    #[expect(clippy::disallowed_methods, reason = "this is the adapter behind the IdGenerator port")]
    fn next_id(&self) -> Uuid {
        Uuid::now_v7()
    }
}

#[cfg(test)]
mod tests {
    use guerdon_domain::ports::IdGenerator;

    #[test]
    fn ids_increase() {
        let ids: Vec<_> = (0..10_000).map(|_| super::SystemIds.next_id()).collect();
        assert!(ids.is_sorted_by(|a, b| a < b));
        assert!(ids.iter().all(|id| id.get_version_num() == 7));
    }
}
