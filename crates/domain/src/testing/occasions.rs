//! Occasions.

use super::world::{World, line, page, text};
use crate::occasions::{self, ChangeOccasionError, CreateOccasionError, Occasion, UpdateOccasion};
use crate::ports::{Denied, Lookup};
use crate::values::{CompanyId, OccasionId};

fn global(world: &World<'_>) -> Occasion {
    world.read(|tx| occasions::create_global(tx, &text("Everybody's"), &world.context()))
}

fn change(
    world: &World<'_>,
    id: OccasionId,
    command: &UpdateOccasion,
) -> Result<Occasion, ChangeOccasionError> {
    world.transaction(|tx| occasions::update(tx, world.provider, id, command, &world.context()))
}

fn delete(world: &World<'_>, id: OccasionId) -> Result<(), ChangeOccasionError> {
    world.transaction(|tx| occasions::delete(tx, world.provider, id, &world.context()))
}

pub(super) fn an_occasion_is_created_in_a_company_of_the_provider(world: &World<'_>) {
    let (_, foreign, _) = world.foreign();
    let create = |company| {
        world.transaction(|tx| {
            occasions::create(tx, world.provider, company, &text("New"), false, true, &world.context())
        })
    };
    let made = create(world.company).unwrap();
    assert!(!made.enabled && made.visible && !made.is_global());
    assert_eq!(world.read(|tx| tx.occasion(world.provider, made.id)), Lookup::Own(made));
    let absent = create(CompanyId::from_uuid(world.uuid()));
    assert!(matches!(absent, Err(CreateOccasionError::Denied(Denied::Absent("company_id")))));
    let denied = create(foreign.company.id);
    assert!(matches!(denied, Err(CreateOccasionError::Denied(Denied::Foreign("company_id")))));
}

pub(super) fn an_occasion_update_writes_only_what_differs(world: &World<'_>) {
    let before = world.occasion_of(world.company, "Before");
    let same = UpdateOccasion {
        company_id: Some(world.company),
        name: Some(line("Before")),
        enabled: Some(true),
        ..UpdateOccasion::default()
    };
    assert_eq!(change(world, before.id, &same).unwrap(), before);
    let command = UpdateOccasion { name: Some(line("After")), enabled: Some(false), ..same };
    let after = change(world, before.id, &command).unwrap();
    assert_eq!((after.text.name.as_str(), after.enabled), ("After", false));
    assert!(after.updated_at > before.updated_at);
    assert_eq!(world.read(|tx| tx.occasion(world.provider, before.id)), Lookup::Own(after));
}

pub(super) fn a_foreign_or_global_occasion_is_never_changed(world: &World<'_>) {
    let (_, foreign, theirs) = world.foreign();
    let everybodys = global(world);
    let nothing = UpdateOccasion::default();
    let absent = OccasionId::from_uuid(world.uuid());
    for refused in [change(world, absent, &nothing).map(drop), delete(world, absent)] {
        assert!(matches!(refused, Err(ChangeOccasionError::Denied(Denied::Absent("id")))));
    }
    for refused in [change(world, theirs.id, &nothing).map(drop), delete(world, theirs.id)] {
        assert!(matches!(refused, Err(ChangeOccasionError::Denied(Denied::Foreign("id")))));
    }
    for refused in [change(world, everybodys.id, &nothing).map(drop), delete(world, everybodys.id)] {
        assert!(matches!(refused, Err(ChangeOccasionError::Global)));
    }
    let elsewhere = UpdateOccasion { company_id: Some(foreign.company.id), ..UpdateOccasion::default() };
    let refused = change(world, world.occasion, &elsewhere);
    assert!(matches!(refused, Err(ChangeOccasionError::OtherCompany)));
    assert_eq!(world.read(|tx| tx.occasion(world.provider, everybodys.id)), Lookup::Own(everybodys));
}

pub(super) fn a_deleted_occasion_keeps_its_name(world: &World<'_>) {
    delete(world, world.occasion).unwrap();
    assert_eq!(world.read(|tx| tx.occasion(world.provider, world.occasion)), Lookup::Absent);
    assert_eq!(world.read(|tx| tx.occasion_name(world.occasion)), Some(line("Great job")));
    assert_eq!(world.read(|tx| tx.occasion_count(world.company)), 0);
    let again = delete(world, world.occasion);
    assert!(matches!(again, Err(ChangeOccasionError::Denied(Denied::Absent("id")))));
    assert_eq!(world.read(|tx| tx.occasion_name(OccasionId::from_uuid(world.uuid()))), None);
}

pub(super) fn occasions_of_a_company_and_global_ones_are_listed_together(world: &World<'_>) {
    let (_, foreign, _) = world.foreign();
    let everybodys = global(world).id;
    let last = world.occasion_of(world.company, "Last").id;
    let listed = |company, number| {
        let found = world.read(|tx| tx.occasions(company, page(number, 2)));
        found.iter().map(|occasion| occasion.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(world.company, 1), [world.occasion, everybodys]);
    assert_eq!(listed(world.company, 2), [last]);
    assert_eq!(world.read(|tx| tx.occasion_count(world.company)), 3);
    assert_eq!(world.read(|tx| tx.occasion_count(foreign.company.id)), 2);
}
