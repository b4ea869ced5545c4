//! The migrations of this program. They are not embedded with diesel_migrations, because it gives no access
//! to their SQL and no control over how they run.

use super::migration::Migration;

include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

#[cfg(test)]
mod tests {
    use super::super::script::{Script, Step};
    use super::{Migration, POSTGRES, SQLITE};

    #[test]
    fn every_file_can_be_read_and_both_databases_have_the_same() {
        let names = |all: &[Migration]| all.iter().map(|migration| migration.name).collect::<Vec<_>>();
        assert_eq!(names(SQLITE), names(POSTGRES));
        for migration in SQLITE.iter().chain(POSTGRES) {
            Script::parse(migration).unwrap();
        }
        for migration in SQLITE {
            let steps = Script::parse(migration).unwrap().steps;
            assert!(steps.iter().all(|step| !matches!(step, Step::Concurrently(_))), "{}", migration.name);
        }
    }

    #[test]
    fn no_floor_is_a_version_that_never_was() {
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
