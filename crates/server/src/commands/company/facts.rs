//! The settings of a company in readable form, for `guerdon company show` and the console.

use guerdon_console::numbers;
use guerdon_domain::companies::Company;

/// Lists the settings of a company with their labels. None is personal data, because the console shows them.
pub(crate) fn list_company_settings(company: &Company) -> Vec<(&'static str, String)> {
    let alert = company
        .reserve_alert
        .map_or_else(|| "never".to_owned(), |threshold| format!("below {}", threshold.to_text()));
    let zero_points = if company.allow_zero_points { "allowed" } else { "not allowed" };
    let mut facts = vec![
        ("Points per dollar", numbers::format_integer(company.rate.get())),
        ("Reserve alert", alert),
        ("Recognitions of 0 points", zero_points.to_owned()),
    ];
    if let Some(at) = company.handed_over_at {
        facts.push(("Closed", format!("handed over to another cell at {at}")));
    }
    facts
}
