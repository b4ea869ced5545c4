//! Companies, their owners and their providers.

use super::world::{World, company, email, line, page, profile};
use crate::companies::{
    self, CreateCompany, CreateCompanyError, MoveCompanyError, OptionsError, OwnerName, UpdateCompany,
    UpdateCompanyError,
};
use crate::corporations::{self, UpdateCorporationError};
use crate::ports::{Denied, Lookup};
use crate::users::{DeleteUserError, UpdateUser, UpdateUserError};
use crate::values::{CompanyId, CorporationId, DomainName, ProviderId, Update, WebUrl};
use crate::wallets::{Account, WalletType};

fn create(
    world: &World<'_>,
    provider: ProviderId,
    it: &CreateCompany,
) -> Result<CompanyId, CreateCompanyError> {
    let created = world.transaction(|tx| companies::create(tx, provider, it, &world.context()));
    created.map(|created| created.company.id)
}

fn corporation(world: &World<'_>, provider: ProviderId) -> CorporationId {
    world.read(|tx| corporations::create(tx, provider, &line("Group"), &world.context())).id
}

pub(super) fn a_new_company_has_an_owner_and_its_accounts(world: &World<'_>) {
    let found = world.found();
    assert_eq!(found.owner_name(), "Olive Owner");
    assert_eq!(found.company.created_at, found.company.updated_at);
    let owner = world.read(|tx| tx.user(world.provider, world.owner)).named("id").unwrap();
    assert!(owner.profile.company_admin);
    for account in Account::of_company(world.company) {
        assert_eq!(world.read(|tx| tx.balance(account)), Some(crate::money::Amount::ZERO), "{account:?}");
    }
    let wallets = world.read(|tx| tx.wallets(world.owner));
    let types: Vec<WalletType> = wallets.iter().map(|wallet| wallet.wallet_type).collect();
    assert_eq!(types, [WalletType::User, WalletType::Peer]);
    assert_eq!(world.read(|tx| tx.active_user_count(world.company)), 1);
    assert_eq!(world.read(|tx| tx.provider_of_company(world.company)), Some(world.provider));
}

pub(super) fn a_domain_is_unique_across_providers(world: &World<'_>) {
    let other = world.provider();
    for provider in [world.provider, other] {
        let taken = create(world, provider, &company("EXAMPLE.com"));
        assert!(matches!(taken, Err(CreateCompanyError::DomainTaken)));
    }
    assert_eq!(world.read(|tx| tx.company_count(other, None)), 0);
    assert_eq!(world.read(|tx| tx.company_count(world.provider, None)), 1);
}

pub(super) fn a_company_is_absent_foreign_or_own(world: &World<'_>) {
    let (_, foreign, _) = world.foreign();
    let look = |id| world.read(|tx| tx.company(world.provider, id));
    assert_eq!(look(CompanyId::from_uuid(world.uuid())), Lookup::Absent);
    assert_eq!(look(foreign.company.id), Lookup::Foreign);
    let by_domain = |domain: &str| {
        let domain = DomainName::parse(domain).unwrap();
        world.read(|tx| tx.company_by_domain(world.provider, &domain))
    };
    assert_eq!(by_domain("absent.example.com"), Lookup::Absent);
    assert_eq!(by_domain("foreign.example.com"), Lookup::Foreign);
    assert_eq!(by_domain("example.com"), look(world.company));
    let update = |id| {
        let command = UpdateCompany::default();
        world.transaction(|tx| companies::update(tx, world.provider, id, &command, &world.context()))
    };
    let absent = update(CompanyId::from_uuid(world.uuid()));
    assert!(matches!(absent, Err(UpdateCompanyError::Denied(Denied::Absent("id")))));
    let denied = update(foreign.company.id);
    assert!(matches!(denied, Err(UpdateCompanyError::Denied(Denied::Foreign("id")))));
}

