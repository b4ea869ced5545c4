//! Renders Markdown, from which both forms of a page come: HTML, and Markdown with links to the Markdown forms of other
//! pages.

use std::collections::HashSet;

use maud::{Markup, PreEscaped};
use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html as markdown_html,
};

use crate::guides::resolve_link;

/// The languages of examples. Adjacent code blocks in these languages that begin with curl are one example, of which the
/// page shows the chosen language.
pub(crate) const LANGUAGES: [(&str, &str); 3] =
    [("curl", "curl"), ("python", "Python"), ("javascript", "JavaScript")];

/// A rendered text.
pub(crate) struct Rendered {
    pub(crate) html: Markup,
    /// The parts of the text, in its order, each from one heading to the next.
    pub(crate) sections: Vec<Section>,
    /// Whether there is an example in several languages.
    pub(crate) has_examples: bool,
}

/// A heading with the text below it, up to the next heading.
pub(crate) struct Section {
    pub(crate) level: HeadingLevel,
    /// Empty for text before the first heading.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) text: String,
}

/// Renders Markdown as HTML. Headings have anchors and links to themselves, tables scroll, and links to files lead to
/// pages.
pub(crate) fn render_markdown(text: &str) -> Rendered {
    let options = Options::ENABLE_TABLES | Options::ENABLE_HEADING_ATTRIBUTES;
    let mut renderer = Renderer::default();
    let events: Vec<Event<'_>> = Parser::new_ext(text, options).collect();
    for (position, event) in events.iter().enumerate() {
        let following = events.get(position + 1..).unwrap_or_default();
        renderer.add_event(event, following);
    }
    let mut html = String::new();
    markdown_html::push_html(&mut html, renderer.output.into_iter());
    Rendered { html: PreEscaped(html), sections: renderer.sections, has_examples: renderer.has_examples }
}

#[derive(Default)]
struct Renderer<'a> {
    output: Vec<Event<'a>>,
    sections: Vec<Section>,
    used_ids: HashSet<String>,
    /// The position in `output` of the heading that is being read, and the id that the text gives it.
    heading: Option<(usize, Option<String>)>,
    has_examples: bool,
    is_in_example: bool,
    is_example_block: bool,
}

impl<'a> Renderer<'a> {
    fn add_event(&mut self, event: &Event<'a>, following: &[Event<'a>]) {
        self.collect_text(event);
        match event {
            Event::Start(Tag::Heading { id, .. }) => {
                self.heading = Some((self.output.len(), id.as_ref().map(ToString::to_string)));
                self.output.push(event.clone());
            }
            Event::End(TagEnd::Heading(level)) => self.end_heading(*level),
            Event::Start(Tag::Table(_)) => {
                self.push_html("<div class=\"table\" tabindex=\"0\">".to_owned());
                self.output.push(event.clone());
            }
            Event::End(TagEnd::Table) => {
                self.output.push(event.clone());
                self.push_html("</div>\n".to_owned());
            }
            Event::Start(Tag::CodeBlock(kind)) => self.start_code_block(kind, following),
            Event::End(TagEnd::CodeBlock) => self.end_code_block(following),
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                let dest_url = resolve_link(dest_url).map_or_else(|| dest_url.clone(), CowStr::from);
                let link =
                    Tag::Link { link_type: *link_type, dest_url, title: title.clone(), id: id.clone() };
                self.output.push(Event::Start(link));
            }
            other => self.output.push(other.clone()),
        }
    }

    fn push_html(&mut self, html: String) {
        self.output.push(Event::Html(html.into()));
    }

    /// Adds text below a heading to the heading's section.
    fn collect_text(&mut self, event: &Event<'_>) {
        if self.heading.is_some() {
            return;
        }
        let text = match event {
            Event::Text(text) | Event::Code(text) => text.as_ref(),
            Event::SoftBreak
            | Event::HardBreak
            | Event::End(TagEnd::Paragraph | TagEnd::TableCell | TagEnd::Item) => " ",
            _ => return,
        };
        if self.sections.is_empty() {
            let level = HeadingLevel::H1;
            self.sections.push(Section {
                level,
                id: String::new(),
                title: String::new(),
                text: String::new(),
            });
        }
        if let Some(section) = self.sections.last_mut() {
            section.text.push_str(text);
        }
    }

    /// Replaces the heading's opening tag by one with an id, and appends a link to it.
    fn end_heading(&mut self, level: HeadingLevel) {
        let Some((start, given_id)) = self.heading.take() else { return };
        let title = plain_text(self.output.get(start + 1..).unwrap_or_default());
        let id = self.unique_id(given_id.unwrap_or_else(|| heading_anchor(&title)));
        if let Some(start_event) = self.output.get_mut(start) {
            *start_event = Event::Html(format!("<{level} id=\"{id}\">").into());
        }
        let link = format!(
            " <a class=\"anchor\" href=\"#{id}\" aria-label=\"Link to this section\">#</a></{level}>\n"
        );
        self.push_html(if level == HeadingLevel::H1 { format!("</{level}>\n") } else { link });
        self.sections.push(Section { level, id, title, text: String::new() });
    }

    fn unique_id(&mut self, id: String) -> String {
        let mut unique = id.clone();
        let mut number = 0;
        while !self.used_ids.insert(unique.clone()) {
            number += 1;
            unique = format!("{id}-{number}");
        }
        unique
    }

    /// Opens a code block, which can be focused so that the keyboard can scroll it.
    fn start_code_block(&mut self, kind: &CodeBlockKind<'_>, following: &[Event<'_>]) {
        let example_language = example_language(kind);
        self.is_example_block = self.is_in_example && example_language.is_some();
        if !self.is_in_example && example_language == Some("curl") && next_block_is_example(following) {
            self.push_html("<div class=\"example\">".to_owned());
            self.is_in_example = true;
            self.is_example_block = true;
            self.has_examples = true;
        }
        let attribute = match example_language.filter(|_| self.is_example_block) {
            Some(language) => format!(" data-language=\"{language}\""),
            None => String::new(),
        };
        let class = block_language(kind);
        self.push_html(format!(
            "<div class=\"code\"{attribute}><pre tabindex=\"0\"><code class=\"{class}\">"
        ));
    }

    fn end_code_block(&mut self, following: &[Event<'_>]) {
        self.push_html("</code></pre></div>\n".to_owned());
        let continues =
            matches!(following.first(), Some(Event::Start(Tag::CodeBlock(kind))) if is_translation(kind));
        if self.is_in_example && !continues {
            self.push_html("</div>\n".to_owned());
            self.is_in_example = false;
        }
    }
}

