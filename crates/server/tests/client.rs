//! The client for Rust programs, against the real service.

use guerdon_client::{
    Client, Credentials, Error, NewCompany, NewOccasion, NewRecognition, NewUser, Sender, WalletType,
};
use serde_json::json;
use uuid::Uuid;

use crate::support::on_each;
use crate::support::service::{Provider, Service};

fn client(service: &Service, provider: &Provider) -> Client {
    let (api_key, api_secret) = (provider.api_key.clone(), provider.api_secret.clone());
    let own = std::fs::read(service.data.path().join("tls/certificate.pem")).unwrap();
    let bundle = [include_bytes!("support/certificates/rsa_2048_expired.pem"), own.as_slice()].concat();
    Client::trusting(&service.running.api, &Credentials { api_key, api_secret }, &bundle).unwrap()
}

/// A company in a corporation with five users and an occasion, made by a client.
struct Made {
    client: Client,
    group: Uuid,
    company: Uuid,
    users: Vec<Uuid>,
    occasion: Uuid,
}

impl Made {
    fn by(client: Client) -> Self {
        let group = client.create_corporation("Group").unwrap().id;
        let company = client.create_company(&NewCompany {
            domain: "client.example.com".to_owned(),
            company_name: "Client".to_owned(),
            owner_email: "ada@client.example.com".to_owned(),
            owner_name: "Ada Lovelace".to_owned(),
            logo_url: "https://client.example.com/logo.png".to_owned(),
            corporation_id: Some(group),
            ..NewCompany::default()
        });
        let company = company.unwrap().id;
        let user = |number: u8| {
            client.create_user(&NewUser {
                company_id: company,
                email: format!("u{number}@client.example.com"),
                first_name: format!("u{number}"),
                last_name: "Doe".to_owned(),
                ..NewUser::default()
            })
        };
        let users = (0..5).map(|it| user(it).unwrap().id).collect();
        let occasion = client.create_occasion(&NewOccasion {
            company_id: company,
            name: "Thanks".to_owned(),
            title: "Thanks".to_owned(),
            default_message: "Thank you".to_owned(),
        });
        let occasion = occasion.unwrap().id;
        Self { client, group, company, users, occasion }
    }
}

#[test]
fn a_program_does_by_it_what_the_api_offers() {
    on_each(|service| {
        let made = Made::by(client(service, &service.provider("Client", true)));
        let Made { client, users, .. } = &made;
        service.json(&["reserve", "deposit", &made.company.to_string(), "--points", "1000"]);

        let all: Vec<_> = client.company_users(made.company).map(|it| it.unwrap().id).collect();
        assert_eq!(all[1..], *users, "the owner is the first");
        assert_eq!(client.companies().count(), 1);
        assert_eq!(
            client.corporation_companies(made.group).map(|it| it.unwrap().id).collect::<Vec<_>>(),
            [made.company]
        );
        assert_eq!(client.company_by_domain("client.example.com").unwrap().user_count, Some(6));

        let wanted = NewRecognition::new(made.occasion, Sender::Company(made.company), &users[..2], 10)
            .saying("Well done");
        let told = client.rehearse_recognition(&wanted).unwrap();
        assert_eq!((told.wallet.as_str(), told.points, told.balance_after), ("reserve", 20, 980));
        let sent = client.send_recognition_keyed(&wanted, "order-1").unwrap();
        assert_eq!(
            client.send_recognition_keyed(&wanted, "order-1").unwrap(),
            sent,
            "the same, and nothing again"
        );
        assert_eq!(client.reserve(made.company).unwrap().points, 980);
        let balances = client.balances(users[0]).unwrap();
        let shown = balances.wallets.iter().find(|it| it.r#type == WalletType::UserWallet).unwrap();
        assert_eq!((shown.points, shown.cumulative_points_spent), (10, 0));
        assert_eq!(client.transactions(users[0], WalletType::UserWallet).unwrap()[0].reason, "recognition");
        assert_eq!(client.recognitions_received(users[0]).next().unwrap().unwrap(), sent[0]);

        let renamed = client.update_user(users[4], &json!({"first_name": "Zoe"})).unwrap();
        assert_eq!(renamed.first_name, "Zoe");
        client.delete_user(users[4]).unwrap();
        assert!(client.user(users[4]).unwrap().deleted_at.is_some());
        let events = client.events(None).unwrap();
        assert_eq!(events.events.len(), 2);
        assert!(client.events(Some(&events.next)).unwrap().events.is_empty());
        let one = client.event(events.events[0].id).unwrap();
        assert_eq!(one.body.get(), events.events[0].body.get());
        assert_eq!(client.replay_event(one.id).unwrap(), 1, "it had no address");
    });
}

#[test]
fn a_refusal_says_why_and_nobody_unknown_is_trusted() {
    on_each(|service| {
        let provider = service.provider("Client", true);
        let mine = client(service, &provider);
        match mine.company_by_domain("nobody.example.com") {
            Err(Error::Refused { status: 404, message, request_id }) => {
                assert_eq!(message, "company not found");
                assert_eq!(request_id.len(), 36);
            }
            other => panic!("{other:?}"),
        }
        let stranger = Provider { api_secret: "gs_wrong".to_owned(), ..provider };
        assert!(matches!(
            client(service, &stranger).corporations().next(),
            Some(Err(Error::Refused { status: 401, .. }))
        ));
        let untrusting = Client::new(
            &service.running.api,
            &Credentials { api_key: String::new(), api_secret: String::new() },
        );
        assert!(matches!(untrusting.corporation(Uuid::nil()), Err(Error::Untrusted(_))));
    });
}
