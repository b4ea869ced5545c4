//! Renders Markdown as HTML. Each page is written in Markdown and served in two forms: as HTML, and as Markdown with
//! links to the Markdown forms of other pages.

use std::collections::{HashMap, HashSet};

use maud::{Markup, PreEscaped};
use pulldown_cmark::{
    CodeBlockKind, CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html as markdown_html,
};

use crate::example_groups::{GroupedBlock, block_language, find_groups};
use crate::guides::resolve_link;

/// A rendered text.
pub(crate) struct Rendered {
    pub(crate) html: Markup,
    /// The sections of the text in order. Each extends from one heading to the next.
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
    let events: Vec<Event<'_>> = Parser::new_ext(text, options).collect();
    let groups = find_groups(&events);
    let has_examples = !groups.is_empty();
    let mut renderer = Renderer { groups, ..Renderer::default() };
    for (position, event) in events.iter().enumerate() {
        renderer.add_event(event, position);
    }
    let mut html = String::new();
    markdown_html::push_html(&mut html, renderer.output.into_iter());
    Rendered { html: PreEscaped(html), sections: renderer.sections, has_examples }
}

#[derive(Default)]
struct Renderer<'a> {
    output: Vec<Event<'a>>,
    sections: Vec<Section>,
    used_ids: HashSet<String>,
    /// The heading that is being read: its position in `output`, and the id that the text gives to it.
    heading: Option<(usize, Option<String>)>,
    /// The code blocks that are examples in several languages, by their positions.
    groups: HashMap<usize, GroupedBlock>,
    /// Whether the code block that is being read is the last of its group.
    ends_group: bool,
}

impl<'a> Renderer<'a> {
    fn add_event(&mut self, event: &Event<'a>, position: usize) {
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
            Event::Start(Tag::CodeBlock(kind)) => self.start_code_block(kind, position),
            Event::End(TagEnd::CodeBlock) => self.end_code_block(),
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

    /// Replaces the opening tag of a heading with one that has an id, and appends a link to the heading.
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
    fn start_code_block(&mut self, kind: &CodeBlockKind<'_>, position: usize) {
        let block = self.groups.get(&position);
        let open_group =
            if block.is_some_and(|block| block.is_first) { "<div class=\"example\">" } else { "" };
        let attribute =
            block.map(|block| format!(" data-languages=\"{}\"", block.shown_in)).unwrap_or_default();
        self.ends_group = block.is_some_and(|block| block.is_last);
        self.push_html(format!(
            "{open_group}<div class=\"code\"{attribute}><pre tabindex=\"0\"><code class=\"{}\">",
            block_language(kind)
        ));
    }

    fn end_code_block(&mut self) {
        self.push_html("</code></pre></div>\n".to_owned());
        if std::mem::take(&mut self.ends_group) {
            self.push_html("</div>\n".to_owned());
        }
    }
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
    fn the_blocks_of_an_example_say_which_languages_show_them() {
        let rendered = render_markdown(
            "```sh\nls\n```\n\n```python\nprint()\n```\n\nThen:\n\n```sh status=404\npwd\n```\n",
        );
        let page = rendered.html.into_string();
        assert!(rendered.has_examples);
        for part in [
            "<div class=\"example\"><div class=\"code\" data-languages=\"sh javascript\">",
            "data-languages=\"python javascript\"><pre tabindex=\"0\"><code class=\"python\">print()",
            "<div class=\"code\"><pre tabindex=\"0\"><code class=\"sh\">pwd",
        ] {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        assert_eq!(page.matches("<div").count(), page.matches("</div>").count(), "{page}");
        assert!(!render_markdown("```python\nprint()\n```\n").has_examples);
    }
}
