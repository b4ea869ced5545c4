//! Forms that filter a table. They use GET, so that the selection is part of the URL.

use maud::{Markup, html};

use crate::query::Query;

/// Renders a form around its fields. Other parameters of the query are preserved, except the page or cursor, which
/// belong to the previous selection.
pub(crate) fn filter_form(path: &str, query: &Query, own_names: &[&str], fields: &Markup) -> Markup {
    let other_parameters =
        query.without_parameters(own_names).without_parameters(&["page", "before", "after"]);
    let is_filtered = own_names.iter().any(|name| query.get(name).is_some());
    html! {
        form.filter method="get" action=(path) role="search" aria-label="Filter" {
            @for (name, value) in other_parameters.pairs() {
                input type="hidden" name=(name) value=(value);
            }
            (fields)
            button type="submit" { "Show" }
            @if is_filtered { a href=(other_parameters.to_link(path)) { "Show all" } }
        }
    }
}

/// Renders a text field.
pub(crate) fn text_field(label: &str, name: &str, query: &Query) -> Markup {
    html! {
        label { span { (label) } input type="search" name=(name) value=(query.get(name).unwrap_or_default()); }
    }
}

/// Renders a checkbox, which is checked if the parameter has this value.
pub(crate) fn checkbox(label: &str, name: &str, value: &str, query: &Query) -> Markup {
    html! {
        label.check {
            input type="checkbox" name=(name) value=(value) checked[query.get(name) == Some(value)];
            span { (label) }
        }
    }
}

/// Renders a select field: an option for no selection, then `all` as values and labels.
pub(crate) fn select_field(label: &str, name: &str, all: &[(&str, &str)], query: &Query) -> Markup {
    let selected_value = query.get(name);
    // A requested value stays visible even if it is unknown.
    let unknown =
        selected_value.filter(|selected_value| !all.iter().any(|(value, _)| value == selected_value));
    html! {
        label {
            span { (label) }
            select name=(name) {
                option value="" { "all" }
                @for (value, text) in all {
                    option value=(value) selected[selected_value == Some(*value)] { (text) }
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
    fn form_keeps_the_sort_order_and_drops_the_page() {
        let query = Query::parse("q=%22%3E&sort=name&page=3&before=x");
        let form = filter_form("/companies", &query, &["q"], &text_field("Name", "q", &query)).into_string();
        assert!(form.contains("name=\"sort\" value=\"name\""), "{form}");
        assert!(!form.contains("name=\"page\"") && !form.contains("name=\"before\""), "{form}");
        assert!(form.contains("value=\"&quot;&gt;\"") && form.contains("Show all"), "{form}");
    }

    #[test]
    fn selected_option_is_marked() {
        let field = |query| select_field("State", "state", &[("a", "A")], &Query::parse(query)).into_string();
        assert!(field("state=a").contains("<option value=\"a\" selected>A"));
        assert!(field("state=b").contains("<option value=\"b\" selected>b"));
        assert!(!field("").contains("selected"));
        let form = filter_form("/x", &Query::default(), &["q"], &html! {}).into_string();
        assert!(!form.contains("Show all"));
    }
}
