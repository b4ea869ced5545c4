//! `cargo xtask language`: how plainly comments, documents and names are written, as numbers that reviews can compare.
//!
//! Counts, for each crate and for the documents, the lines of prose with idioms that the style of the project avoids,
//! the share of function names that are a single word, and the share of closures whose argument is called `it`.
//! `cargo xtask tidy` compares the idioms with the recorded numbers, which may only fall.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path};

use anyhow::{Context as _, Result};

use crate::workspace::Workspace;

/// The recorded number of lines with idioms, as lines of `area,count`.
const RECORD: &str = "xtask/language.csv";

/// Words and phrases for which the field has plainer ones. A phrase matches whole words; case is ignored.
const IDIOMS: &[&str] = &[
    "whoever",
    "nobody",
    "somebody",
    "anybody",
    "everybody",
    "nobody's",
    "so many",
    "so long as",
    "so much",
    "told",
    "tells",
    "anew",
    "beside",
    "for ever",
    "let go",
    "lets go",
    "go on",
    "goes on",
    "what is",
    "what was",
    "what it",
    "what they",
    "is none",
    "by itself",
    "of its own",
    "mend",
    "mends",
    "mended",
    "reckon",
    "reckons",
    "reckoned",
    "all the same",
    "the one that",
    "the one who",
];

/// What was counted in one area.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LanguageCounts {
    /// Lines of comments, or of documents outside code blocks.
    lines: usize,
    pub(crate) idioms: usize,
    functions: usize,
    one_word_functions: usize,
    closures: usize,
    closures_over_it: usize,
}

/// Prints the numbers, or with `--record` writes the number of idioms of each area to the record.
#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// Record the present number of lines with idioms
    #[arg(long)]
    record: bool,
    /// Print each line with an idiom
    #[arg(long)]
    lines: bool,
}

pub(crate) fn run(workspace: &Workspace, arguments: &Arguments) -> Result<()> {
    let areas = count_areas(workspace, arguments.lines)?;
    if arguments.record {
        let rows: String = areas.iter().map(|(area, counts)| format!("{area},{}\n", counts.idioms)).collect();
        return fs::write(workspace.root.join(RECORD), rows).context("writing the record");
    }
    println!(
        "{:22} {:>8} {:>16} {:>24} {:>22}",
        "area", "lines", "with idioms", "one-word function names", "closures over `it`"
    );
    let mut all = LanguageCounts::default();
    for (area, counts) in &areas {
        print_area(area, counts);
        all.add(counts);
    }
    print_area("all", &all);
    Ok(())
}

fn print_area(area: &str, counts: &LanguageCounts) {
    let share = |part: usize, whole: usize| {
        let percent = (part * 1_000).checked_div(whole).unwrap_or(0);
        format!("{part} ({}.{} %)", percent / 10, percent % 10)
    };
    println!(
        "{area:22} {:>8} {:>16} {:>24} {:>22}",
        counts.lines,
        share(counts.idioms, counts.lines),
        share(counts.one_word_functions, counts.functions),
        share(counts.closures_over_it, counts.closures)
    );
}

/// The recorded number of lines with idioms in each area.
pub(crate) fn read_record(workspace: &Workspace) -> Result<BTreeMap<String, usize>> {
    let text =
        fs::read_to_string(workspace.root.join(RECORD)).with_context(|| format!("reading {RECORD}"))?;
    let row = |line: &str| -> Result<(String, usize)> {
        let (area, count) = line.split_once(',').context("a row of the record has no comma")?;
        Ok((area.to_owned(), count.parse()?))
    };
    text.lines().map(row).collect()
}

/// Counts all tracked sources and documents by area.
pub(crate) fn count_areas(
    workspace: &Workspace,
    print_lines: bool,
) -> Result<BTreeMap<String, LanguageCounts>> {
    let mut areas: BTreeMap<String, LanguageCounts> = BTreeMap::new();
    for file in workspace.list_files()? {
        let extension = file.extension().and_then(std::ffi::OsStr::to_str);
        if !matches!(extension, Some("rs" | "md")) || file.ends_with("xtask/src/language.rs") {
            continue;
        }
        let text = fs::read_to_string(workspace.root.join(&file)).unwrap_or_default();
        let area = areas.entry(area_of(&file)).or_default();
        let prose = if extension == Some("rs") { comment_lines(&text) } else { prose_lines(&text) };
        for (number, line) in prose {
            area.lines += 1;
            if has_idiom(line) {
                area.idioms += 1;
                if print_lines {
                    println!("{}:{number}: {}", file.display(), line.trim());
                }
            }
        }
        if extension == Some("rs") {
            area.add_names(&text);
        }
    }
    Ok(areas)
}

