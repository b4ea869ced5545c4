//! Companies, their owners and their providers.

use super::env::{TestEnv, company_command, email, line, page, user_profile};
use crate::companies::{
    self, CreateCompany, CreateCompanyError, OptionsError, OwnerName, TransferCompanyError, UpdateCompany,
    UpdateCompanyError,
};
use crate::corporations::{self, UpdateCorporationError};
use crate::ports::{Denied, DeniedReference, LockableRow, Lookup, StoreError};
use crate::recognitions::{SendError, Sender};
use crate::reserve::ReserveError;
use crate::users::{self, CreateUserError, DeleteUserError, UpdateUser, UpdateUserError};
use crate::values::{CompanyId, CorporationId, DomainName, ProviderId, Update, WebUrl};
use crate::wallets::{Account, WalletType};

fn create_company(
    env: &TestEnv<'_>,
    provider: ProviderId,
    new: &CreateCompany,
) -> Result<CompanyId, CreateCompanyError> {
    let created = env.transaction(|tx| companies::create(tx, provider, new, &env.context()));
    created.map(|created| created.company.id)
}

fn create_corporation(env: &TestEnv<'_>, provider: ProviderId) -> CorporationId {
    env.with_tx(|tx| corporations::create(tx, provider, &line("Group"), &env.context())).id
}

pub(super) fn a_new_company_has_an_owner_and_its_accounts(env: &TestEnv<'_>) {
    let found = env.find_company();
    assert_eq!(found.owner_name(), "Olive Owner");
    assert_eq!(found.company.created_at, found.company.updated_at);
    let owner = env.with_tx(|tx| tx.find_user(env.provider, env.owner)).or_denied("id").unwrap();
    assert!(owner.profile.company_admin);
    for account in Account::company_accounts(env.company) {
        assert_eq!(
            env.with_tx(|tx| tx.account_balance(account)),
            Some(crate::money::Amount::ZERO),
            "{account:?}"
        );
    }
    let wallets = env.with_tx(|tx| tx.list_wallets(env.owner));
    let types: Vec<WalletType> = wallets.iter().map(|wallet| wallet.wallet_type).collect();
    assert_eq!(types, [WalletType::User, WalletType::Peer]);
    assert_eq!(env.with_tx(|tx| tx.count_active_users(env.company)), 1);
    assert_eq!(env.with_tx(|tx| tx.provider_of_company(env.company)), Some(env.provider));
}

pub(super) fn a_domain_is_unique_across_providers(env: &TestEnv<'_>) {
    let other = env.create_provider();
    for provider in [env.provider, other] {
        let taken = create_company(env, provider, &company_command("EXAMPLE.com"));
        assert!(matches!(taken, Err(CreateCompanyError::DomainTaken)));
    }
    assert_eq!(env.with_tx(|tx| tx.count_companies(other, None)), 0);
    assert_eq!(env.with_tx(|tx| tx.count_companies(env.provider, None)), 1);
}

pub(super) fn a_company_is_absent_foreign_or_own(env: &TestEnv<'_>) {
    let (_, foreign, _) = env.create_foreign_company();
    let find = |id| env.with_tx(|tx| tx.find_company(env.provider, id));
    assert_eq!(find(CompanyId::from_uuid(env.new_uuid())), Lookup::Absent);
    assert_eq!(find(foreign.company.id), Lookup::Foreign);
    let by_domain = |domain: &str| {
        let domain = DomainName::parse(domain).unwrap();
        env.with_tx(|tx| tx.find_company_by_domain(env.provider, &domain))
    };
    assert_eq!(by_domain("absent.example.com"), Lookup::Absent);
    assert_eq!(by_domain("foreign.example.com"), Lookup::Foreign);
    assert_eq!(by_domain("example.com"), find(env.company));
    let update = |id| {
        let update = UpdateCompany::default();
        env.transaction(|tx| companies::update(tx, env.provider, id, &update, &env.context()))
    };
    let absent = update(CompanyId::from_uuid(env.new_uuid()));
    assert!(matches!(absent, Err(UpdateCompanyError::Denied(Denied::Absent("id")))));
    let denied = update(foreign.company.id);
    assert!(matches!(denied, Err(UpdateCompanyError::Denied(Denied::Foreign("id")))));
}

