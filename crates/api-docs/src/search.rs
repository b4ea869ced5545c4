//! The search index: every section of every page, and words that other services use for the same things. The script
//! searches it.

use std::collections::BTreeMap;

use pulldown_cmark::HeadingLevel;
use serde_json::{Value, json};

use crate::page::Page;

/// Words in the singular that a reader may search for, each with the words of these pages.
const SYNONYMS: [(&str, &[&str]); 33] = [
    ("account", &["wallet"]),
    ("auth", &["credentials"]),
    ("authentication", &["credentials"]),
    ("balance", &["wallet"]),
    ("budget", &["reserve"]),
    ("callback", &["webhook"]),
    ("cancel", &["refund"]),
    ("client", &["provider"]),
    ("credit", &["deposit"]),
    ("currency", &["rate", "points"]),
    ("customer", &["company"]),
    ("dedupe", &["idempotency"]),
    ("duplicate", &["idempotency"]),
    ("employee", &["user"]),
    ("fund", &["reserve"]),
    ("gdpr", &["erase", "delete"]),
    ("gift", &["recognition"]),
    ("hmac", &["signature"]),
    ("kudos", &["recognition"]),
    ("login", &["saml"]),
    ("member", &["user"]),
    ("merchant", &["provider"]),
    ("pagination", &["paging"]),
    ("people", &["user"]),
    ("person", &["user"]),
    ("poll", &["wait"]),
    ("polling", &["wait"]),
    ("reward", &["recognition", "redemption"]),
    ("sdk", &["client"]),
    ("sso", &["saml"]),
    ("tenant", &["provider"]),
    ("throttling", &["rate"]),
    ("topup", &["deposit"]),
];

/// Returns the index as a JSON object: `sections` is an array of `[url, title of the page, title of the section,
/// text]`, and `synonyms` contains a list of words for each word.
pub(crate) fn build_index(pages: &[Page]) -> String {
    let sections: Vec<Value> = pages.iter().flat_map(list_sections).collect();
    let synonyms: BTreeMap<&str, &[&str]> = SYNONYMS.into_iter().collect();
    json!({"sections": sections, "synonyms": synonyms}).to_string()
}

fn list_sections(page: &Page) -> Vec<Value> {
    let mut main_title = "";
    let entries = page.sections.iter().map(|section| {
        if section.level <= HeadingLevel::H2 {
            main_title = &section.title;
        }
        let title = match section.level {
            HeadingLevel::H1 | HeadingLevel::H2 => section.title.clone(),
            _ => format!("{main_title}: {}", section.title),
        };
        let url =
            if section.id.is_empty() { page.path.clone() } else { format!("{}#{}", page.path, section.id) };
        let text = section.text.split_whitespace().collect::<Vec<_>>().join(" ");
        json!([url, page.title, title, text])
    });
    entries.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Group;

    #[test]
    fn a_section_is_found_under_the_title_that_it_belongs_to() {
        let text = "# Users\n\nPeople.\n\n## Create a user {#createUser}\n\nWith\nwallets.\n\n### Response\n\n```json\n{}\n```\n";
        let page = Page::from_markdown(Group::Reference, "/docs/users".to_owned(), "Users", "", text);
        let expected = json!([
            ["/docs/users#users", "Users", "Users", "People."],
            ["/docs/users#createUser", "Users", "Create a user", "With wallets."],
            ["/docs/users#response", "Users", "Create a user: Response", "{}"],
        ]);
        let index: Value = serde_json::from_str(&build_index(&[page])).unwrap();
        assert_eq!(index["sections"], expected);
        assert_eq!(index["synonyms"]["kudos"], json!(["recognition"]));
    }
}
