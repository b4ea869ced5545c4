//! One object of every kind, all of one provider, and a snapshot of all data, to check that nothing changed.

use serde_json::{Value, json};

use super::service::{ApiResponse, ProviderCredentials, TestService};
use super::{SampleCompany, created_id, schema};

/// A certificate of an identity provider, which expired long ago.
pub const CERTIFICATE: &str = include_str!("certificates/rsa_2048_expired.pem");

/// A provider with a company in a corporation, funded users, SAML settings and recognitions. All strings contain the
/// mark of the fixture.
pub struct ProviderFixture {
    pub sample: SampleCompany,
    pub corporation: String,
    pub owner: String,
    pub domain: String,
    pub mark: String,
    /// A user that tests may delete.
    pub spare_user: String,
    pub spare_occasion: String,
    pub recognition: String,
    /// The event of the recognition.
    pub event: String,
}

impl ProviderFixture {
    /// Creates the objects. Their names contain `mark`, a word of lower-case letters.
    pub fn create(service: &TestService, mark: &str) -> Self {
        let provider = service.create_provider(mark, true);
        let domain = format!("{mark}.example.com");
        let make = |path: &str, body: &Value| created_id(service.post(&provider, path, body));
        let corporation = make("/v1/corporations", &json!({"name": format!("{mark} group")}));
        let company = make("/v1/companies", &marked_company_body(mark, &domain, &corporation));
        let [occasion, spare_occasion] =
            [(); 2].map(|()| make("/v1/occasions", &marked_occasion_body(&company, mark)));
        let user = |name: &str| make("/v1/users", &marked_user_body(&company, mark, name));
        let users = vec![user("ann"), user("bob"), user("cid")];
        let spare_user = user("spare");
        let path = format!("/v1/companies/{company}");
        let owner = service.get(&provider, &path).json()["owner_id"].as_str().unwrap().to_owned();
        let saml = json!({"idp_id": format!("urn:{mark}"), "idp_url": format!("https://{mark}.example.com/sso"),
            "idp_certificate": CERTIFICATE});
        assert_eq!(service.put(&provider, &format!("{path}/saml"), &saml).status, 200);
        let sample = SampleCompany { provider, company, occasion, users };
        sample.deposit_points(service, 1_000_000);
        sample.fund_peer_wallets(service, 1_000);
        let sent = sample.send_recognition(service, &sample.company, &[&sample.users[0]], 3).json();
        let recognition = sent["recognitions"][0]["id"].as_str().unwrap().to_owned();
        let event = recognition.clone(); // a recognition and its event have the same id
        assert_eq!(sample.send_recognition(service, &sample.users[0], &[&sample.users[1]], 2).status, 201);
        let mark = mark.to_owned();
        Self { sample, corporation, owner, domain, mark, spare_user, spare_occasion, recognition, event }
    }

    pub fn provider(&self) -> &ProviderCredentials {
        &self.sample.provider
    }

    /// The number of rows in all tables, and everything that the API shows of these objects.
    pub fn take_snapshot(&self, service: &TestService) -> Vec<String> {
        let mut picture = vec![format!("{} rows", count_rows(service))];
        for path in self.resource_paths() {
            let response = service.get(self.provider(), &path);
            picture.push(format!("{path}: {} {}", response.status, response.body));
        }
        picture
    }

    fn resource_paths(&self) -> Vec<String> {
        let SampleCompany { company, occasion, users, .. } = &self.sample;
        let mut paths = vec!["/v1/companies".to_owned(), "/v1/corporations".to_owned()];
        for rest in ["", "/users/balances", "/occasions", "/saml"] {
            paths.push(format!("/v1/companies/{company}{rest}"));
        }
        paths.push(format!("/v1/corporations/{}", self.corporation));
        paths.push(format!("/v1/corporations/{}/companies", self.corporation));
        for id in [occasion, &self.spare_occasion] {
            paths.push(format!("/v1/occasions/{id}"));
        }
        for id in users.iter().chain([&self.owner, &self.spare_user]) {
            paths.push(format!("/v1/users/{id}"));
        }
        for kind in ["user_wallet", "peer_wallet", "manager_wallet"] {
            paths.push(format!("/v1/users/{}/transactions?type={kind}", users[0]));
        }
        for list in ["recognitions_received", "recognitions_sent"] {
            paths.push(format!("/v1/users/{}/{list}", users[0]));
        }
        paths
    }

    /// Asserts that a response reveals nothing about these objects that its request did not contain.
    pub fn assert_not_revealed(&self, response: &ApiResponse, request: &str) {
        let response_text = format!("{} {:?}", response.body, response.headers).to_lowercase();
        let request = request.to_lowercase();
        let SampleCompany { company, occasion, users, provider } = &self.sample;
        let ids = [
            company,
            occasion,
            &provider.id,
            &self.corporation,
            &self.owner,
            &users[0],
            &users[1],
            &self.mark,
        ];
        for secret in ids {
            assert!(
                request.contains(secret.as_str()) || !response_text.contains(secret.as_str()),
                "{request}: {response_text}"
            );
        }
    }
}

/// The number of rows in all tables, except those that the service writes in the background.
pub fn count_rows(service: &TestService) -> i64 {
    let tables = schema::list_tables();
    let is_fact = |table: &&String| {
        let background_tables = ["active_users", "seals", "settings", "failed_requests"];
        !background_tables.contains(&table.as_str()) && !table.ends_with("_statistics")
    };
    let counted = tables.iter().filter(is_fact);
    let all: Vec<String> = counted.map(|table| format!("SELECT 1 FROM {table}")).collect();
    service.database.count_rows(&format!("({}) AS every_row", all.join(" UNION ALL ")))
}

/// A body that creates a company.
pub fn marked_company_body(mark: &str, domain: &str, corporation: &str) -> Value {
    json!({"domain": domain, "company_name": format!("{mark} Ltd"), "owner_email": format!("olive@{mark}.example.com"),
        "owner_name": format!("Olive {mark}"), "logo_url": format!("https://{mark}.example.com/logo.png"),
        "corporation_id": corporation, "reserve_alert": 7, "reserve_bcc": format!("bcc@{mark}.example.com")})
}

/// A body that creates an occasion.
pub fn marked_occasion_body(company: &str, mark: &str) -> Value {
    json!({"company_id": company, "name": format!("{mark} day"), "title": format!("A {mark} title"),
        "default_message": format!("Thanks from {mark}")})
}

/// A body that creates a user.
pub fn marked_user_body(company: &str, mark: &str, name: &str) -> Value {
    json!({"company_id": company, "email": format!("{name}@{mark}.example.com"), "first_name": name,
        "last_name": mark, "department": mark, "title": mark, "supervisor_email": format!("boss@{mark}.example.com"),
        "employee_id": mark, "office_city": mark, "groups": mark, "custom_field_1": mark})
}