pub(super) fn a_company_joins_only_a_corporation_of_its_provider(env: &TestEnv<'_>) {
    let foreign = create_corporation(env, env.create_provider());
    let within = |id, domain| CreateCompany { corporation_id: Some(id), ..company_command(domain) };
    let absent = within(CorporationId::from_uuid(env.new_uuid()), "a.example.com");
    let refused = create_company(env, env.provider, &absent);
    assert!(matches!(
        refused,
        Err(CreateCompanyError::Denied(DeniedReference { denied: Denied::Absent("corporation_id"), .. }))
    ));
    let refused = create_company(env, env.provider, &within(foreign, "a.example.com"));
    assert!(matches!(
        refused,
        Err(CreateCompanyError::Denied(DeniedReference { denied: Denied::Foreign("corporation_id"), .. }))
    ));
    let own = create_corporation(env, env.provider);
    let inside = create_company(env, env.provider, &within(own, "a.example.com")).unwrap();
    let listed = env.with_tx(|tx| tx.list_companies(env.provider, Some(own), page(1, 9)));
    assert_eq!(listed.iter().map(|company| company.company.id).collect::<Vec<_>>(), [inside]);
    assert_eq!(env.with_tx(|tx| tx.count_companies(env.provider, Some(own))), 1);
    let rename = |id, name: &str| {
        let name = line(name);
        env.transaction(|tx| corporations::update(tx, env.provider, id, Some(&name), &env.context()))
    };
    assert!(matches!(rename(foreign, "X"), Err(UpdateCorporationError::Denied(Denied::Foreign("id")))));
    let before = rename(own, "Group").unwrap();
    assert_eq!(before.created_at, before.updated_at, "the current name changes nothing");
    assert_eq!(rename(own, "Union").unwrap().name, line("Union"));
    let all = env.with_tx(|tx| tx.list_corporations(env.provider, page(1, 9)));
    assert_eq!(all.len(), 1);
    assert_eq!(env.with_tx(|tx| tx.count_corporations(env.provider)), 1);
}

pub(super) fn a_company_update_writes_only_what_differs(env: &TestEnv<'_>) {
    let before = env.find_company();
    assert_eq!(env.update_company(&UpdateCompany::default()).unwrap(), before);
    let same = UpdateCompany {
        domain: Some(before.company.domain.clone()),
        name: Some(before.company.name.clone()),
        owner_email: Some(email("OWNER@example.com")),
        owner_name: Some(OwnerName::new("Olive Owner")),
        rate: Some(before.company.rate),
        ..UpdateCompany::default()
    };
    assert_eq!(env.update_company(&same).unwrap(), before);
    let other = DomainName::parse("other.example.com").ok();
    let refused = env.update_company(&UpdateCompany { domain: other, ..UpdateCompany::default() });
    assert!(matches!(refused, Err(UpdateCompanyError::OtherDomain)));
    let change = UpdateCompany {
        name: Some(line("New")),
        logo_url: WebUrl::parse("https://example.com/new.png").ok(),
        reserve_bcc: Update::Set(email("bcc@example.com")),
        ..UpdateCompany::default()
    };
    let after = env.update_company(&change).unwrap();
    assert_eq!(after.company.name, line("New"));
    assert!(after.company.updated_at > before.company.updated_at);
    assert_eq!(env.find_company(), after);
    let clear = UpdateCompany { reserve_bcc: Update::Clear, ..UpdateCompany::default() };
    assert_eq!(env.update_company(&clear).unwrap().company.reserve_bcc, None);
}

pub(super) fn ownership_moves_to_an_existing_or_a_new_user(env: &TestEnv<'_>) {
    let to = |address: &str| UpdateCompany { owner_email: Some(email(address)), ..UpdateCompany::default() };
    let ann = env.create_user("ann");
    let after = env.update_company(&to("ANN@example.com")).unwrap();
    assert_eq!((after.company.owner_id, after.owner_email.as_str()), (ann, "ann@example.com"));
    assert_eq!(env.find_company(), after);
    assert!(matches!(env.delete_user(ann), Err(DeleteUserError::IsOwner)));
    let no_admin = UpdateUser { company_admin: Some(false), ..UpdateUser::default() };
    let change =
        |user| env.transaction(|tx| crate::users::update(tx, env.provider, user, &no_admin, &env.context()));
    assert!(matches!(change(ann), Err(UpdateUserError::IsOwner)));
    change(env.owner).unwrap();
    env.delete_user(env.owner).unwrap();
    let created = env.update_company(&to("new@example.com")).unwrap();
    assert_eq!(created.owner_name(), "ann Doe", "the new owner has the name of the old owner");
    assert_eq!(env.wallet_points(WalletType::Peer, created.company.owner_id), Some((0, 0)));
}

pub(super) fn an_owner_is_renamed(env: &TestEnv<'_>) {
    let named =
        |name: &str| UpdateCompany { owner_name: Some(OwnerName::new(name)), ..UpdateCompany::default() };
    let renamed = env.update_company(&named("Ida B. Wells")).unwrap();
    assert_eq!((renamed.company.owner_id, renamed.owner_first_name.as_str()), (env.owner, "Ida B."));
    assert_eq!(env.update_company(&named("Ida")).unwrap().owner_last_name, None);
    assert!(matches!(env.update_company(&named(" ")), Err(UpdateCompanyError::OwnerName(_))));
    assert_eq!(env.find_company().owner_name(), "Ida");
}

