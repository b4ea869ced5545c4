//! Users.

use super::env::{TestEnv, email, line, page, user_profile};
use crate::distributions::Recipients;
use crate::ports::{Denied, DeniedReference, Lookup};
use crate::users::{
    self, CreateUserError, DeleteUserError, UpdateDetails, UpdateUser, UpdateUserError, User, UserKey,
    UserMatch,
};
use crate::values::{CompanyId, Update, UserId};
use crate::wallets::WalletType;

fn update_user(env: &TestEnv<'_>, user: UserId, update: &UpdateUser) -> Result<User, UpdateUserError> {
    env.transaction(|tx| users::update(tx, env.provider, user, update, &env.context()))
}

pub(super) fn a_new_user_has_its_wallets(env: &TestEnv<'_>) {
    let mut boss = user_profile("boss");
    (boss.manager, boss.corporation_admin) = (true, true);
    let created = env.create_user_from(&boss);
    assert!(!created.profile.corporation_admin, "there is no corporation");
    assert_eq!(env.with_tx(|tx| tx.find_user(env.provider, created.id)), Lookup::Own(created.clone()));
    assert_eq!(env.with_tx(|tx| tx.provider_of_user(created.id)), Some(env.provider));
    let ann = env.create_user("ann");
    let wallets = env.with_tx(|tx| tx.list_wallets_of_users(&[ann, created.id]));
    assert_eq!(wallets.iter().map(Vec::len).collect::<Vec<_>>(), [2, 3]);
    let (_, foreign, _) = env.create_foreign_company();
    let create = |company| {
        env.transaction(|tx| users::create(tx, env.provider, company, &user_profile("x"), &env.context()))
    };
    let absent = create(CompanyId::from_uuid(env.new_uuid()));
    assert!(matches!(
        absent,
        Err(CreateUserError::Denied(DeniedReference { denied: Denied::Absent("company_id"), .. }))
    ));
    let denied = create(foreign.company.id);
    assert!(matches!(
        denied,
        Err(CreateUserError::Denied(DeniedReference { denied: Denied::Foreign("company_id"), .. }))
    ));
}

pub(super) fn an_email_address_is_unique_among_active_users_of_a_company(env: &TestEnv<'_>) {
    let ann = env.create_user("ann");
    let create = |name: &str| {
        let profile = user_profile(name);
        env.transaction(|tx| users::create(tx, env.provider, env.company, &profile, &env.context()))
    };
    assert!(matches!(create("ANN"), Err(CreateUserError::EmailTaken)));
    let by_email = |text: &str| {
        let address = email(text);
        env.with_tx(|tx| tx.find_active_user_by_email(env.company, &address))
    };
    assert_eq!(by_email("Ann@Example.com"), Some(ann));
    env.delete_user(ann).unwrap();
    assert_eq!(by_email("ann@example.com"), None);
    let again = create("ann").unwrap();
    assert_eq!(by_email("ann@example.com"), Some(again.id));
    // Another company can use the same address.
    let other = env.create_company(env.provider, &super::env::company_command("other.example.com"));
    assert_ne!(other.company.owner_id, env.owner);
}

pub(super) fn a_user_update_writes_only_what_differs(env: &TestEnv<'_>) {
    let before = env.create_user_from(&user_profile("ann"));
    assert_eq!(update_user(env, before.id, &UpdateUser::default()).unwrap(), before);
    let same = UpdateUser {
        company_id: Some(env.company),
        email: Some(email("ANN@example.com")),
        first_name: Some(line("ann")),
        details: UpdateDetails { title: Update::Clear, ..UpdateDetails::default() },
        ..UpdateUser::default()
    };
    assert_eq!(update_user(env, before.id, &same).unwrap(), before);
    let update = UpdateUser {
        email: Some(email("anna@example.com")),
        details: UpdateDetails { title: Update::Set(line("Baker")), ..UpdateDetails::default() },
        corporation_admin: Some(true),
        ..UpdateUser::default()
    };
    let after = update_user(env, before.id, &update).unwrap();
    assert_eq!(
        (after.profile.email.as_str(), &after.profile.details.title),
        ("anna@example.com", &Some(line("Baker")))
    );
    assert!(!after.profile.corporation_admin, "there is no corporation");
    assert!(after.updated_at > before.updated_at);
    assert_eq!(env.with_tx(|tx| tx.find_user(env.provider, before.id)), Lookup::Own(after));
}

