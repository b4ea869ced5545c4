//! Users.

use super::world::{World, email, line, page, profile};
use crate::ports::{Denied, Lookup};
use crate::users::{
    self, CreateUserError, DeleteUserError, Found, Key, UpdateDetails, UpdateUser, UpdateUserError, User,
};
use crate::values::{CompanyId, Update, UserId};
use crate::wallets::WalletType;

fn change(world: &World<'_>, user: UserId, command: &UpdateUser) -> Result<User, UpdateUserError> {
    world.transaction(|tx| users::update(tx, world.provider, user, command, &world.context()))
}

pub(super) fn a_new_user_has_its_wallets(world: &World<'_>) {
    let mut boss = profile("boss");
    (boss.manager, boss.corporation_admin) = (true, true);
    let made = world.user_of(&boss);
    assert!(!made.profile.corporation_admin, "there is no corporation");
    assert_eq!(world.read(|tx| tx.user(world.provider, made.id)), Lookup::Own(made.clone()));
    assert_eq!(world.read(|tx| tx.provider_of_user(made.id)), Some(world.provider));
    let ann = world.user("ann");
    let wallets = world.read(|tx| tx.wallets_of(&[ann, made.id]));
    assert_eq!(wallets.iter().map(Vec::len).collect::<Vec<_>>(), [2, 3]);
    let (_, foreign, _) = world.foreign();
    let create = |company| {
        world.transaction(|tx| users::create(tx, world.provider, company, &profile("x"), &world.context()))
    };
    let absent = create(CompanyId::from_uuid(world.uuid()));
    assert!(matches!(absent, Err(CreateUserError::Denied(Denied::Absent("company_id")))));
    let denied = create(foreign.company.id);
    assert!(matches!(denied, Err(CreateUserError::Denied(Denied::Foreign("company_id")))));
}

pub(super) fn an_email_address_is_unique_among_active_users_of_a_company(world: &World<'_>) {
    let ann = world.user("ann");
    let create = |name: &str| {
        let profile = profile(name);
        world.transaction(|tx| users::create(tx, world.provider, world.company, &profile, &world.context()))
    };
    assert!(matches!(create("ANN"), Err(CreateUserError::EmailTaken)));
    let by_email = |text: &str| {
        let address = email(text);
        world.read(|tx| tx.active_user_by_email(world.company, &address))
    };
    assert_eq!(by_email("Ann@Example.com"), Some(ann));
    world.delete(ann).unwrap();
    assert_eq!(by_email("ann@example.com"), None);
    let again = create("ann").unwrap();
    assert_eq!(by_email("ann@example.com"), Some(again.id));
    // Another company can use the same address.
    let other = world.create_company(world.provider, &super::world::company("other.example.com"));
    assert_ne!(other.company.owner_id, world.owner);
}

pub(super) fn a_user_update_writes_only_what_differs(world: &World<'_>) {
    let before = world.user_of(&profile("ann"));
    assert_eq!(change(world, before.id, &UpdateUser::default()).unwrap(), before);
    let same = UpdateUser {
        company_id: Some(world.company),
        email: Some(email("ANN@example.com")),
        first_name: Some(line("ann")),
        details: UpdateDetails { title: Update::Clear, ..UpdateDetails::default() },
        ..UpdateUser::default()
    };
    assert_eq!(change(world, before.id, &same).unwrap(), before);
    let command = UpdateUser {
        email: Some(email("anna@example.com")),
        details: UpdateDetails { title: Update::Set(line("Baker")), ..UpdateDetails::default() },
        corporation_admin: Some(true),
        ..UpdateUser::default()
    };
    let after = change(world, before.id, &command).unwrap();
    assert_eq!(
        (after.profile.email.as_str(), &after.profile.details.title),
        ("anna@example.com", &Some(line("Baker")))
    );
    assert!(!after.profile.corporation_admin, "there is no corporation");
    assert!(after.updated_at > before.updated_at);
    assert_eq!(world.read(|tx| tx.user(world.provider, before.id)), Lookup::Own(after));
}

