//! Which packages may depend on which. Adapters may depend on the domain but never on each other. Crates for
//! integrators may depend only on other crates for integrators.

use anyhow::{Context, Result};
use serde_json::Value;

use super::Finding;
use crate::workspace::Workspace;

const DOMAIN: &str = "guerdon-domain";
const DOMAIN_MAY_USE: [&str; 9] =
    ["uuid", "time", "thiserror", "email_address", "url", "idna", "rust_iso3166", "x509-parser", "serde"];
/// The workspace packages that each package may depend on. The server connects adapters through the domain's ports.
const MAY_USE: [(&str, &[&str]); 12] = [
    (DOMAIN, &[]),
    ("guerdon-webhooks", &[]),
    ("guerdon-client", &["guerdon-webhooks"]),
    ("guerdon-api-types", &[DOMAIN]),
    ("guerdon-console", &[]),
    ("guerdon-api-docs", &[]),
    ("guerdon-persistence", &[DOMAIN, TEST_SUPPORT]), // the latter behind its feature `testing`
    ("guerdon-http-api", &[DOMAIN, "guerdon-api-types"]),
    ("guerdon-webhook-dispatcher", &[DOMAIN, "guerdon-webhooks"]),
    ("guerdon-mailer", &[DOMAIN]),
    (TEST_SUPPORT, &[]),
    ("guerdon-test-harness", &[]), // it starts the binary, and is used by the server's tests and xtask
];
/// Packages that connect or measure the others, and may depend on all of them.
const UNLIMITED: [&str; 6] = [
    "guerdon",
    "xtask",
    "guerdon-baseline",
    "guerdon-feature-set",
    "guerdon-instruction-count",
    "guerdon-parser-properties",
];
/// The package that tests of every package may depend on.
const TEST_SUPPORT: &str = "guerdon-test-support";

/// Libraries that only some packages may use. The baseline is exempt, because it consists of minimal programs that the
/// service is compared with.
const RESTRICTED_LIBRARIES: [(&str, &[&str]); 2] = [
    ("diesel", &["guerdon-persistence", "guerdon-baseline"]),
    ("actix-web", &["guerdon-http-api", "guerdon", "guerdon-baseline"]),
];

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    let mut names = Vec::new();
    for package in workspace.packages()? {
        let name = package.get("name").and_then(Value::as_str).context("a package has no name")?;
        names.push(name);
        let dependencies =
            package.get("dependencies").and_then(Value::as_array).context("no dependencies")?;
        for dependency in dependencies {
            let used = dependency.get("name").and_then(Value::as_str).context("a dependency has no name")?;
            let for_tests = dependency.get("kind").and_then(Value::as_str) == Some("dev");
            if let Some(rule) = broken_rule(name, used, for_tests) {
                let problem = format!("depends on {used}");
                findings.push(Finding::new(format!("package {name}"), problem, rule));
            }
        }
    }
    let unruled = names.iter().filter(|name| allowed_packages(name).is_none() && !UNLIMITED.contains(name));
    findings.extend(unruled.map(|name| {
        let fix = "add it to `MAY_USE` in xtask/src/tidy/layering.rs";
        Finding::new(format!("package {name}"), "has no rule for its dependencies", fix)
    }));
    let missing = MAY_USE.iter().map(|(name, _)| name).chain(&UNLIMITED).filter(|name| !names.contains(name));
    findings.extend(missing.map(|name| {
        Finding::new(
            "xtask/src/tidy/layering.rs",
            format!("has a rule for {name}"),
            "remove it: there is no such package",
        )
    }));
    Ok(findings)
}

fn broken_rule(package: &str, used: &str, for_tests: bool) -> Option<String> {
    if package == DOMAIN && !for_tests && !DOMAIN_MAY_USE.contains(&used) {
        return Some(format!(
            "the domain uses only {}; put the rest behind a port",
            DOMAIN_MAY_USE.join(", ")
        ));
    }
    if let Some(allowed) = allowed_packages(package)
        && is_ours(used)
        && package != used
        && !allowed.contains(&used)
        && !(for_tests && used == TEST_SUPPORT)
    {
        let allowed = if allowed.is_empty() { "none" } else { &allowed.join(" and ") };
        return Some(format!(
            "among workspace crates, it may depend only on {allowed}; connect the two in the server, or through a port"
        ));
    }
    let (_, owners) = RESTRICTED_LIBRARIES.iter().find(|(library, _)| *library == used)?;
    (!owners.contains(&package)).then(|| format!("only {} may use it", owners.join(" and ")))
}

fn allowed_packages(package: &str) -> Option<&'static [&'static str]> {
    MAY_USE.iter().find(|(name, _)| *name == package).map(|(_, allowed)| *allowed)
}

fn is_ours(package: &str) -> bool {
    UNLIMITED.contains(&package) || allowed_packages(package).is_some()
}

#[cfg(test)]
mod tests {
    use super::broken_rule;

    fn assert_rule(package: &str, used: &str, for_tests: bool, broken: bool) {
        assert_eq!(broken_rule(package, used, for_tests).is_some(), broken, "{package} -> {used}");
    }

    #[test]
    fn dependencies_point_inwards() {
        assert_rule("guerdon-domain", "uuid", false, false);
        assert_rule("guerdon-domain", "proptest", true, false);
        assert_rule("guerdon-domain", "guerdon-domain", true, false);
        assert_rule("guerdon-domain", "serde_json", false, true);
        assert_rule("guerdon-domain", "guerdon-persistence", true, true);
        assert_rule("guerdon-http-api", "guerdon-domain", false, false);
        assert_rule("guerdon-http-api", "guerdon-persistence", false, true);
        assert_rule("guerdon-http-api", "guerdon", true, true);
        assert_rule("guerdon", "guerdon-persistence", false, false);
    }

    #[test]
    fn crates_for_integrators_are_independent() {
        assert_rule("guerdon-webhooks", "guerdon-domain", false, true);
        assert_rule("guerdon-client", "guerdon-webhooks", false, false);
        assert_rule("guerdon-client", "guerdon-domain", false, true);
        assert_rule("guerdon-client", "guerdon-webhook-dispatcher", false, true);
        assert_rule("guerdon-webhook-dispatcher", "guerdon-webhooks", false, false);
        assert_rule("guerdon-webhook-dispatcher", "guerdon-mailer", false, true);
        assert_rule("guerdon-console", "guerdon-domain", false, true);
        assert_rule("guerdon-api-docs", "guerdon-http-api", false, true);
    }

    #[test]
    fn tests_may_use_their_support() {
        assert_rule("guerdon-mailer", "guerdon-test-support", true, false);
        assert_rule("guerdon-mailer", "guerdon-test-support", false, true);
    }

    #[test]
    fn libraries_have_owners() {
        assert_rule("guerdon-http-api", "actix-web", false, false);
        assert_rule("guerdon-webhook-dispatcher", "actix-web", false, true);
        assert_rule("guerdon", "actix-web", false, false);
        assert_rule("guerdon", "diesel", false, true);
        assert_rule("guerdon-persistence", "diesel", false, false);
    }
}
