//! The pages before they are put into the layout.

use maud::Markup;
use pulldown_cmark::HeadingLevel;

use crate::markdown::{Section, render_markdown};
use crate::markdown_form::to_markdown_form;

/// A part of the contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Group {
    Guides,
    Reference,
    EventTypes,
}

impl Group {
    pub(crate) const ALL: [Self; 3] = [Self::Guides, Self::Reference, Self::EventTypes];

    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Guides => "Guides",
            Self::Reference => "Reference",
            Self::EventTypes => "Event types",
        }
    }
}

/// A page that the contents list.
pub(crate) struct Page {
    pub(crate) path: String,
    pub(crate) title: String,
    /// One line.
    pub(crate) summary: String,
    pub(crate) group: Group,
    pub(crate) html: Markup,
    pub(crate) sections: Vec<Section>,
    pub(crate) has_examples: bool,
    /// The form that is served at the path with `.md`.
    pub(crate) markdown: String,
}

impl Page {
    pub(crate) fn from_markdown(group: Group, path: String, title: &str, summary: &str, text: &str) -> Self {
        let rendered = render_markdown(text);
        Self {
            path,
            title: title.to_owned(),
            summary: summary.to_owned(),
            group,
            html: rendered.html,
            sections: rendered.sections,
            has_examples: rendered.has_examples,
            markdown: to_markdown_form(text),
        }
    }

    /// The sections that the contents list below this page while it is open.
    pub(crate) fn main_sections(&self) -> impl Iterator<Item = &Section> {
        self.sections.iter().filter(|section| section.level == HeadingLevel::H2)
    }
}
