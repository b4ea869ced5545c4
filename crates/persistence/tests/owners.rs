//! The owner of a company, and the operations that ownership prevents (behaviour 11.2, 11.3).

use guerdon_domain::companies::{OwnerName, UpdateCompany};
use guerdon_domain::money::Points;
use guerdon_domain::users::{self, DeleteUserError, UpdateDetails, UpdateUser, UpdateUserError};
use guerdon_domain::values::{EmailAddress, Line, Update, UserId};

use guerdon_domain::ports::StoreExt as _;

use crate::support::{World, at_once, on_each};

fn email(text: &str) -> Option<EmailAddress> {
    Some(EmailAddress::parse(text).unwrap())
}

fn to(address: &str) -> UpdateCompany {
    UpdateCompany { owner_email: email(address), ..UpdateCompany::default() }
}

fn change(world: &World, user: UserId, command: &UpdateUser) -> Result<(), UpdateUserError> {
    let context = world.context();
    world.store.transaction(|tx| users::update(tx, world.provider, user, command, &context).map(drop))
}

#[test]
fn ownership_moves_to_a_user_of_the_company() {
    on_each(|world| {
        let ann = world.user("ann");
        let before = world.update(&UpdateCompany::default()).unwrap();
        assert_eq!(before.company.owner_id, world.owner);
        let same = world.update(&to("OWNER@example.com")).unwrap();
        assert_eq!(same, before, "the owner's own address changes nothing");
        let after = world.update(&to("ANN@example.com")).unwrap();
        assert_eq!((after.company.owner_id, after.owner_email.as_str()), (ann, "ann@example.com"));
        assert!(after.company.updated_at > before.company.updated_at);
        assert!(matches!(world.delete(ann), Err(DeleteUserError::IsOwner)));
        let no_admin = UpdateUser { company_admin: Some(false), ..UpdateUser::default() };
        assert!(matches!(change(world, ann, &no_admin), Err(UpdateUserError::IsOwner)));
        change(world, world.owner, &no_admin).unwrap();
        world.delete(world.owner).unwrap();
    });
}

#[test]
fn a_new_address_creates_an_owner_with_the_given_or_the_previous_name() {
    on_each(|world| {
        let first = world.update(&to("first@example.com")).unwrap();
        assert_ne!(first.company.owner_id, world.owner);
        assert_eq!(first.owner_name(), "Olive Owner");
        let named =
            UpdateCompany { owner_name: Some(OwnerName::new("Ida B. Wells")), ..to("second@example.com") };
        let second = world.update(&named).unwrap();
        assert_eq!(
            (second.owner_first_name.as_str(), second.owner_name().as_str()),
            ("Ida B.", "Ida B. Wells")
        );
        let renamed = UpdateCompany { owner_name: Some(OwnerName::new("Ida")), ..UpdateCompany::default() };
        let third = world.update(&renamed).unwrap();
        assert_eq!((third.company.owner_id, third.owner_last_name), (second.company.owner_id, None));
        // The values that were read may be written back, and the old owner's name is not applied to the new owner.
        let ann = world.user("ann");
        let back = UpdateCompany { owner_name: Some(OwnerName::new("Ida")), ..to("ann@example.com") };
        let fourth = world.update(&back).unwrap();
        assert_eq!((fourth.company.owner_id, fourth.owner_name().as_str()), (ann, "ann Doe"));
    });
}

#[test]
fn two_long_names_can_be_written_back_although_their_join_exceeds_the_limit() {
    on_each(|world| {
        let long = Line::parse(&"x".repeat(255)).unwrap();
        let names = UpdateUser {
            first_name: Some(long.clone()),
            last_name: Update::Set(long),
            ..UpdateUser::default()
        };
        change(world, world.owner, &names).unwrap();
        let before = world.update(&UpdateCompany::default()).unwrap();
        let same = OwnerName::new(&before.owner_name());
        let command = UpdateCompany { owner_name: Some(same), ..UpdateCompany::default() };
        assert_eq!(world.update(&command).unwrap(), before);
        let other = OwnerName::new(&"y".repeat(256));
        let command = UpdateCompany { owner_name: Some(other), ..UpdateCompany::default() };
        assert!(world.update(&command).is_err());
    });
}

