//! Databases that contain provider fixtures. Creating a fixture takes four commands and a dozen requests, so each kind
//! of database is filled once per test process, and every test starts a service on its own copy.

use std::sync::OnceLock;

use guerdon_persistence::testing::{TestDatabase, create_databases};

use super::assert_consistent;
use super::provider_fixture::ProviderFixture;
use super::service::TestService;

/// Fixtures with these marks, on a database of each kind that this run covers.
struct FixtureTemplates<const N: usize> {
    marks: [&'static str; N],
    built: OnceLock<Vec<FixtureTemplate<N>>>,
}

/// A database with fixtures. No process has it open, so that it can be copied.
struct FixtureTemplate<const N: usize> {
    database: TestDatabase,
    fixtures: [ProviderFixture; N],
}

static ONE_PROVIDER: FixtureTemplates<1> = FixtureTemplates { marks: ["zebra"], built: OnceLock::new() };
static TWO_PROVIDERS: FixtureTemplates<2> =
    FixtureTemplates { marks: ["okapi", "zebra"], built: OnceLock::new() };

/// Starts the service on every database of this run, with the fixture `zebra`. Afterwards, the database must be
/// consistent.
pub fn for_each_fixture(test: impl Fn(&mut TestService, &ProviderFixture)) {
    for_each_fixture_with(&[], test);
}

/// Like `for_each_fixture`, with settings as environment variables.
pub fn for_each_fixture_with(settings: &[(&str, &str)], test: impl Fn(&mut TestService, &ProviderFixture)) {
    ONE_PROVIDER.for_each_copy(settings, |service, [fixture]| test(service, fixture));
}

/// Like `for_each_fixture`, with the fixtures `okapi` and `zebra`.
pub fn for_each_fixture_pair(test: impl Fn(&mut TestService, &ProviderFixture, &ProviderFixture)) {
    TWO_PROVIDERS.for_each_copy(&[], |service, [okapi, zebra]| test(service, okapi, zebra));
}

impl<const N: usize> FixtureTemplates<N> {
    fn for_each_copy(
        &self,
        settings: &[(&str, &str)],
        test: impl Fn(&mut TestService, &[ProviderFixture; N]),
    ) {
        for FixtureTemplate { database, fixtures } in self.get_or_build() {
            let mut service = TestService::start(database.duplicate(), settings);
            for fixture in fixtures {
                // The service caches the provider, as it does after the requests that create a fixture.
                let response = service.get(fixture.provider(), "/v1/companies");
                assert_eq!(response.status, 200, "{}", response.body);
            }
            test(&mut service, fixtures);
            assert_consistent(&service);
        }
    }

    fn get_or_build(&self) -> &[FixtureTemplate<N>] {
        self.built.get_or_init(|| {
            let databases = create_databases().into_iter();
            databases.map(|database| FixtureTemplate::build(database, self.marks)).collect()
        })
    }
}

impl<const N: usize> FixtureTemplate<N> {
    /// Creates fixtures with these marks on an empty database.
    fn build(database: TestDatabase, marks: [&str; N]) -> Self {
        let mut service = TestService::start(database, &[("GUERDON_HTTP__DRAIN_SECONDS", "0")]);
        let fixtures = marks.map(|mark| ProviderFixture::create(&service, mark));
        service.running.terminate().unwrap();
        assert_eq!(service.running.wait_for_exit().unwrap(), Some(0));
        if service.database.is_embedded() {
            // A copy consists of the database file without its log.
            service.database.execute_sql("PRAGMA wal_checkpoint(TRUNCATE)", "");
        }
        Self { database: service.database, fixtures }
    }
}