pub(super) fn a_company_joins_only_a_corporation_of_its_provider(world: &World<'_>) {
    let foreign = corporation(world, world.provider());
    let within = |id, domain| CreateCompany { corporation_id: Some(id), ..company(domain) };
    let absent = within(CorporationId::from_uuid(world.uuid()), "a.example.com");
    let refused = create(world, world.provider, &absent);
    assert!(matches!(refused, Err(CreateCompanyError::Denied(Denied::Absent("corporation_id")))));
    let refused = create(world, world.provider, &within(foreign, "a.example.com"));
    assert!(matches!(refused, Err(CreateCompanyError::Denied(Denied::Foreign("corporation_id")))));
    let own = corporation(world, world.provider);
    let inside = create(world, world.provider, &within(own, "a.example.com")).unwrap();
    let listed = world.read(|tx| tx.companies(world.provider, Some(own), page(1, 9)));
    assert_eq!(listed.iter().map(|company| company.company.id).collect::<Vec<_>>(), [inside]);
    assert_eq!(world.read(|tx| tx.company_count(world.provider, Some(own))), 1);
    let rename = |id, name: &str| {
        let name = line(name);
        world.transaction(|tx| corporations::update(tx, world.provider, id, Some(&name), &world.context()))
    };
    assert!(matches!(rename(foreign, "X"), Err(UpdateCorporationError::Denied(Denied::Foreign("id")))));
    let before = rename(own, "Group").unwrap();
    assert_eq!(before.created_at, before.updated_at, "the name it has changes nothing");
    assert_eq!(rename(own, "Union").unwrap().name, line("Union"));
    let all = world.read(|tx| tx.corporations(world.provider, page(1, 9)));
    assert_eq!(all.len(), 1);
    assert_eq!(world.read(|tx| tx.corporation_count(world.provider)), 1);
}

pub(super) fn a_company_update_writes_only_what_differs(world: &World<'_>) {
    let before = world.found();
    assert_eq!(world.update(&UpdateCompany::default()).unwrap(), before);
    let same = UpdateCompany {
        domain: Some(before.company.domain.clone()),
        name: Some(before.company.name.clone()),
        owner_email: Some(email("OWNER@example.com")),
        owner_name: Some(OwnerName::new("Olive Owner")),
        rate: Some(before.company.rate),
        ..UpdateCompany::default()
    };
    assert_eq!(world.update(&same).unwrap(), before);
    let other = DomainName::parse("other.example.com").ok();
    let refused = world.update(&UpdateCompany { domain: other, ..UpdateCompany::default() });
    assert!(matches!(refused, Err(UpdateCompanyError::OtherDomain)));
    let change = UpdateCompany {
        name: Some(line("New")),
        logo_url: WebUrl::parse("https://example.com/new.png").ok(),
        reserve_bcc: Update::Set(email("bcc@example.com")),
        ..UpdateCompany::default()
    };
    let after = world.update(&change).unwrap();
    assert_eq!(after.company.name, line("New"));
    assert!(after.company.updated_at > before.company.updated_at);
    assert_eq!(world.found(), after);
    let clear = UpdateCompany { reserve_bcc: Update::Clear, ..UpdateCompany::default() };
    assert_eq!(world.update(&clear).unwrap().company.reserve_bcc, None);
}

pub(super) fn ownership_moves_to_an_existing_or_a_new_user(world: &World<'_>) {
    let to = |address: &str| UpdateCompany { owner_email: Some(email(address)), ..UpdateCompany::default() };
    let ann = world.user("ann");
    let after = world.update(&to("ANN@example.com")).unwrap();
    assert_eq!((after.company.owner_id, after.owner_email.as_str()), (ann, "ann@example.com"));
    assert_eq!(world.found(), after);
    assert!(matches!(world.delete(ann), Err(DeleteUserError::IsOwner)));
    let no_admin = UpdateUser { company_admin: Some(false), ..UpdateUser::default() };
    let change = |user| {
        world.transaction(|tx| crate::users::update(tx, world.provider, user, &no_admin, &world.context()))
    };
    assert!(matches!(change(ann), Err(UpdateUserError::IsOwner)));
    change(world.owner).unwrap();
    world.delete(world.owner).unwrap();
    let made = world.update(&to("new@example.com")).unwrap();
    assert_eq!(made.owner_name(), "ann Doe", "named as the old one");
    assert_eq!(world.shows(WalletType::Peer, made.company.owner_id), Some((0, 0)));
}

