//! The Rust client against a real service.

use guerdon_client::{
    Change, Client, CompanyUpdate, CorporationUpdate, Credentials, Error, EventQuery, EventState, NewCompany,
    NewOccasion, NewRecognition, NewUser, OccasionUpdate, ReplayFilter, SamlUpdate, Sender, Start,
    TransactionType, UserUpdate, WalletType,
};
use uuid::Uuid;

use crate::support::service::{ProviderCredentials, TestService};
use crate::support::{for_each_database, wait_until};

fn create_client(service: &TestService, provider: &ProviderCredentials) -> Client {
    let (api_key, api_secret) = (provider.api_key.clone(), provider.api_secret.clone());
    let certificate = std::fs::read(service.data_dir.path().join("tls/certificate.pem")).unwrap();
    let bundle =
        [include_bytes!("support/certificates/rsa_2048_expired.pem"), certificate.as_slice()].concat();
    Client::with_root_certificates(&service.running.api_url, &Credentials { api_key, api_secret }, &bundle)
        .unwrap()
}

/// A company in a corporation with five users and an occasion, created by a client.
struct CreatedObjects {
    client: Client,
    group: Uuid,
    company: Uuid,
    users: Vec<Uuid>,
    occasion: Uuid,
}

impl CreatedObjects {
    fn create_with(client: Client) -> Self {
        let group = client.create_corporation("Group").send().unwrap().id;
        let company = NewCompany {
            domain: "client.example.com".to_owned(),
            company_name: "Client".to_owned(),
            owner_email: "ada@client.example.com".to_owned(),
            owner_name: "Ada Lovelace".to_owned(),
            logo_url: "https://client.example.com/logo.png".to_owned(),
            corporation_id: Some(group),
            ..NewCompany::default()
        };
        let company = client.create_company(&company).send().unwrap().id;
        let user = |number: u8| {
            let user = NewUser {
                company_id: company,
                email: format!("u{number}@client.example.com"),
                first_name: format!("u{number}"),
                last_name: "Doe".to_owned(),
                employee_id: Some(format!("no. {number}")),
                ..NewUser::default()
            };
            client.create_user(&user).send().unwrap().id
        };
        let users = (0..5).map(user).collect();
        let occasion = NewOccasion {
            company_id: company,
            name: "Thanks".to_owned(),
            title: "Thanks".to_owned(),
            default_message: "Thank you".to_owned(),
            ..NewOccasion::default()
        };
        let occasion = client.create_occasion(&occasion).send().unwrap().id;
        Self { client, group, company, users, occasion }
    }
}

