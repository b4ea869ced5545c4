//! Alerts and dashboards use only existing metrics, and every metric is documented.

use std::collections::BTreeSet;

use anyhow::{Context, Result};

use super::{Finding, read_sources};
use crate::workspace::Workspace;

const METRIC_USERS: [&str; 2] = ["packaging/prometheus/alerts.yml", "packaging/grafana/dashboard.json"];
/// The document that describes every metric.
const REFERENCE: &str = "docs/delivery.md";
const PREFIX: &str = "guerdon_";
/// The suffixes that Prometheus adds to the name of a histogram.
const HISTOGRAM_SUFFIXES: [&str; 3] = ["_bucket", "_sum", "_count"];

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let sources = read_sources(workspace)?;
    let mut findings = Vec::new();
    for place in METRIC_USERS {
        let text = std::fs::read_to_string(workspace.root.join(place)).context(place)?;
        for name in metric_names(&text).into_iter().filter(|name| !is_measured(&sources, name)) {
            let problem = format!("uses {name}, which no code records");
            findings.push(Finding::new(place, problem, "name a metric of crates/*/src"));
        }
    }
    let reference = std::fs::read_to_string(workspace.root.join(REFERENCE)).context(REFERENCE)?;
    for name in undocumented_metrics(&sources, &reference) {
        let problem = format!("does not document {name}");
        findings.push(Finding::new(REFERENCE, problem, "add a row to the table of metrics"));
    }
    Ok(findings)
}

/// Returns the metrics that code records and the text does not contain.
fn undocumented_metrics<'a>(sources: &'a str, reference: &str) -> BTreeSet<&'a str> {
    let documented = metric_names(reference);
    let quoted = sources.split('"').filter(|part| part.starts_with(PREFIX));
    let recorded = quoted.filter(|part| metric_names(part).contains(part));
    recorded.filter(|name| !documented.contains(name)).collect()
}

/// Returns the names of metrics in a string.
fn metric_names(text: &str) -> BTreeSet<&str> {
    let ends = |character: char| !(character.is_ascii_alphanumeric() || character == '_');
    text.split(ends).filter(|word| word.starts_with(PREFIX)).collect()
}

fn is_measured(sources: &str, name: &str) -> bool {
    let whole = HISTOGRAM_SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    [name, whole].iter().any(|name| sources.contains(&format!("\"{name}\"")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_may_have_a_suffix_that_prometheus_adds() {
        let text = "sum(rate(guerdon_requests_seconds_bucket{route=\"/\"}[5m])) > guerdon_made";
        assert_eq!(
            metric_names(text).into_iter().collect::<Vec<_>>(),
            ["guerdon_made", "guerdon_requests_seconds_bucket"]
        );
        let sources = "const A: &str = \"guerdon_requests_seconds\";";
        assert!(
            is_measured(sources, "guerdon_requests_seconds_bucket") && !is_measured(sources, "guerdon_made")
        );
    }

    #[test]
    fn every_recorded_metric_must_be_documented() {
        let sources = "gauge!(\"guerdon_made\"); counter!(\"guerdon_lost\"); path(\"guerdon_data/file\")";
        let missing = undocumented_metrics(sources, "| `guerdon_made{kind}` | made |");
        assert_eq!(missing.into_iter().collect::<Vec<_>>(), ["guerdon_lost"]);
    }
}