pub(super) fn an_owner_is_renamed(world: &World<'_>) {
    let named =
        |name: &str| UpdateCompany { owner_name: Some(OwnerName::new(name)), ..UpdateCompany::default() };
    let renamed = world.update(&named("Ida B. Wells")).unwrap();
    assert_eq!((renamed.company.owner_id, renamed.owner_first_name.as_str()), (world.owner, "Ida B."));
    assert_eq!(world.update(&named("Ida")).unwrap().owner_last_name, None);
    assert!(matches!(world.update(&named(" ")), Err(UpdateCompanyError::OwnerName(_))));
    assert_eq!(world.found().owner_name(), "Ida");
}

pub(super) fn a_company_moves_to_another_provider(world: &World<'_>) {
    let group = corporation(world, world.provider);
    let inside = CreateCompany { corporation_id: Some(group), ..company("moves.example.com") };
    let id = world.create_company(world.provider, &inside).company.id;
    let mut admin = profile("ann");
    admin.corporation_admin = true;
    let create = |tx: &mut dyn crate::ports::Ledger| {
        crate::users::create(tx, world.provider, id, &admin, &world.context())
    };
    let ann = world.transaction(create).unwrap();
    assert!(ann.profile.corporation_admin);
    let to = world.provider();
    let nobody = ProviderId::from_uuid(world.uuid());
    let go = |id, to| world.transaction(|tx| companies::move_to_provider(tx, id, to, &world.context()));
    let absent = CompanyId::from_uuid(world.uuid());
    assert!(matches!(go(absent, to), Err(MoveCompanyError::NoSuchCompany)));
    assert!(matches!(go(id, nobody), Err(MoveCompanyError::NoSuchProvider)));
    assert!(matches!(go(id, world.provider), Err(MoveCompanyError::SameProvider)));
    go(id, to).unwrap();
    assert_eq!(world.read(|tx| tx.company(world.provider, id)), Lookup::Foreign);
    assert_eq!(world.read(|tx| tx.user(world.provider, ann.id)), Lookup::Foreign);
    let found = world.read(|tx| tx.company(to, id)).named("id").unwrap();
    assert_eq!(found.company.corporation_id, None);
    let ann = world.read(|tx| tx.user(to, ann.id)).named("id").unwrap();
    assert!(!ann.profile.corporation_admin);
}

pub(super) fn an_option_needs_an_existing_company(world: &World<'_>) {
    let allow = |id, allowed| {
        world.transaction(|tx| companies::set_allow_zero_points(tx, id, allowed, &world.context()))
    };
    let absent = CompanyId::from_uuid(world.uuid());
    assert!(matches!(allow(absent, true), Err(OptionsError::NoSuchCompany)));
    let before = world.found();
    allow(world.company, false).unwrap();
    assert_eq!(world.found(), before);
    allow(world.company, true).unwrap();
    assert!(world.found().company.allow_zero_points);
}

pub(super) fn companies_are_listed_oldest_first(world: &World<'_>) {
    let more: Vec<CompanyId> = ["a", "b", "c"]
        .map(|name| world.create_company(world.provider, &company(&format!("{name}.example.com"))).company.id)
        .into();
    let listed = |number| {
        let found = world.read(|tx| tx.companies(world.provider, None, page(number, 3)));
        found.iter().map(|item| item.company.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(1), [world.company, more[0], more[1]]);
    assert_eq!(listed(2), [more[2]]);
    assert_eq!(listed(i64::MAX), []);
    assert_eq!(world.read(|tx| tx.company_count(world.provider, None)), 4);
}
