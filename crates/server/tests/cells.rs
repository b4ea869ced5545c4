//! Two cells behind HAProxy with the configuration in packaging/cells (docs/operating.md, "Cells").

use guerdon_persistence::testing::create_databases;
use guerdon_test_harness::{CellRouter, ROUTED_CELLS, RoutedCell};
use guerdon_test_support::require_program;
use serde_json::Value;

use crate::support::SampleCompany;
use crate::support::service::{ApiResponse, ProviderCredentials, TestService};

const PATH: &str = "/v1/companies";

/// Two cells with a company each, and the router in front of them.
struct Cells {
    services: [TestService; 2],
    samples: [SampleCompany; 2],
    router: CellRouter,
}

impl Cells {
    /// `None` if HAProxy is not installed.
    fn start() -> Option<Self> {
        let program = require_program("haproxy")?;
        let services = ROUTED_CELLS.map(|name| {
            let settings = RoutedCell::settings(name);
            let settings = settings.each_ref().map(|(key, value)| (*key, value.as_str()));
            TestService::start(create_databases().pop().unwrap(), &settings)
        });
        let samples = services.each_ref().map(|service| SampleCompany::create(service, 1));
        let cells = services.each_ref().map(|service| {
            let instance = (service.running.https().address(), service.data_dir.path().to_owned());
            RoutedCell { instances: [instance.clone(), instance] }
        });
        let keys = samples.each_ref().map(|sample| sample.provider.api_key.as_str());
        let map: Vec<(&str, &str)> = keys.into_iter().zip(ROUTED_CELLS).collect();
        let router = CellRouter::start(&program, &cells, &map).unwrap();
        let mut cells = Self { services, samples, router };
        cells.services[0].running.api_url = format!("https://{}", cells.router.https().address());
        Some(cells)
    }

    /// Sends a request through the router.
    fn request_companies(&self, provider: &ProviderCredentials) -> ApiResponse {
        self.services[0].get(provider, PATH)
    }
}

fn status_and_cell(response: &ApiResponse) -> (u16, Option<&str>) {
    (response.status, response.header("x-service-cell"))
}

#[test]
fn the_router_finds_the_cell_of_each_provider() {
    let Some(cells) = Cells::start() else { return };
    for (sample, cell) in cells.samples.iter().zip(ROUTED_CELLS) {
        let response = cells.request_companies(&sample.provider);
        assert_eq!(status_and_cell(&response), (200, Some(cell)));
        assert!(response.body.contains(&sample.company), "{}", response.body);
    }
    let [first, second] = cells.samples.each_ref().map(|sample| &sample.provider);
    let stranger = ProviderCredentials { api_key: "unknown".to_owned(), ..second.clone() };
    let refused = cells.request_companies(&stranger);
    assert_eq!(status_and_cell(&refused), (401, Some("eu-1")), "the default backend");

    cells.router.reassign_key(&first.api_key, "eu-2").unwrap();
    let reassigned = cells.request_companies(first);
    assert_eq!(status_and_cell(&reassigned), (401, Some("eu-2")), "the key does not exist there");
    cells.router.reassign_key(&first.api_key, "eu-1").unwrap();
    assert_eq!(cells.request_companies(first).status, 200);
}

#[test]
fn a_stopped_cell_affects_no_other() {
    let Some(mut cells) = Cells::start() else { return };
    cells.services[1].running.kill().unwrap();
    let [first, second] = cells.samples.each_ref().map(|sample| &sample.provider);
    assert_eq!(cells.request_companies(second).expect_error(503), "the cell is unavailable");
    assert_eq!(cells.request_companies(first).status, 200);
}

#[test]
fn a_cell_shows_its_name() {
    let settings = [("GUERDON_CELL", "eu-1")];
    let service = TestService::start(create_databases().pop().unwrap(), &settings);
    let status: Value = serde_json::from_str(&service.running.operator_page("/status").body).unwrap();
    assert_eq!(status["cell"], "eu-1");
    assert_eq!(service.running.metric("guerdon_cell_info{cell=\"eu-1\"}"), Some(1.0));
    assert!(service.running.operator_page("/").body.contains("localhost, cell eu-1"));
}