pub(super) fn a_company_moves_to_another_provider(env: &TestEnv<'_>) {
    let group = create_corporation(env, env.provider);
    let inside = CreateCompany { corporation_id: Some(group), ..company_command("moves.example.com") };
    let id = env.create_company(env.provider, &inside).company.id;
    let mut admin = user_profile("ann");
    admin.corporation_admin = true;
    let create = |tx: &mut dyn crate::ports::LedgerTx| {
        crate::users::create(tx, env.provider, id, &admin, &env.context())
    };
    let ann = env.transaction(create).unwrap();
    assert!(ann.profile.corporation_admin);
    let to = env.create_provider();
    let unknown = ProviderId::from_uuid(env.new_uuid());
    let move_to = |id, to| env.transaction(|tx| companies::transfer_to_provider(tx, id, to, &env.context()));
    let absent = CompanyId::from_uuid(env.new_uuid());
    assert!(matches!(move_to(absent, to), Err(TransferCompanyError::NoSuchCompany)));
    assert!(matches!(move_to(id, unknown), Err(TransferCompanyError::NoSuchProvider)));
    assert!(matches!(move_to(id, env.provider), Err(TransferCompanyError::SameProvider)));
    move_to(id, to).unwrap();
    assert_eq!(env.with_tx(|tx| tx.find_company(env.provider, id)), Lookup::Foreign);
    assert_eq!(env.with_tx(|tx| tx.find_user(env.provider, ann.id)), Lookup::Foreign);
    let found = env.with_tx(|tx| tx.find_company(to, id)).or_denied("id").unwrap();
    assert_eq!(found.company.corporation_id, None);
    let ann = env.with_tx(|tx| tx.find_user(to, ann.id)).or_denied("id").unwrap();
    assert!(!ann.profile.corporation_admin);
}

pub(super) fn an_option_needs_an_existing_company(env: &TestEnv<'_>) {
    let allow =
        |id, allowed| env.transaction(|tx| companies::set_allow_zero_points(tx, id, allowed, &env.context()));
    let absent = CompanyId::from_uuid(env.new_uuid());
    assert!(matches!(allow(absent, true), Err(OptionsError::NoSuchCompany)));
    let before = env.find_company();
    allow(env.company, false).unwrap();
    assert_eq!(env.find_company(), before);
    allow(env.company, true).unwrap();
    assert!(env.find_company().company.allow_zero_points);
}

pub(super) fn companies_are_listed_oldest_first(env: &TestEnv<'_>) {
    let more: Vec<CompanyId> = ["a", "b", "c"]
        .map(|name| {
            env.create_company(env.provider, &company_command(&format!("{name}.example.com"))).company.id
        })
        .into();
    let listed = |number| {
        let found = env.with_tx(|tx| tx.list_companies(env.provider, None, page(number, 3)));
        found.iter().map(|item| item.company.id).collect::<Vec<_>>()
    };
    assert_eq!(listed(1), [env.company, more[0], more[1]]);
    assert_eq!(listed(2), [more[2]]);
    assert_eq!(listed(i64::MAX), []);
    assert_eq!(env.with_tx(|tx| tx.count_companies(env.provider, None)), 4);
}

pub(super) fn a_company_that_is_handed_over_is_read_but_not_written(env: &TestEnv<'_>) {
    env.deposit(1_000).unwrap();
    let user = env.create_user("ann");
    let mut company = env.find_company().company;
    company.handed_over_at = Some(company.updated_at);
    env.with_tx(|tx| tx.update_company(&company));
    assert_eq!(env.find_company().company, company);
    assert_eq!(env.reserve_points(), 1_000);

    let is_closed = |refused: Result<(), StoreError>| matches!(refused, Err(StoreError::CompanyHandedOver));
    assert!(is_closed(env.transaction(|tx| tx.lock_row(LockableRow::Company(env.company)))));
    assert!(is_closed(env.transaction(|tx| tx.lock_provider_shared(env.company))));
    env.with_tx(|tx| tx.lock_provider_exclusive(env.company));
    assert!(matches!(env.deposit(1), Err(ReserveError::Store(StoreError::CompanyHandedOver))));
    let sent = env.send_points(Sender::Company(env.company), &[user], 1);
    assert!(matches!(sent, Err(SendError::Store(StoreError::CompanyHandedOver))));
    let deleted = env.delete_user(user);
    assert!(matches!(deleted, Err(DeleteUserError::Store(StoreError::CompanyHandedOver))));
    let profile = user_profile("bob");
    let created =
        env.transaction(|tx| users::create(tx, env.provider, env.company, &profile, &env.context()));
    assert!(matches!(created, Err(CreateUserError::Store(StoreError::CompanyHandedOver))));

    company.handed_over_at = None;
    env.with_tx(|tx| tx.update_company(&company));
    assert_eq!(env.deposit(1).unwrap(), 1_001);
}
