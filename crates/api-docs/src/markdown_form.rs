//! The Markdown form of a page, which programs read.

use crate::guides::resolve_link;

/// Returns the Markdown form of a page. Links lead to the Markdown forms of pages. Main headings that have an id are
/// preceded by an anchor, because other pages link to them; other headings lose their ids.
pub(crate) fn to_markdown_form(text: &str) -> String {
    let mut form = String::with_capacity(text.len());
    for line in text.lines() {
        let heading = line.strip_suffix('}').and_then(|line| line.rsplit_once(" {#"));
        match heading.filter(|_| line.starts_with('#')) {
            Some((heading, id)) if heading.starts_with("## ") => {
                form.push_str(&format!("<a id=\"{id}\"></a>\n\n{heading}"));
            }
            Some((heading, _id)) => form.push_str(heading),
            None => form.push_str(&link_markdown_forms(line)),
        }
        form.push('\n');
    }
    form
}

fn link_markdown_forms(line: &str) -> String {
    let mut parts = line.split("](");
    let mut linked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let target = part.split_once(')').map(|(link, rest)| (markdown_link(link), rest));
        match target {
            Some((Some(link), rest)) => linked.push_str(&format!("]({link}){rest}")),
            _ => linked.push_str(&format!("]({part}")),
        }
    }
    linked
}

/// Returns the Markdown form that a link leads to; `None` if it does not lead to a page.
fn markdown_link(link: &str) -> Option<String> {
    let link = resolve_link(link).unwrap_or_else(|| link.to_owned());
    let (page, anchor) = link.split_once('#').map_or((&*link, None), |(page, anchor)| (page, Some(anchor)));
    if !page.starts_with("/docs") {
        return None;
    }
    let page = if page.starts_with("/docs/files/") || page.ends_with(".md") {
        page.to_owned()
    } else {
        format!("{page}.md")
    };
    Some(anchor.map_or_else(|| page.clone(), |anchor| format!("{page}#{anchor}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_markdown_form_links_to_markdown_forms() {
        let check = |text: &str, expected: &str| assert_eq!(to_markdown_form(text), format!("{expected}\n"));
        check(
            "See [money](money.md#who-pays), [x](https://x.example/).",
            "See [money](/docs/guides/money.md#who-pays), [x](https://x.example/).",
        );
        check(
            "[a](#here) [b](/docs/reference/users) [c](../clients/client.py)",
            "[a](#here) [b](/docs/reference/users.md) [c](/docs/files/client.py)",
        );
        check("## Send {#send}", "<a id=\"send\"></a>\n\n## Send");
        check("### Errors {#send-errors}", "### Errors");
    }
}
