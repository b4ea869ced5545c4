//! Groups adjacent code blocks that show the same example in several languages.
//!
//! A group is a run of at least two adjacent blocks. Each block is in a language of examples, and no two blocks are in
//! the same language. A page shows the block in the chosen language. If a group lacks that language, the page shows all
//! of its blocks.

use std::collections::HashMap;

use pulldown_cmark::{CodeBlockKind, Event, Tag, TagEnd};

/// The languages of examples, with the names that readers see.
pub(crate) const LANGUAGES: [(&str, &str); 3] =
    [("sh", "curl"), ("python", "Python"), ("javascript", "JavaScript")];

/// A code block that belongs to a group.
pub(crate) struct GroupedBlock {
    /// The languages that show the block, separated by spaces: its own, and those that the group lacks.
    pub(crate) shown_in: String,
    pub(crate) is_first: bool,
    pub(crate) is_last: bool,
}

/// Returns the blocks that belong to groups, by the positions of their start events.
pub(crate) fn find_groups(events: &[Event<'_>]) -> HashMap<usize, GroupedBlock> {
    let mut blocks = HashMap::new();
    let mut run: Vec<(usize, &'static str)> = Vec::new();
    for (position, event) in events.iter().enumerate() {
        let Event::Start(Tag::CodeBlock(kind)) = event else { continue };
        let language = example_language(kind);
        let follows_block = position.checked_sub(1).and_then(|before| events.get(before))
            == Some(&Event::End(TagEnd::CodeBlock));
        let is_repeated = run.iter().any(|(_, known)| Some(*known) == language);
        if !follows_block || is_repeated || language.is_none() {
            add_group(&mut blocks, &std::mem::take(&mut run));
        }
        run.extend(language.map(|language| (position, language)));
    }
    add_group(&mut blocks, &run);
    blocks
}

/// Adds the blocks of a run if the run is a group.
fn add_group(blocks: &mut HashMap<usize, GroupedBlock>, run: &[(usize, &'static str)]) {
    if run.len() < 2 {
        return;
    }
    let names = LANGUAGES.iter().map(|(language, _)| *language);
    let missing: Vec<&str> =
        names.filter(|language| !run.iter().any(|(_, present)| present == language)).collect();
    for (number, (position, language)) in run.iter().enumerate() {
        let shown_in =
            std::iter::once(*language).chain(missing.iter().copied()).collect::<Vec<_>>().join(" ");
        let (is_first, is_last) = (number == 0, number + 1 == run.len());
        blocks.insert(*position, GroupedBlock { shown_in, is_first, is_last });
    }
}

/// Returns the language of a code block: the first word after the fence, or an empty string.
pub(crate) fn block_language<'a>(kind: &'a CodeBlockKind<'_>) -> &'a str {
    match kind {
        CodeBlockKind::Fenced(info) => {
            let language = info.split_whitespace().next().unwrap_or_default();
            let is_plain = language.bytes().all(|byte| byte.is_ascii_alphanumeric());
            if is_plain { language } else { "" }
        }
        CodeBlockKind::Indented => "",
    }
}

fn example_language(kind: &CodeBlockKind<'_>) -> Option<&'static str> {
    let name = block_language(kind);
    LANGUAGES.iter().find(|(language, _)| *language == name).map(|(language, _)| *language)
}

#[cfg(test)]
mod tests {
    use pulldown_cmark::Parser;

    use super::*;

    /// Checks the languages that show each grouped block, with `[` and `]` around the blocks of a group.
    fn check(languages: &[&str], expected: &[&str]) {
        let text: String = languages
            .iter()
            .map(|language| match *language {
                "text" => "Then:\n\n".to_owned(),
                language => format!("```{language}\n1\n```\n\n"),
            })
            .collect();
        let events: Vec<Event<'_>> = Parser::new(&text).collect();
        let mut blocks: Vec<_> = find_groups(&events).into_iter().collect();
        blocks.sort_by_key(|(position, _)| *position);
        let found = blocks.iter().map(|(_, block)| {
            let (open, close) = (if block.is_first { "[" } else { "" }, if block.is_last { "]" } else { "" });
            format!("{open}{}{close}", block.shown_in)
        });
        assert_eq!(found.collect::<Vec<_>>(), expected, "{languages:?}");
    }

    #[test]
    fn adjacent_blocks_in_different_languages_are_a_group() {
        check(&["sh", "python", "javascript"], &["[sh", "python", "javascript]"]);
        check(&["sh", "text", "sh status=404", "python", "javascript"], &["[sh", "python", "javascript]"]);
        let pair = ["[sh javascript", "python javascript]"];
        check(&["sh", "python", "sh", "python"], &[pair, pair].concat());
        check(&["sh", "json"], &[]);
        check(&["json", "sh", "text", "python"], &[]);
        check(&["sh", "sh"], &[]);
    }

    #[test]
    fn a_missing_language_shows_all_blocks_of_the_group() {
        check(&["python", "javascript"], &["[python sh", "javascript sh]"]);
        check(&["sh", "javascript"], &["[sh python", "javascript python]"]);
    }
}