pub(super) fn invalid_user_updates_are_refused(env: &TestEnv<'_>) {
    let (provider, foreign, _) = env.create_foreign_company();
    let (ann, bob) = (env.create_user("ann"), env.create_user("bob"));
    let nothing = UpdateUser::default();
    let absent = update_user(env, UserId::from_uuid(env.new_uuid()), &nothing);
    assert!(matches!(absent, Err(UpdateUserError::Denied(Denied::Absent("id")))));
    let denied = update_user(env, foreign.company.owner_id, &nothing);
    assert!(matches!(denied, Err(UpdateUserError::Denied(Denied::Foreign("id")))));
    let by_another = env.transaction(|tx| users::update(tx, provider, ann, &nothing, &env.context()));
    assert!(matches!(by_another, Err(UpdateUserError::Denied(Denied::Foreign("id")))));
    let refused = |update: &UpdateUser| update_user(env, ann, update).unwrap_err();
    let elsewhere = UpdateUser { company_id: Some(foreign.company.id), ..UpdateUser::default() };
    assert!(matches!(refused(&elsewhere), UpdateUserError::OtherCompany));
    let nameless = UpdateUser { last_name: Update::Clear, ..UpdateUser::default() };
    assert!(matches!(refused(&nameless), UpdateUserError::NoLastName));
    let taken = UpdateUser { email: Some(email("BOB@example.com")), ..UpdateUser::default() };
    assert!(matches!(refused(&taken), UpdateUserError::EmailTaken));
    let no_admin = UpdateUser { company_admin: Some(false), ..UpdateUser::default() };
    assert!(matches!(update_user(env, env.owner, &no_admin), Err(UpdateUserError::IsOwner)));
    env.delete_user(bob).unwrap();
    assert!(matches!(update_user(env, bob, &nothing), Err(UpdateUserError::Deleted)));
    update_user(env, ann, &taken).unwrap();
}

pub(super) fn the_manager_wallet_opens_once_and_stays(env: &TestEnv<'_>) {
    let ann = env.create_user("ann");
    for (manager, expected) in
        [(false, None), (true, Some((0, 0))), (false, Some((0, 0))), (true, Some((0, 0)))]
    {
        update_user(env, ann, &UpdateUser { manager: Some(manager), ..UpdateUser::default() }).unwrap();
        assert_eq!(env.wallet_points(WalletType::Manager, ann), expected);
    }
}

pub(super) fn a_user_is_deleted_once_and_an_owner_never(env: &TestEnv<'_>) {
    let (_, foreign, _) = env.create_foreign_company();
    let ann = env.create_user("ann");
    assert!(matches!(env.delete_user(env.owner), Err(DeleteUserError::IsOwner)));
    let absent = env.delete_user(UserId::from_uuid(env.new_uuid()));
    assert!(matches!(absent, Err(DeleteUserError::Denied(Denied::Absent("id")))));
    let denied = env.delete_user(foreign.company.owner_id);
    assert!(matches!(denied, Err(DeleteUserError::Denied(Denied::Foreign("id")))));
    env.delete_user(ann).unwrap();
    let first = env.with_tx(|tx| tx.find_user(env.provider, ann)).or_denied("id").unwrap();
    assert!(first.deleted_at.is_some());
    env.delete_user(ann).unwrap();
    assert_eq!(env.with_tx(|tx| tx.find_user(env.provider, ann)), Lookup::Own(first));
}

pub(super) fn users_are_found_and_listed_in_order(env: &TestEnv<'_>) {
    let (_, foreign, _) = env.create_foreign_company();
    let mut boss = user_profile("boss");
    (boss.manager, boss.company_admin) = (true, true);
    let (ann, boss) = (env.create_user("ann"), env.create_user_from(&boss).id);
    let deleted = env.create_user("gone");
    env.delete_user(deleted).unwrap();
    assert_eq!(env.with_tx(|tx| tx.list_active_user_ids(env.company, false)), [env.owner, ann, boss]);
    assert_eq!(env.with_tx(|tx| tx.list_active_user_ids(env.company, true)), [boss]);
    assert_eq!(env.with_tx(|tx| tx.list_active_user_ids_page(env.company, page(2, 2))), [boss]);
    let receivers = |wallet| env.with_tx(|tx| Recipients::all_active(tx, env.company, wallet)).count();
    assert_eq!([WalletType::Peer, WalletType::Manager].map(receivers), [3, 1]);
    let admins = env.with_tx(|tx| tx.list_admin_emails(env.company));
    assert_eq!(admins, [email("owner@example.com"), email("boss@example.com")]);
    let absent = UserId::from_uuid(env.new_uuid());
    let ids = [deleted, foreign.company.owner_id, absent, ann];
    let users = env.with_tx(|tx| tx.find_user_summaries(env.provider, &ids));
    assert!(matches!(&users[0], Lookup::Own(user) if !user.active && user.id == deleted));
    assert_eq!((&users[1], &users[2]), (&Lookup::Foreign, &Lookup::Absent));
    assert!(matches!(&users[3], Lookup::Own(user) if user.active && user.full_name() == "ann Doe"));
}

