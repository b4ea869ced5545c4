//! The owner of a company, and the operations that ownership prevents (behaviour 11.2, 11.3).

use guerdon_domain::companies::{OwnerName, UpdateCompany};
use guerdon_domain::money::Points;
use guerdon_domain::ports::StoreExt as _;
use guerdon_domain::users::{self, DeleteUserError, UpdateDetails, UpdateUser, UpdateUserError};
use guerdon_domain::values::{EmailAddress, SingleLine, Update, UserId};

use crate::support::{LedgerFixture, on_each_database, run_concurrently};

fn parse_email(text: &str) -> Option<EmailAddress> {
    Some(EmailAddress::parse(text).unwrap())
}

fn change_owner_to(address: &str) -> UpdateCompany {
    UpdateCompany { owner_email: parse_email(address), ..UpdateCompany::default() }
}

fn update_user(fixture: &LedgerFixture, user: UserId, update: &UpdateUser) -> Result<(), UpdateUserError> {
    let context = fixture.context();
    fixture.store.transaction(|tx| users::update(tx, fixture.provider, user, update, &context).map(drop))
}

#[test]
fn ownership_moves_to_a_user_of_the_company() {
    on_each_database(|fixture| {
        let ann = fixture.create_user("ann");
        let before = fixture.update_company(&UpdateCompany::default()).unwrap();
        assert_eq!(before.company.owner_id, fixture.owner);
        let same = fixture.update_company(&change_owner_to("OWNER@example.com")).unwrap();
        assert_eq!(same, before, "the owner's own address changes nothing");
        let after = fixture.update_company(&change_owner_to("ANN@example.com")).unwrap();
        assert_eq!((after.company.owner_id, after.owner_email.as_str()), (ann, "ann@example.com"));
        assert!(after.company.updated_at > before.company.updated_at);
        assert!(matches!(fixture.delete_user(ann), Err(DeleteUserError::IsOwner)));
        let no_admin = UpdateUser { company_admin: Some(false), ..UpdateUser::default() };
        assert!(matches!(update_user(fixture, ann, &no_admin), Err(UpdateUserError::IsOwner)));
        update_user(fixture, fixture.owner, &no_admin).unwrap();
        fixture.delete_user(fixture.owner).unwrap();
    });
}

#[test]
fn a_new_address_creates_an_owner_with_the_given_or_the_previous_name() {
    on_each_database(|fixture| {
        let first = fixture.update_company(&change_owner_to("first@example.com")).unwrap();
        assert_ne!(first.company.owner_id, fixture.owner);
        assert_eq!(first.owner_name(), "Olive Owner");
        let named = UpdateCompany {
            owner_name: Some(OwnerName::new("Ida B. Wells")),
            ..change_owner_to("second@example.com")
        };
        let second = fixture.update_company(&named).unwrap();
        assert_eq!(
            (second.owner_first_name.as_str(), second.owner_name().as_str()),
            ("Ida B.", "Ida B. Wells")
        );
        let renamed = UpdateCompany { owner_name: Some(OwnerName::new("Ida")), ..UpdateCompany::default() };
        let third = fixture.update_company(&renamed).unwrap();
        assert_eq!((third.company.owner_id, third.owner_last_name), (second.company.owner_id, None));
        // The values that were read may be written back, and the old owner's name is not applied to the new owner.
        let ann = fixture.create_user("ann");
        let back =
            UpdateCompany { owner_name: Some(OwnerName::new("Ida")), ..change_owner_to("ann@example.com") };
        let fourth = fixture.update_company(&back).unwrap();
        assert_eq!((fourth.company.owner_id, fourth.owner_name().as_str()), (ann, "ann Doe"));
    });
}

#[test]
fn two_long_names_can_be_written_back_although_their_join_exceeds_the_limit() {
    on_each_database(|fixture| {
        let long = SingleLine::parse(&"x".repeat(255)).unwrap();
        let names = UpdateUser {
            first_name: Some(long.clone()),
            last_name: Update::Set(long),
            ..UpdateUser::default()
        };
        update_user(fixture, fixture.owner, &names).unwrap();
        let before = fixture.update_company(&UpdateCompany::default()).unwrap();
        let same = OwnerName::new(&before.owner_name());
        let update = UpdateCompany { owner_name: Some(same), ..UpdateCompany::default() };
        assert_eq!(fixture.update_company(&update).unwrap(), before);
        let other = OwnerName::new(&"y".repeat(256));
        let update = UpdateCompany { owner_name: Some(other), ..UpdateCompany::default() };
        assert!(fixture.update_company(&update).is_err());
    });
}

