//! The Rust client has every operation, parameter and field of the API description.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use guerdon_client::{
    Change, Client, CompanyUpdate, CorporationUpdate, Credentials, EventQuery, EventState, NewCompany,
    NewOccasion, NewRecognition, NewUser, OccasionUpdate, ReplayFilter, SamlUpdate, Sender, Start,
    UserUpdate, Uuid, WalletType,
};
use serde_json::Value;

/// The names of the query parameters and of the body fields, by operation such as `GET /v1/users/{id}`.
type Operations = BTreeMap<String, BTreeSet<String>>;

/// Fields that the client does not send: the company of users and occasions cannot change, so the client's updates omit
/// it.
const OMITTED_FIELDS: [(&str, &str); 2] =
    [("PUT /v1/users/{id}", "company_id"), ("PUT /v1/occasions/{id}", "company_id")];

fn described_operations() -> Operations {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    let description: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut operations = Operations::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let name = format!("{} {path}", method.to_uppercase());
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let query = parameters
                .filter(|parameter| parameter["in"] == "query")
                .map(|parameter| parameter["name"].as_str().unwrap());
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            let fields =
                schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
            let mut names: BTreeSet<_> = query.chain(fields).map(str::to_owned).collect();
            names.retain(|field| !OMITTED_FIELDS.contains(&(&name, field)));
            operations.insert(name, names);
        }
    }
    operations
}

/// Sends requests to a server that rejects all of them. Returns their operations.
fn record_operations(requests: impl FnOnce(&Client)) -> Operations {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let recording = std::thread::spawn(move || {
        let mut operations = Operations::new();
        loop {
            let (mut stream, _) = listener.accept().unwrap();
            let (mut request, mut part) = (String::new(), [0; 65_536]);
            while !is_complete(&request) {
                let length = stream.read(&mut part).unwrap();
                if length == 0 {
                    return operations; // this connection ends the recording
                }
                request.push_str(std::str::from_utf8(&part[..length]).unwrap());
            }
            stream.write_all(b"HTTP/1.1 404 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
            let (head, body) = request.split_once("\r\n\r\n").unwrap();
            let target = head.lines().next().unwrap().trim_end_matches(" HTTP/1.1");
            let (operation, query) = target.split_once('?').unwrap_or((target, ""));
            let names = operations.entry(operation.replace(&Uuid::nil().to_string(), "{id}")).or_default();
            names.extend(query.split('&').filter_map(|pair| Some(pair.split_once('=')?.0.to_owned())));
            let body: Value = serde_json::from_str(body).unwrap_or_default();
            names.extend(body.as_object().into_iter().flatten().map(|(name, _)| name.clone()));
        }
    });
    let credentials = Credentials { api_key: String::new(), api_secret: String::new() };
    requests(&Client::new(&base, &credentials));
    drop(std::net::TcpStream::connect(base.trim_start_matches("http://")).unwrap());
    recording.join().unwrap()
}

fn is_complete(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else { return false };
    let head = head.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok());
    body.len() >= length.unwrap_or(0)
}

#[test]
fn client_has_every_operation_parameter_and_field() {
    let recorded = record_operations(|client| {
        read_everything(client);
        create_everything(client);
        update_everything(client);
    });
    assert_eq!(recorded, described_operations());
}

fn read_everything(client: &Client) {
    let id = Uuid::nil();
    let _ = client.list_companies().in_corporation(id).next();
    let _ = client.get_company(id).send();
    let users = client.list_company_users(id).with_email("a").with_employee_id("1");
    let _ = users.updated_since("2026-11-20T20:01:02.345Z").including_deleted().next();
    let _ = client.list_company_balances(id).next();
    let _ = client.list_company_occasions(id).next();
    let _ = client.get_reserve(id).send();
    let _ = client.list_reserve_transactions(id).next();
    let _ = client.get_saml_settings(id).send();
    let _ = client.list_corporations().next();
    let _ = client.get_corporation(id).send();
    let _ = client.list_corporation_companies(id).next();
    let _ = client.get_user(id).send();
    let _ = client.get_balances(id).send();
    let _ = client.list_transactions(id, WalletType::UserWallet).next();
    let _ = client.list_received_recognitions(id).next();
    let _ = client.list_sent_recognitions(id).next();
    let _ = client.get_occasion(id).send();
    let _ = client.get_recognition(id).send();
    let _ = client.get_event(id).send();
    for start in [Start::Moment("2026-11-20T20:01:02.345Z"), Start::Cursor("0")] {
        let state = Some(EventState::Pending);
        let query = EventQuery {
            start,
            r#type: Some("redemption.created"),
            state,
            limit: Some(1),
            wait_seconds: Some(1),
        };
        let _ = client.list_events(&query).next();
        let _ = client.get_event_page(&query).send();
    }
}

fn create_everything(client: &Client) {
    let id = Uuid::nil();
    let _ = client.create_company(&NewCompany::default()).send();
    let _ = client.preview_rate(id, 50).send();
    let _ = client.create_corporation("Group").send();
    let _ = client.create_user(&NewUser::default()).send();
    let _ = client.delete_user(id).send();
    let _ = client.create_occasion(&NewOccasion::default()).send();
    let _ = client.delete_occasion(id).send();
    let recognition = NewRecognition::new(id, Sender::User(id), &[id], 1);
    let _ = client.send_recognition(&recognition).send();
    let _ = client.dry_run_recognition(&recognition).send();
    let _ = client.replay_event(id).send();
    let _ = client.replay_events(&ReplayFilter::default()).send();
}

/// Each struct expression lists all fields, so that the compiler reports a new field here.
fn update_everything(client: &Client) {
    let (id, text, flag) = (Uuid::nil(), || Some("text".to_owned()), Some(true));
    let update = CompanyUpdate {
        domain: text(),
        company_name: text(),
        owner_email: text(),
        owner_name: text(),
        logo_url: text(),
        points_per_dollar: Some(50),
        reserve_alert: Change::Clear,
        reserve_bcc: Change::Clear,
    };
    let _ = client.update_company(id, &update).send();
    let (idp_id, idp_url, idp_certificate) = (Change::Clear, Change::Clear, Change::Clear);
    let _ = client
        .update_saml_settings(id, &SamlUpdate { idp_id, idp_url, idp_certificate, active: flag })
        .send();
    let _ = client.update_corporation(id, &CorporationUpdate { name: text() }).send();
    let (name, title, default_message) = (text(), text(), text());
    let update = OccasionUpdate { name, title, default_message, enabled: flag, visible: flag };
    let _ = client.update_occasion(id, &update).send();
    let update = UserUpdate {
        email: text(),
        first_name: text(),
        last_name: text(),
        department: Change::Clear,
        title: Change::Clear,
        supervisor_email: Change::Clear,
        employee_id: Change::Clear,
        birthday: Change::Clear,
        country_code: Change::Clear,
        work_start_date: Change::Clear,
        office_city: Change::Clear,
        office_state: Change::Clear,
        office_country: Change::Clear,
        manager: flag,
        company_admin: flag,
        corporation_admin: flag,
        groups: Change::Clear,
        custom_field_1: Change::Clear,
        custom_field_2: Change::Clear,
        custom_field_3: Change::Clear,
        custom_field_4: Change::Clear,
        custom_field_5: Change::Clear,
    };
    let _ = client.update_user(id, &update).send();
}
