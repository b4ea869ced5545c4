//! Occasions.

use super::env::{TestEnv, line, occasion_text, page};
use crate::occasions::{self, CreateOccasionError, Occasion, UpdateOccasion, UpdateOccasionError};
use crate::ports::{Denied, DeniedReference, Lookup};
use crate::values::{CompanyId, OccasionId};

fn create_global_occasion(env: &TestEnv<'_>) -> Occasion {
    env.with_tx(|tx| occasions::create_global(tx, &occasion_text("Everybody's"), &env.context()))
}

fn update_occasion(
    env: &TestEnv<'_>,
    id: OccasionId,
    update: &UpdateOccasion,
) -> Result<Occasion, UpdateOccasionError> {
    env.transaction(|tx| occasions::update(tx, env.provider, id, update, &env.context()))
}

fn delete_occasion(env: &TestEnv<'_>, id: OccasionId) -> Result<(), UpdateOccasionError> {
    env.transaction(|tx| occasions::delete(tx, env.provider, id, &env.context()))
}

pub(super) fn an_occasion_is_created_in_a_company_of_the_provider(env: &TestEnv<'_>) {
    let (_, foreign, _) = env.create_foreign_company();
    let create = |company| {
        env.transaction(|tx| {
            occasions::create(tx, env.provider, company, &occasion_text("New"), false, true, &env.context())
        })
    };
    let created = create(env.company).unwrap();
    assert!(!created.enabled && created.visible && !created.is_global());
    assert_eq!(env.with_tx(|tx| tx.find_occasion(env.provider, created.id)), Lookup::Own(created));
    let absent = create(CompanyId::from_uuid(env.new_uuid()));
    assert!(matches!(
        absent,
        Err(CreateOccasionError::Denied(DeniedReference { denied: Denied::Absent("company_id"), .. }))
    ));
    let denied = create(foreign.company.id);
    assert!(matches!(
        denied,
        Err(CreateOccasionError::Denied(DeniedReference { denied: Denied::Foreign("company_id"), .. }))
    ));
}

pub(super) fn an_occasion_update_writes_only_what_differs(env: &TestEnv<'_>) {
    let before = env.create_occasion(env.company, "Before");
    let same = UpdateOccasion {
        company_id: Some(env.company),
        name: Some(line("Before")),
        enabled: Some(true),
        ..UpdateOccasion::default()
    };
    assert_eq!(update_occasion(env, before.id, &same).unwrap(), before);
    let update = UpdateOccasion { name: Some(line("After")), enabled: Some(false), ..same };
    let after = update_occasion(env, before.id, &update).unwrap();
    assert_eq!((after.text.name.as_str(), after.enabled), ("After", false));
    assert!(after.updated_at > before.updated_at);
    assert_eq!(env.with_tx(|tx| tx.find_occasion(env.provider, before.id)), Lookup::Own(after));
}

pub(super) fn a_foreign_or_global_occasion_is_never_changed(env: &TestEnv<'_>) {
    let (_, foreign, foreign_occasion) = env.create_foreign_company();
    let global = create_global_occasion(env);
    let nothing = UpdateOccasion::default();
    let absent = OccasionId::from_uuid(env.new_uuid());
    for refused in [update_occasion(env, absent, &nothing).map(drop), delete_occasion(env, absent)] {
        assert!(matches!(refused, Err(UpdateOccasionError::Denied(Denied::Absent("id")))));
    }
    for refused in [
        update_occasion(env, foreign_occasion.id, &nothing).map(drop),
        delete_occasion(env, foreign_occasion.id),
    ] {
        assert!(matches!(refused, Err(UpdateOccasionError::Denied(Denied::Foreign("id")))));
    }
    for refused in [update_occasion(env, global.id, &nothing).map(drop), delete_occasion(env, global.id)] {
        assert!(matches!(refused, Err(UpdateOccasionError::Global)));
    }
    let elsewhere = UpdateOccasion { company_id: Some(foreign.company.id), ..UpdateOccasion::default() };
    let refused = update_occasion(env, env.occasion, &elsewhere);
    assert!(matches!(refused, Err(UpdateOccasionError::OtherCompany)));
    assert_eq!(env.with_tx(|tx| tx.find_occasion(env.provider, global.id)), Lookup::Own(global));
}

pub(super) fn a_deleted_occasion_keeps_its_name(env: &TestEnv<'_>) {
    delete_occasion(env, env.occasion).unwrap();
    assert_eq!(env.with_tx(|tx| tx.find_occasion(env.provider, env.occasion)), Lookup::Absent);
    assert_eq!(env.with_tx(|tx| tx.find_occasion_name(env.occasion)), Some(line("Great job")));
    assert_eq!(env.with_tx(|tx| tx.count_occasions(env.company)), 0);
    let again = delete_occasion(env, env.occasion);
    assert!(matches!(again, Err(UpdateOccasionError::Denied(Denied::Absent("id")))));
    assert_eq!(env.with_tx(|tx| tx.find_occasion_name(OccasionId::from_uuid(env.new_uuid()))), None);
}

pub(super) fn occasions_of_a_company_and_global_ones_are_listed_together(env: &TestEnv<'_>) {
    let (_, foreign, _) = env.create_foreign_company();
    let global = create_global_occasion(env).id;
    let last = env.create_occasion(env.company, "Last").id;
    let listed = |company, number| {
        let found = env.with_tx(|tx| tx.list_occasions(company, page(number, 2)));
        found.iter().map(|occasion| occasion.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(env.company, 1), [env.occasion, global]);
    assert_eq!(listed(env.company, 2), [last]);
    assert_eq!(env.with_tx(|tx| tx.count_occasions(env.company)), 3);
    assert_eq!(env.with_tx(|tx| tx.count_occasions(foreign.company.id)), 2);
}