#[test]
fn an_owner_is_never_deleted_during_a_handover() {
    on_each_database(|fixture| {
        for round in 0..10 {
            let name = format!("heir{round}");
            let heir = fixture.create_user(&name);
            let address = format!("{name}@example.com");
            run_concurrently(2, |client| {
                if client == 0 {
                    drop(fixture.delete_user(heir));
                } else {
                    drop(fixture.update_company(&change_owner_to(&address)));
                }
            });
            let owner = fixture.update_company(&UpdateCompany::default()).unwrap().company.owner_id;
            let deleted = "users WHERE deleted_at IS NOT NULL AND id IN (SELECT owner_id FROM companies)";
            assert_eq!(fixture.database.count_rows(deleted), 0, "owner {owner}");
        }
    });
}

#[test]
fn a_new_threshold_above_the_reserve_sends_an_alert() {
    on_each_database(|fixture| {
        fixture.deposit_points(100);
        let threshold = |points| UpdateCompany { reserve_alert: points, ..UpdateCompany::default() };
        let at = |points| threshold(Update::Set(Points::new(points).unwrap()));
        fixture.update_company(&at(100)).unwrap();
        assert_eq!(fixture.database.count_rows("notifications"), 0, "not below");
        fixture.update_company(&at(101)).unwrap();
        assert_eq!(fixture.database.count_rows("notifications"), 1, "no threshold counts as above");
        fixture.update_company(&at(200)).unwrap();
        assert_eq!(fixture.database.count_rows("notifications"), 1, "already below");
        fixture.update_company(&threshold(Update::Clear)).unwrap();
        fixture.update_company(&at(200)).unwrap();
        assert_eq!(fixture.database.count_rows("notifications"), 2);
    });
}

#[test]
fn concurrent_requests_create_one_active_user_per_address() {
    on_each_database(|fixture| {
        let users: Vec<UserId> = (0..8).map(|number| fixture.create_user(&format!("u{number}"))).collect();
        let taken = UpdateUser { email: parse_email("Same@example.com"), ..UpdateUser::default() };
        let won = std::sync::atomic::AtomicUsize::new(0);
        run_concurrently(8, |client| match update_user(fixture, users[client], &taken) {
            Ok(()) => drop(won.fetch_add(1, std::sync::atomic::Ordering::Relaxed)),
            Err(refused) => assert!(matches!(refused, UpdateUserError::EmailTaken), "{refused}"),
        });
        assert_eq!(won.into_inner(), 1);
    });
}

#[test]
fn a_manager_wallet_is_created_on_first_promotion_and_stays() {
    on_each_database(|fixture| {
        let ann = fixture.create_user("ann");
        let manager = |is_manager| UpdateUser { manager: Some(is_manager), ..UpdateUser::default() };
        let wallets = || fixture.read_snapshot(|reads| reads.list_wallets(ann)).len();
        assert_eq!(wallets(), 2);
        for (is_manager, expected) in [(true, 3), (true, 3), (false, 3), (true, 3)] {
            update_user(fixture, ann, &manager(is_manager)).unwrap();
            assert_eq!(wallets(), expected);
        }
    });
}

#[test]
fn addresses_are_case_insensitive_and_stored_unchanged() {
    on_each_database(|fixture| {
        let ann = fixture.create_user("ann");
        let shout = UpdateUser {
            email: parse_email("ANN@example.com"),
            details: UpdateDetails {
                title: Update::Set(SingleLine::parse("Chief").unwrap()),
                ..UpdateDetails::default()
            },
            ..UpdateUser::default()
        };
        update_user(fixture, ann, &shout).unwrap();
        let user =
            fixture.read_snapshot(|reads| reads.find_user(fixture.provider, ann)).or_denied("id").unwrap();
        assert_eq!(user.profile.email.as_str(), "ann@example.com");
        let bcc = |text: &str| UpdateCompany {
            reserve_bcc: Update::Set(EmailAddress::parse(text).unwrap()),
            ..UpdateCompany::default()
        };
        let before = fixture.update_company(&bcc("bcc@example.com")).unwrap();
        let after = fixture.update_company(&bcc("BCC@example.com")).unwrap();
        assert_eq!(after.company.reserve_bcc.as_ref().map(EmailAddress::as_str), Some("bcc@example.com"));
        assert_eq!(after.company.updated_at, before.company.updated_at);
    });
}

#[test]
fn a_new_owner_is_set_while_another_request_creates_the_user() {
    on_each_database(|fixture| {
        for round in 0..8 {
            let name = format!("heir{round}");
            let address = format!("{name}@example.com");
            run_concurrently(2, |client| {
                if client == 0 {
                    fixture.update_company(&change_owner_to(&address)).unwrap();
                } else {
                    let profile = guerdon_domain::users::Profile::with_name(
                        EmailAddress::parse(&address).unwrap(),
                        SingleLine::parse(&name).unwrap(),
                        None,
                    );
                    let context = fixture.context();
                    let created = fixture.store.transaction(|tx| {
                        users::create(tx, fixture.provider, fixture.company, &profile, &context)
                    });
                    assert!(!matches!(created, Err(users::CreateUserError::Store(_))), "{created:?}");
                }
            });
            let owner = fixture.update_company(&UpdateCompany::default()).unwrap().owner_email;
            assert_eq!(owner.as_str(), address);
        }
    });
}