pub(super) fn invalid_user_updates_are_refused(world: &World<'_>) {
    let (provider, foreign, _) = world.foreign();
    let (ann, bob) = (world.user("ann"), world.user("bob"));
    let nothing = UpdateUser::default();
    let absent = change(world, UserId::from_uuid(world.uuid()), &nothing);
    assert!(matches!(absent, Err(UpdateUserError::Denied(Denied::Absent("id")))));
    let denied = change(world, foreign.company.owner_id, &nothing);
    assert!(matches!(denied, Err(UpdateUserError::Denied(Denied::Foreign("id")))));
    let by_another = world.transaction(|tx| users::update(tx, provider, ann, &nothing, &world.context()));
    assert!(matches!(by_another, Err(UpdateUserError::Denied(Denied::Foreign("id")))));
    let refused = |command: &UpdateUser| change(world, ann, command).unwrap_err();
    let elsewhere = UpdateUser { company_id: Some(foreign.company.id), ..UpdateUser::default() };
    assert!(matches!(refused(&elsewhere), UpdateUserError::OtherCompany));
    let nameless = UpdateUser { last_name: Update::Clear, ..UpdateUser::default() };
    assert!(matches!(refused(&nameless), UpdateUserError::NoLastName));
    let taken = UpdateUser { email: Some(email("BOB@example.com")), ..UpdateUser::default() };
    assert!(matches!(refused(&taken), UpdateUserError::EmailTaken));
    let no_admin = UpdateUser { company_admin: Some(false), ..UpdateUser::default() };
    assert!(matches!(change(world, world.owner, &no_admin), Err(UpdateUserError::IsOwner)));
    world.delete(bob).unwrap();
    assert!(matches!(change(world, bob, &nothing), Err(UpdateUserError::Deleted)));
    change(world, ann, &taken).unwrap();
}

pub(super) fn the_manager_wallet_opens_once_and_stays(world: &World<'_>) {
    let ann = world.user("ann");
    for (manager, expected) in
        [(false, None), (true, Some((0, 0))), (false, Some((0, 0))), (true, Some((0, 0)))]
    {
        change(world, ann, &UpdateUser { manager: Some(manager), ..UpdateUser::default() }).unwrap();
        assert_eq!(world.shows(WalletType::Manager, ann), expected);
    }
}

pub(super) fn a_user_is_deleted_once_and_an_owner_never(world: &World<'_>) {
    let (_, foreign, _) = world.foreign();
    let ann = world.user("ann");
    assert!(matches!(world.delete(world.owner), Err(DeleteUserError::IsOwner)));
    let absent = world.delete(UserId::from_uuid(world.uuid()));
    assert!(matches!(absent, Err(DeleteUserError::Denied(Denied::Absent("id")))));
    let denied = world.delete(foreign.company.owner_id);
    assert!(matches!(denied, Err(DeleteUserError::Denied(Denied::Foreign("id")))));
    world.delete(ann).unwrap();
    let first = world.read(|tx| tx.user(world.provider, ann)).named("id").unwrap();
    assert!(first.deleted_at.is_some());
    world.delete(ann).unwrap();
    assert_eq!(world.read(|tx| tx.user(world.provider, ann)), Lookup::Own(first));
}

pub(super) fn users_are_found_and_listed_in_order(world: &World<'_>) {
    let (_, foreign, _) = world.foreign();
    let mut boss = profile("boss");
    (boss.manager, boss.company_admin) = (true, true);
    let (ann, boss) = (world.user("ann"), world.user_of(&boss).id);
    let gone = world.user("gone");
    world.delete(gone).unwrap();
    assert_eq!(world.read(|tx| tx.active_users(world.company, false)), [world.owner, ann, boss]);
    assert_eq!(world.read(|tx| tx.active_users(world.company, true)), [boss]);
    assert_eq!(world.read(|tx| tx.active_users_page(world.company, page(2, 2))), [boss]);
    let admins = world.read(|tx| tx.admin_emails(world.company));
    assert_eq!(admins, [email("owner@example.com"), email("boss@example.com")]);
    let absent = UserId::from_uuid(world.uuid());
    let ids = [gone, foreign.company.owner_id, absent, ann];
    let people = world.read(|tx| tx.people(world.provider, &ids));
    assert!(matches!(&people[0], Lookup::Own(user) if !user.active && user.id == gone));
    assert_eq!((&people[1], &people[2]), (&Lookup::Foreign, &Lookup::Absent));
    assert!(matches!(&people[3], Lookup::Own(user) if user.active && user.name() == "ann Doe"));
}

