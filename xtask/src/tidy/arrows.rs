//! The arrows of the hexagon: adapters point at the domain, never at each other.

use anyhow::{Context, Result};
use serde_json::Value;

use super::Finding;
use crate::workspace::Workspace;

const DOMAIN: &str = "guerdon-domain";
const DOMAIN_MAY_USE: [&str; 9] =
    ["uuid", "time", "thiserror", "email_address", "url", "idna", "rust_iso3166", "x509-parser", "serde"];
const ADAPTERS: [&str; 4] =
    ["guerdon-persistence", "guerdon-http-api", "guerdon-webhook-dispatcher", "guerdon-mailer"];

/// Libraries that only some packages may name, and those packages; the ceilings of the benchmarks are a plain program that
/// the service is held against.
const OWNED: [(&str, &[&str]); 2] = [
    ("diesel", &["guerdon-persistence", "guerdon-ceilings"]),
    ("actix-web", &["guerdon-http-api", "guerdon", "guerdon-ceilings"]),
];

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in workspace.packages()? {
        let name = package.get("name").and_then(Value::as_str).context("a package has no name")?;
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
    Ok(findings)
}

fn broken_rule(package: &str, used: &str, for_tests: bool) -> Option<String> {
    if package == DOMAIN && !for_tests && !DOMAIN_MAY_USE.contains(&used) {
        return Some(format!(
            "the domain uses only {}; put the rest behind a port",
            DOMAIN_MAY_USE.join(", ")
        ));
    }
    if package == DOMAIN && used != DOMAIN && used.starts_with("guerdon") {
        return Some("the domain knows no adapter; test the two together in the server".to_owned());
    }
    if ADAPTERS.contains(&package) && package != used && ADAPTERS.contains(&used) {
        return Some("adapters never know each other; let them meet in the server, over a port".to_owned());
    }
    let (_, owners) = OWNED.iter().find(|(library, _)| *library == used)?;
    (!owners.contains(&package)).then(|| format!("only {} may use it", owners.join(" and ")))
}

#[cfg(test)]
mod tests {
    use super::broken_rule;

    #[test]
    fn arrows_point_inwards() {
        let check = |package: &str, used: &str, for_tests: bool, broken: bool| {
            assert_eq!(broken_rule(package, used, for_tests).is_some(), broken, "{package} -> {used}");
        };
        check("guerdon-domain", "uuid", false, false);
        check("guerdon-domain", "proptest", true, false);
        check("guerdon-domain", "serde_json", false, true);
        check("guerdon-domain", "guerdon-persistence", true, true);
        check("guerdon-http-api", "guerdon-domain", false, false);
        check("guerdon-http-api", "guerdon-persistence", false, true);
        check("guerdon-http-api", "actix-web", false, false);
        check("guerdon-webhook-dispatcher", "actix-web", false, true);
        check("guerdon", "actix-web", false, false);
        check("guerdon", "diesel", false, true);
        check("guerdon-persistence", "diesel", false, false);
    }
}