/// `crates/domain/src/lib.rs` belongs to `domain`, documents outside the crates to `docs`.
fn area_of(file: &Path) -> String {
    let parts: Vec<&str> = file
        .components()
        .filter_map(|part| if let Component::Normal(name) = part { name.to_str() } else { None })
        .collect();
    match parts.as_slice() {
        ["crates", name, "tests", ..] => format!("{name} (tests)"),
        ["crates", name, ..] => (*name).to_owned(),
        ["xtask", ..] => "xtask".to_owned(),
        _ => "docs".to_owned(),
    }
}

/// The text of comments, with line numbers from 1.
fn comment_lines(text: &str) -> Vec<(usize, &str)> {
    let lines = (1..).zip(text.lines()).filter_map(|(number, line)| {
        let line = line.trim_start();
        let comment = line.strip_prefix("//").or_else(|| line.split_once(" // ").map(|(_, comment)| comment));
        comment.map(|comment| (number, comment.trim_start_matches(['/', '!'])))
    });
    lines.collect()
}

/// Lines of Markdown outside code blocks that are not empty, with line numbers from 1.
fn prose_lines(text: &str) -> Vec<(usize, &str)> {
    let mut is_code = false;
    let lines = (1..).zip(text.lines()).filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.trim().is_empty()
    });
    lines.collect()
}

fn has_idiom(line: &str) -> bool {
    let words: String = line
        .chars()
        .map(|c| if c.is_alphanumeric() || c == '\'' { c.to_ascii_lowercase() } else { ' ' })
        .collect();
    let words = format!(" {} ", words.split_whitespace().collect::<Vec<_>>().join(" "));
    IDIOMS.iter().any(|idiom| words.contains(&format!(" {idiom} ")))
}

impl LanguageCounts {
    fn add(&mut self, other: &Self) {
        self.lines += other.lines;
        self.idioms += other.idioms;
        self.functions += other.functions;
        self.one_word_functions += other.one_word_functions;
        self.closures += other.closures;
        self.closures_over_it += other.closures_over_it;
    }

    /// Counts functions outside tests, and closures with one plain argument.
    fn add_names(&mut self, source: &str) {
        let mut is_test = false;
        for line in source.lines().map(str::trim_start).filter(|line| !line.starts_with("//")) {
            let is_attribute = line.starts_with("#[");
            is_test |= line.starts_with("#[test]");
            if let Some(name) = function_name(line).filter(|_| !is_test) {
                self.functions += 1;
                self.one_word_functions += usize::from(!name.contains('_'));
            }
            is_test &= is_attribute;
            for argument in line.split('|').skip(1).step_by(2) {
                if !argument.is_empty() && argument.chars().all(|c| c.is_alphanumeric() || c == '_') {
                    self.closures += 1;
                    self.closures_over_it += usize::from(argument == "it");
                }
            }
        }
    }
}

/// The name of the function that a line defines.
fn function_name(line: &str) -> Option<&str> {
    let (before, after) = line.split_once("fn ")?;
    let is_definition = before.split_whitespace().all(|word| {
        word.starts_with("pub")
            || matches!(word, "const" | "async" | "unsafe" | "extern" | "crate)" | "super)")
    });
    let name = after.split(['(', '<']).next()?;
    (is_definition && !name.is_empty() && after.contains(['(', '<'])).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idioms_are_whole_words_of_prose() {
        for line in ["Whoever asks", "it is told.", "begun anew", "What is due"] {
            assert!(has_idiom(line), "{line}");
        }
        for line in ["the besides", "untold stories", "whatever is due", "the batch"] {
            assert!(!has_idiom(line), "{line}");
        }
        let source = "//! One.\nlet x = 1; // two\n/// Three.\nlet y = \"// no\";\n";
        let found: Vec<_> =
            comment_lines(source).into_iter().map(|(number, comment)| (number, comment.trim())).collect();
        assert_eq!(found, [(1, "One."), (2, "two"), (3, "Three.")]);
        let found = prose_lines("# A\n\n```\ncode\n```\nB\n");
        assert_eq!(found, [(1, "# A"), (6, "B")]);
    }

    #[test]
    fn names_are_counted_outside_tests() {
        let mut counts = LanguageCounts::default();
        counts.add_names("pub(crate) fn run() {}\nfn load_rows<T>() {}\n#[test]\nfn works() {}\nlet a = b.map(|it| it + 1).map(|row| row);\n// fn no() {}\n");
        assert_eq!((counts.functions, counts.one_word_functions), (2, 1));
        assert_eq!((counts.closures, counts.closures_over_it), (2, 1));
    }
}