#[test]
fn sent_points_appear_in_balances() {
    for_each_database(|service| {
        let objects =
            CreatedObjects::create_with(create_client(service, &service.create_provider("Client", true)));
        let CreatedObjects { client, users, company, .. } = &objects;
        let company = *company;
        service.run_json_command(&["reserve", "deposit", &company.to_string(), "--points", "1000"]);

        let wanted = NewRecognition::new(objects.occasion, Sender::Company(company), &users[..2], 10)
            .with_message("Well done");
        let preview = client.dry_run_recognition(&wanted).send().unwrap();
        assert_eq!((preview.wallet, preview.points, preview.balance_after), (WalletType::Reserve, 20, 980));
        let send = || client.send_recognition(&wanted).with_idempotency_key("order-1").send().unwrap();
        let sent = send().recognitions;
        assert_eq!(send().recognitions, sent, "the same response, without a second effect");
        assert_eq!(client.get_reserve(company).send().unwrap().points, 980);
        let rate = client.preview_rate(company, 100).send().unwrap();
        assert_eq!((rate.points_per_dollar.then, rate.reserve.now, rate.reserve.then), (100, 980, 1960));

        let balances = client.get_balances(users[0]).send().unwrap();
        assert_eq!(balances.points(WalletType::UserWallet), Some(10));
        let all: Vec<_> = client.list_company_balances(company).map(Result::unwrap).collect();
        assert_eq!((all.len(), &all[1]), (6, &balances), "the owner comes first");
        let moved = client.list_transactions(users[0], WalletType::UserWallet).next().unwrap().unwrap();
        assert_eq!((moved.r#type, moved.reason.as_str()), (TransactionType::Credit, "recognition"));
        let reasons: Vec<_> = client
            .list_reserve_transactions(company)
            .map(|transaction| transaction.unwrap().reason)
            .collect();
        assert_eq!(reasons.len(), 3);
        assert_eq!(reasons.last().unwrap(), "deposit");
        assert_eq!(client.list_received_recognitions(users[0]).next().unwrap().unwrap(), sent[0]);

        let events = wait_until("both events should be in the feed", || {
            let events: Vec<_> = client.list_events(&EventQuery::default()).map(Result::unwrap).collect();
            (events.len() == 2).then_some(events)
        });
        check_feed(client);
        let event = client.get_event(events[0].id).send().unwrap();
        assert_eq!(event.body.get(), events[0].body.get());
        let filter = ReplayFilter { since: Some(event.created_at), state: Some(EventState::Unaddressed) };
        assert_eq!(client.replay_events(&filter).send().unwrap().replayed, 2);
        let again = client.replay_event(event.id).send().unwrap().replayed;
        assert!(again <= 1, "an event in flight does not count");
    });
}

/// Reads two events without a callback URL, one per page.
fn check_feed(client: &Client) {
    let query = EventQuery { limit: Some(1), state: Some(EventState::Unaddressed), ..EventQuery::default() };
    let mut feed = client.list_events(&query);
    assert_eq!(feed.cursor(), None);
    let first = feed.next().unwrap().unwrap();
    let cursor = feed.cursor().unwrap().to_owned();
    let second = feed.next().unwrap().unwrap();
    assert!(feed.next().is_none() && feed.next().is_none());
    let ids_after = |cursor: &str| {
        let query = EventQuery { start: Start::Cursor(cursor), ..EventQuery::default() };
        client.list_events(&query).map(|event| event.unwrap().id).collect::<Vec<_>>()
    };
    assert_eq!(ids_after(&cursor), [second.id]);
    assert!(ids_after(feed.cursor().unwrap()).is_empty());
    let since = EventQuery { start: Start::Moment(&first.created_at), ..EventQuery::default() };
    assert_eq!(client.list_events(&since).count(), 2);
    let other = EventQuery { r#type: Some("redemption.created"), ..EventQuery::default() };
    assert_eq!(client.list_events(&other).count(), 0);
}

#[test]
fn lists_are_filtered() {
    for_each_database(|service| {
        let objects =
            CreatedObjects::create_with(create_client(service, &service.create_provider("Client", true)));
        let CreatedObjects { client, users, company, group, .. } = &objects;
        let (company, group) = (*company, *group);
        let all: Vec<_> = client.list_company_users(company).map(|user| user.unwrap().id).collect();
        assert_eq!(all[1..], *users, "the owner comes first");
        let by_email = client.list_company_users(company).with_email("U1@client.example.com").next();
        assert_eq!(by_email.unwrap().unwrap().id, users[1]);
        let by_employee_id: Vec<_> = client
            .list_company_users(company)
            .with_employee_id("no. 2")
            .map(|user| user.unwrap().id)
            .collect();
        assert_eq!(by_employee_id, [users[2]]);
        client.delete_user(users[4]).send().unwrap();
        let deleted = client.get_user(users[4]).send().unwrap();
        assert!(deleted.deleted_at.is_some());
        assert_eq!(client.list_company_users(company).count(), 5);
        let changed =
            client.list_company_users(company).updated_since(&deleted.updated_at).including_deleted();
        assert_eq!(changed.last().unwrap().unwrap().id, users[4]);
        assert_eq!(client.list_companies().count(), 1);
        assert_eq!(client.list_companies().in_corporation(group).count(), 1);
        assert_eq!(client.list_corporation_companies(group).next().unwrap().unwrap().id, company);
        assert_eq!(client.list_corporations().next().unwrap().unwrap().id, group);
        assert!(
            client.list_company_occasions(company).any(|occasion| occasion.unwrap().id == objects.occasion)
        );
    });
}

#[test]
fn update_keeps_clears_or_sets_each_field() {
    for_each_database(|service| {
        let objects =
            CreatedObjects::create_with(create_client(service, &service.create_provider("Client", true)));
        let (client, company, user) = (&objects.client, objects.company, objects.users[0]);
        let update = |update: UserUpdate| client.update_user(user, &update).send().unwrap();
        let changed =
            update(UserUpdate { first_name: Some("Zoe".to_owned()), title: "Dr".into(), ..<_>::default() });
        assert_eq!((changed.first_name.as_str(), changed.title.as_deref()), ("Zoe", Some("Dr")));
        assert_eq!(changed.employee_id.as_deref(), Some("no. 0"), "kept");
        let changed = update(UserUpdate { employee_id: Change::Clear, ..<_>::default() });
        assert_eq!((changed.employee_id, changed.title.as_deref()), (None, Some("Dr")));

        let update = |update: CompanyUpdate| client.update_company(company, &update).send().unwrap();
        let alert = Change::Set(7);
        let changed = update(CompanyUpdate { reserve_alert: alert, ..<_>::default() });
        assert_eq!(changed.reserve_alert, Some(7));
        let bcc = "bcc@client.example.com";
        let changed =
            update(CompanyUpdate { reserve_bcc: bcc.into(), points_per_dollar: Some(20), ..<_>::default() });
        assert_eq!((changed.reserve_alert, changed.reserve_bcc.as_deref()), (Some(7), Some(bcc)));
        let changed = update(CompanyUpdate { reserve_alert: Change::Clear, ..<_>::default() });
        assert_eq!((changed.reserve_alert, changed.reserve_bcc.as_deref()), (None, Some(bcc)));
        let company_now = client.get_company_by_domain("client.example.com").send().unwrap();
        assert_eq!((company_now.points_per_dollar, company_now.user_count), (20, 6));
        assert_eq!(client.get_company(company).send().unwrap(), company_now);

        let update = CorporationUpdate { name: Some("Renamed".to_owned()) };
        assert_eq!(client.update_corporation(objects.group, &update).send().unwrap().name, "Renamed");
        assert_eq!(client.get_corporation(objects.group).send().unwrap().name, "Renamed");
        let update = OccasionUpdate { enabled: Some(false), ..<_>::default() };
        let occasion = client.update_occasion(objects.occasion, &update).send().unwrap();
        assert_eq!((occasion.enabled, occasion.visible), (false, true));
        assert_eq!(client.get_occasion(objects.occasion).send().unwrap(), occasion);
        client.delete_occasion(objects.occasion).send().unwrap();
        let update = SamlUpdate { idp_id: "https://idp.example/metadata".into(), ..<_>::default() };
        let saml = client.update_saml_settings(company, &update).send().unwrap();
        assert_eq!((saml.idp_id.as_deref(), saml.active), (Some("https://idp.example/metadata"), false));
        assert_eq!(client.get_saml_settings(company).send().unwrap(), saml);
    });
}

#[test]
fn refusals_have_a_reason_and_unknown_certificates_are_not_trusted() {
    for_each_database(|service| {
        let provider = service.create_provider("Client", true);
        let mine = create_client(service, &provider);
        match mine.get_company_by_domain("nobody.example.com").send() {
            Err(Error::Refused { status: 404, code, message, request_id, .. }) => {
                assert_eq!(code.as_deref(), Some("not_found"));
                assert_eq!(message, "company not found");
                assert_eq!(request_id.len(), 36);
            }
            other => panic!("{other:?}"),
        }
        let stranger = ProviderCredentials { api_secret: "gs_wrong".to_owned(), ..provider };
        assert!(matches!(
            create_client(service, &stranger).list_corporations().next(),
            Some(Err(Error::Refused { status: 401, .. }))
        ));
        let untrusting = Client::new(
            &service.running.api_url,
            &Credentials { api_key: String::new(), api_secret: String::new() },
        );
        assert!(matches!(untrusting.get_corporation(Uuid::nil()).send(), Err(Error::Untrusted(_))));
    });
}
