//! The migrations of this program. They are not embedded with diesel_migrations, because it gives no access
//! to their SQL and no control over how they run.

use super::migration::Migration;

include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

#[cfg(test)]
mod tests {
    use super::super::script::{MigrationStep, Script};
    use super::{Migration, POSTGRES, SQLITE};

    #[test]
    fn both_databases_have_the_same_migrations() {
        let names = |all: &[Migration]| all.iter().map(|migration| migration.name).collect::<Vec<_>>();
        assert_eq!(names(SQLITE), names(POSTGRES));
        for migration in SQLITE.iter().chain(POSTGRES) {
            Script::parse(migration).unwrap();
        }
        for migration in SQLITE {
            let steps = Script::parse(migration).unwrap().steps;
            assert!(
                steps.iter().all(|step| !matches!(step, MigrationStep::ConcurrentIndex(_))),
                "{}",
                migration.name
            );
        }
    }

    #[test]
    fn floors_are_existing_versions() {
        for all in [SQLITE, POSTGRES] {
            for migration in all {
                let floor = Script::parse(migration).unwrap().floor;
                assert!(
                    all.iter().any(|other| other.version() == floor),
                    "{}: floor {floor}",
                    migration.name
                );
            }
        }
    }
}