pub(super) fn many_users_are_found_by_their_keys(env: &TestEnv<'_>) {
    let employed = |name: &str, employee_id: &str| {
        let mut profile = user_profile(name);
        profile.details.employee_id = Some(line(employee_id));
        env.create_user_from(&profile)
    };
    let (ann, bob) = (employed("ann", "1"), employed("bob", "2"));
    let (_one, _other) = (employed("cy", "3"), employed("di", "3"));
    env.delete_user(employed("gone", "4").id).unwrap();
    let (_, foreign, _) = env.create_foreign_company();
    let find = |company, keys: &[(&str, &str)]| {
        let key = |(employee_id, address): &(&str, &str)| UserKey {
            employee_id: (!employee_id.is_empty()).then(|| line(employee_id)),
            email: (!address.is_empty()).then(|| email(address)),
        };
        let keys: Vec<UserKey> = keys.iter().map(key).collect();
        env.with_tx(|tx| users::match_users(tx, company, &keys))
    };
    let one = |user: &User| UserMatch::One(Box::new(user.clone()));
    let keys = [
        ("1", ""),
        ("", "BOB@example.com"),
        ("1", "bob@example.com"),
        ("9", "bob@example.com"),
        ("3", "ann@example.com"),
        ("4", "gone@example.com"),
        ("", ""),
    ];
    let found = find(env.company, &keys);
    let expected = [
        one(&ann),
        one(&bob),
        one(&ann),
        one(&bob),
        UserMatch::Several,
        UserMatch::NoUser,
        UserMatch::NoUser,
    ];
    assert_eq!(found, expected);
    assert_eq!(find(foreign.company.id, &[("1", "ann@example.com")]), [UserMatch::NoUser]);
    assert_eq!(find(env.company, &[]), []);
}

pub(super) fn many_users_are_created_except_for_taken_addresses(env: &TestEnv<'_>) {
    let ann = env.create_user("ann");
    let mut boss = user_profile("boss");
    (boss.manager, boss.corporation_admin) = (true, true);
    let profiles = [user_profile("bob"), user_profile("ANN"), boss, user_profile("Bob"), user_profile("cy")];
    let create = |company: CompanyId| {
        let profiles = profiles.to_vec();
        env.transaction(|tx| users::create_many(tx, env.provider, company, profiles.clone(), &env.context()))
    };
    assert_eq!(create(env.company).unwrap(), [true, false, true, false, true]);
    let ids = env.with_tx(|tx| tx.list_active_user_ids(env.company, false));
    let users: Vec<User> = ids
        .iter()
        .map(|id| env.with_tx(|tx| tx.find_user(env.provider, *id)).or_denied("id").unwrap())
        .collect();
    let emails: Vec<&str> = users.iter().map(|user| user.profile.email.as_str()).collect();
    let expected = ["owner", "ann", "bob", "boss", "cy"].map(|name| format!("{name}@example.com"));
    assert_eq!(emails, expected);
    assert!(users.iter().all(|user| !user.profile.corporation_admin), "there is no corporation");
    let wallets = env.with_tx(|tx| tx.list_wallets_of_users(&ids));
    assert_eq!(wallets.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 2, 3, 2]);
    assert_eq!(create(env.company).unwrap(), [false; 5]);
    assert_eq!(env.with_tx(|tx| tx.find_user(env.provider, ann)), Lookup::Own(users[1].clone()));
    let (_, foreign, _) = env.create_foreign_company();
    assert!(matches!(
        create(foreign.company.id),
        Err(CreateUserError::Denied(DeniedReference { denied: Denied::Foreign("company_id"), .. }))
    ));
}