pub(super) fn many_users_are_found_by_their_keys(world: &World<'_>) {
    let employed = |name: &str, employee_id: &str| {
        let mut profile = profile(name);
        profile.details.employee_id = Some(line(employee_id));
        world.user_of(&profile)
    };
    let (ann, bob) = (employed("ann", "1"), employed("bob", "2"));
    let (_one, _other) = (employed("cy", "3"), employed("di", "3"));
    world.delete(employed("gone", "4").id).unwrap();
    let (_, foreign, _) = world.foreign();
    let find = |company, keys: &[(&str, &str)]| {
        let key = |(employee_id, address): &(&str, &str)| Key {
            employee_id: (!employee_id.is_empty()).then(|| line(employee_id)),
            email: (!address.is_empty()).then(|| email(address)),
        };
        let keys: Vec<Key> = keys.iter().map(key).collect();
        world.read(|tx| users::find_all(tx, company, &keys))
    };
    let one = |user: &User| Found::One(Box::new(user.clone()));
    let keys = [
        ("1", ""),
        ("", "BOB@example.com"),
        ("1", "bob@example.com"),
        ("9", "bob@example.com"),
        ("3", "ann@example.com"),
        ("4", "gone@example.com"),
        ("", ""),
    ];
    let found = find(world.company, &keys);
    let expected = [one(&ann), one(&bob), one(&ann), one(&bob), Found::Several, Found::Nobody, Found::Nobody];
    assert_eq!(found, expected);
    assert_eq!(find(foreign.company.id, &[("1", "ann@example.com")]), [Found::Nobody]);
    assert_eq!(find(world.company, &[]), []);
}

pub(super) fn many_users_are_created_except_for_taken_addresses(world: &World<'_>) {
    let ann = world.user("ann");
    let mut boss = profile("boss");
    (boss.manager, boss.corporation_admin) = (true, true);
    let profiles = [profile("bob"), profile("ANN"), boss, profile("Bob"), profile("cy")];
    let create = |company: CompanyId| {
        let profiles = profiles.to_vec();
        world.transaction(|tx| {
            users::create_all(tx, world.provider, company, profiles.clone(), &world.context())
        })
    };
    assert_eq!(create(world.company).unwrap(), [true, false, true, false, true]);
    let ids = world.read(|tx| tx.active_users(world.company, false));
    let users: Vec<User> =
        ids.iter().map(|id| world.read(|tx| tx.user(world.provider, *id)).named("id").unwrap()).collect();
    let emails: Vec<&str> = users.iter().map(|user| user.profile.email.as_str()).collect();
    let expected = ["owner", "ann", "bob", "boss", "cy"].map(|name| format!("{name}@example.com"));
    assert_eq!(emails, expected);
    assert!(users.iter().all(|user| !user.profile.corporation_admin), "there is no corporation");
    let wallets = world.read(|tx| tx.wallets_of(&ids));
    assert_eq!(wallets.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 3, 2]);
    assert_eq!(create(world.company).unwrap(), [false; 5]);
    assert_eq!(world.read(|tx| tx.user(world.provider, ann)), Lookup::Own(users[1].clone()));
    let (_, foreign, _) = world.foreign();
    assert!(matches!(
        create(foreign.company.id),
        Err(CreateUserError::Denied(Denied::Foreign("company_id")))
    ));
}
