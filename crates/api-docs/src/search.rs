//! The search index: every section of every page, for the script.

use pulldown_cmark::HeadingLevel;
use serde_json::{Value, json};

use crate::page::Page;

/// Returns the index as a JSON array of `[url, title of the page, title of the section, text]`.
pub(crate) fn build_index(pages: &[Page]) -> String {
    Value::Array(pages.iter().flat_map(list_sections).collect()).to_string()
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
        assert_eq!(build_index(&[page]), expected.to_string());
    }
}