fn block_language<'a>(kind: &'a CodeBlockKind<'_>) -> &'a str {
    match kind {
        CodeBlockKind::Fenced(language) if language.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            language
        }
        _ => "",
    }
}

/// Returns the example language of a block. A shell block is one if it is followed by other languages.
fn example_language(kind: &CodeBlockKind<'_>) -> Option<&'static str> {
    let name = match block_language(kind) {
        "sh" => "curl",
        other => other,
    };
    LANGUAGES.iter().find(|(language, _)| *language == name).map(|(language, _)| *language)
}

/// Whether a block continues an example that begins with curl.
fn is_translation(kind: &CodeBlockKind<'_>) -> bool {
    example_language(kind).is_some_and(|language| language != "curl")
}

/// Whether the block after the current one continues its example. `following` begins inside the current block.
fn next_block_is_example(following: &[Event<'_>]) -> bool {
    let end = following.iter().position(|event| matches!(event, Event::End(TagEnd::CodeBlock)));
    let next = end.and_then(|end| following.get(end + 1));
    matches!(next, Some(Event::Start(Tag::CodeBlock(kind))) if is_translation(kind))
}

fn plain_text(events: &[Event<'_>]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
        _ => None,
    });
    texts.collect()
}

/// Returns the anchor of a heading, as common Markdown hosts create it.
fn heading_anchor(title: &str) -> String {
    let lowercase = title.to_lowercase();
    let kept = lowercase
        .chars()
        .filter(|character| character.is_alphanumeric() || matches!(character, ' ' | '-' | '_'));
    kept.map(|character| if character == ' ' { '-' } else { character }).collect()
}

/// Returns the Markdown form of a page: without ids in headings, and with links to the Markdown forms of pages.
pub(crate) fn to_markdown_form(text: &str) -> String {
    let mut form = String::with_capacity(text.len());
    for line in text.lines() {
        let is_heading = line.starts_with('#');
        let line = match line.rsplit_once(" {#") {
            Some((heading, _id)) if is_heading => heading,
            _ => line,
        };
        form.push_str(&link_markdown_forms(line));
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
    fn headings_can_be_linked_to_and_tables_scroll() {
        let rendered = render_markdown(
            "## Is it `genuine`?\n\n| a |\n|---|\n| b |\n\n## Same\n\n## Same\n\n## X {#given}\n",
        );
        let page = rendered.html.into_string();
        assert!(page.contains("<h2 id=\"is-it-genuine\">"), "{page}");
        assert!(page.contains("<a class=\"anchor\" href=\"#is-it-genuine\""), "{page}");
        assert!(page.contains("<div class=\"table\" tabindex=\"0\"><table>"), "{page}");
        let ids: Vec<&str> = rendered.sections.iter().map(|section| section.id.as_str()).collect();
        assert_eq!(ids, ["is-it-genuine", "same", "same-1", "given"]);
        assert_eq!(rendered.sections.first().unwrap().text.trim(), "a b");
    }

    #[test]
    fn adjacent_blocks_are_an_example_in_several_languages() {
        let rendered =
            render_markdown("```sh\nls\n```\n\n```python\nprint()\n```\n\nThen:\n\n```sh\npwd\n```\n");
        let page = rendered.html.into_string();
        assert!(rendered.has_examples);
        assert!(
            page.contains("<div class=\"example\"><div class=\"code\" data-language=\"curl\">"),
            "{page}"
        );
        assert!(
            page.contains("data-language=\"python\"><pre tabindex=\"0\"><code class=\"python\">print()"),
            "{page}"
        );
        assert!(page.contains("<div class=\"code\"><pre tabindex=\"0\"><code class=\"sh\">pwd"), "{page}");
        assert_eq!(page.matches("<div").count(), page.matches("</div>").count(), "{page}");
        for text in ["```python\nprint()\n```\n", "```python\nprint()\n```\n\n```javascript\n1;\n```\n"] {
            assert!(!render_markdown(text).has_examples, "without curl, all blocks are always shown");
        }
    }

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
        check("## Send {#send}", "## Send");
    }
}
