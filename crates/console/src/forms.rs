//! Forms that filter a table. They use GET, so that the selection is part of the URL.

use maud::{Markup, html};

use crate::query::Query;

/// Renders a form around its fields. Other parameters of the query are preserved, except the page or cursor, which
/// belong to the previous selection.
pub(crate) fn filter(path: &str, query: &Query, own: &[&str], fields: &Markup) -> Markup {
    let kept = query.without(own).without(&["page", "before", "after"]);
    let is_narrowed = own.iter().any(|name| query.get(name).is_some());
    html! {
        form.filter method="get" action=(path) role="search" {
            @for (name, value) in kept.pairs() {
                input type="hidden" name=(name) value=(value);
            }
            (fields)
            button type="submit" { "Show" }
            @if is_narrowed { a href=(kept.link(path)) { "Show all" } }
        }
    }
}

/// Renders a text field.
pub(crate) fn text(label: &str, name: &str, query: &Query) -> Markup {
    html! {
        label { span { (label) } input type="search" name=(name) value=(query.get(name).unwrap_or_default()); }
    }
}

/// Renders a select field: an option for no selection, then `all` as values and labels.
pub(crate) fn choice(label: &str, name: &str, all: &[(&str, &str)], query: &Query) -> Markup {
    let chosen = query.get(name);
    // A requested value stays visible even if it is unknown.
    let unknown = chosen.filter(|chosen| !all.iter().any(|(value, _)| value == chosen));
    html! {
        label {
            span { (label) }
            select name=(name) {
                option value="" { "all" }
                @for (value, text) in all {
                    option value=(value) selected[chosen == Some(*value)] { (text) }
                }
                @if let Some(value) = unknown { option value=(value) selected { (value) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use maud::html;

    use super::*;

    #[test]
    fn a_form_keeps_the_order_and_forgets_the_page() {
        let query = Query::parse("q=%22%3E&sort=name&page=3&before=x");
        let form = filter("/companies", &query, &["q"], &text("Name", "q", &query)).into_string();
        assert!(form.contains("name=\"sort\" value=\"name\""), "{form}");
        assert!(!form.contains("name=\"page\"") && !form.contains("name=\"before\""), "{form}");
        assert!(form.contains("value=\"&quot;&gt;\"") && form.contains("Show all"), "{form}");
    }

    #[test]
    fn what_is_chosen_is_seen() {
        let field = |query| choice("State", "state", &[("a", "A")], &Query::parse(query)).into_string();
        assert!(field("state=a").contains("<option value=\"a\" selected>A"));
        assert!(field("state=b").contains("<option value=\"b\" selected>b"));
        assert!(!field("").contains("selected"));
        let form = filter("/x", &Query::default(), &["q"], &html! {}).into_string();
        assert!(!form.contains("Show all"));
    }
}