#[test]
fn an_owner_is_never_deleted_during_a_handover() {
    on_each(|world| {
        for round in 0..10 {
            let name = format!("heir{round}");
            let heir = world.user(&name);
            let address = format!("{name}@example.com");
            at_once(2, |client| {
                if client == 0 {
                    drop(world.delete(heir));
                } else {
                    drop(world.update(&to(&address)));
                }
            });
            let owner = world.update(&UpdateCompany::default()).unwrap().company.owner_id;
            let deleted = "users WHERE deleted_at IS NOT NULL AND id IN (SELECT owner_id FROM companies)";
            assert_eq!(world.database.count(deleted), 0, "owner {owner}");
        }
    });
}

#[test]
fn a_new_threshold_above_the_reserve_sends_an_alert() {
    on_each(|world| {
        world.deposit(100);
        let threshold = |points| UpdateCompany { reserve_alert: points, ..UpdateCompany::default() };
        let at = |points| threshold(Update::Set(Points::new(points).unwrap()));
        world.update(&at(100)).unwrap();
        assert_eq!(world.database.count("mails"), 0, "not below");
        world.update(&at(101)).unwrap();
        assert_eq!(world.database.count("mails"), 1, "no threshold counts as above");
        world.update(&at(200)).unwrap();
        assert_eq!(world.database.count("mails"), 1, "already below");
        world.update(&threshold(Update::Clear)).unwrap();
        world.update(&at(200)).unwrap();
        assert_eq!(world.database.count("mails"), 2);
    });
}

#[test]
fn concurrent_requests_create_one_active_user_per_address() {
    on_each(|world| {
        let users: Vec<UserId> = (0..8).map(|number| world.user(&format!("u{number}"))).collect();
        let taken = UpdateUser { email: email("Same@example.com"), ..UpdateUser::default() };
        let won = std::sync::atomic::AtomicUsize::new(0);
        at_once(8, |client| match change(world, users[client], &taken) {
            Ok(()) => drop(won.fetch_add(1, std::sync::atomic::Ordering::Relaxed)),
            Err(refused) => assert!(matches!(refused, UpdateUserError::EmailTaken), "{refused}"),
        });
        assert_eq!(won.into_inner(), 1);
    });
}

#[test]
fn a_manager_wallet_is_created_on_first_promotion_and_stays() {
    on_each(|world| {
        let ann = world.user("ann");
        let manager = |is_manager| UpdateUser { manager: Some(is_manager), ..UpdateUser::default() };
        let wallets = || world.reading(|reads| reads.wallets(ann)).len();
        assert_eq!(wallets(), 2);
        for (is_manager, expected) in [(true, 3), (true, 3), (false, 3), (true, 3)] {
            change(world, ann, &manager(is_manager)).unwrap();
            assert_eq!(wallets(), expected);
        }
    });
}

#[test]
fn addresses_are_case_insensitive_and_stored_unchanged() {
    on_each(|world| {
        let ann = world.user("ann");
        let shout = UpdateUser {
            email: email("ANN@example.com"),
            details: UpdateDetails {
                title: Update::Set(Line::parse("Chief").unwrap()),
                ..UpdateDetails::default()
            },
            ..UpdateUser::default()
        };
        change(world, ann, &shout).unwrap();
        let user = world.reading(|reads| reads.user(world.provider, ann)).named("id").unwrap();
        assert_eq!(user.profile.email.as_str(), "ann@example.com");
        let bcc = |text: &str| UpdateCompany {
            reserve_bcc: Update::Set(EmailAddress::parse(text).unwrap()),
            ..UpdateCompany::default()
        };
        let before = world.update(&bcc("bcc@example.com")).unwrap();
        let after = world.update(&bcc("BCC@example.com")).unwrap();
        assert_eq!(after.company.reserve_bcc.as_ref().map(EmailAddress::as_str), Some("bcc@example.com"));
        assert_eq!(after.company.updated_at, before.company.updated_at);
    });
}

#[test]
fn a_new_owner_is_set_while_another_request_creates_the_user() {
    on_each(|world| {
        for round in 0..8 {
            let name = format!("heir{round}");
            let address = format!("{name}@example.com");
            at_once(2, |client| {
                if client == 0 {
                    world.update(&to(&address)).unwrap();
                } else {
                    let profile = guerdon_domain::users::Profile::named(
                        EmailAddress::parse(&address).unwrap(),
                        Line::parse(&name).unwrap(),
                        None,
                    );
                    let context = world.context();
                    let made = world.store.transaction(|tx| {
                        users::create(tx, world.provider, world.company, &profile, &context)
                    });
                    assert!(!matches!(made, Err(users::CreateUserError::Store(_))), "{made:?}");
                }
            });
            let owner = world.update(&UpdateCompany::default()).unwrap().owner_email;
            assert_eq!(owner.as_str(), address);
        }
    });
}
