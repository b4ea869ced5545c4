//! No import cycles between the files of a crate.
//!
//! An edge goes from a file to each other file of its crate from which a `use`, or a path that begins with `crate`,
//! takes a name. Re-exports are followed to the module that defines the name. Imports between a module and the
//! modules inside it do not count. `folders` checks the same for folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Result;

use super::Finding;
use crate::workspace::Workspace;

/// The path of a module from the root of its crate.
pub(super) type Module = Vec<String>;

/// The modules of a crate and their imports.
#[derive(Default)]
struct Crate {
    modules: BTreeMap<Module, Uses>,
}

/// The paths of a module's `use` lines, whole and split at `::`.
#[derive(Default)]
struct Uses {
    own: Vec<Vec<String>>,
    /// The paths of re-exports.
    handed_on: Vec<Vec<String>>,
}

pub(super) fn check(crates: &BTreeMap<String, Arrows>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, arrows) in crates {
        for circle in circles(arrows) {
            findings.push(Finding::new(
                format!("crate {name}"),
                format!("{} import each other in a circle", circle.join(", ")),
                "move what both need into a file below them",
            ));
        }
    }
    findings
}

/// Reads the sources of every crate and returns, by the crate's folder, which module imports which.
pub(super) fn read_arrows(workspace: &Workspace) -> Result<BTreeMap<String, Arrows>> {
    let mut crates: BTreeMap<String, Crate> = BTreeMap::new();
    for file in workspace.files()? {
        if let Some((name, module)) = module_of(&file) {
            let text = std::fs::read_to_string(workspace.root.join(&file))?;
            crates.entry(name).or_default().modules.insert(module, Uses::of(&text));
        }
    }
    Ok(crates.into_iter().map(|(name, modules)| (name, modules.arrows())).collect())
}

/// Returns the crate and the module of a source file; `None` if the file is not a module of a library.
fn module_of(file: &Path) -> Option<(String, Module)> {
    let parts: Vec<&str> = file.iter().filter_map(|part| part.to_str()).collect();
    let ["crates", name, "src", inner @ .., last] = parts.as_slice() else { return None };
    let stem = last.strip_suffix(".rs")?;
    let is_test =
        stem == "tests" || inner.contains(&"tests") || stem == "testing" || inner.contains(&"testing");
    if is_test {
        return None;
    }
    let own = (!["lib", "main", "mod"].contains(&stem)).then_some(stem);
    let module = inner.iter().copied().chain(own).map(str::to_owned).collect();
    Some(((*name).to_owned(), module))
}

impl Uses {
    fn of(text: &str) -> Self {
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let mut uses = Self::default();
        let mut statement = String::new();
        for line in text.lines().map(|line| line.split("//").next().unwrap_or_default().trim()) {
            if statement.is_empty() && !begins_use(line) {
                uses.own.extend(inline_paths(line));
                continue;
            }
            statement.push_str(line);
            if !line.ends_with(';') {
                continue;
            }
            let whole = std::mem::take(&mut statement);
            let Some((before, tree)) = whole.trim_end_matches(';').split_once("use ") else { continue };
            let into = if before.is_empty() { &mut uses.own } else { &mut uses.handed_on };
            spread(&[], tree.trim(), into);
        }
        uses
    }
}

/// Returns the paths from the crate root in expressions and types, such as `crate::a::Name`.
fn inline_paths(line: &str) -> impl Iterator<Item = Vec<String>> {
    line.match_indices("crate::").filter_map(|(at, _)| {
        let path = line
            .get(at..)?
            .split(|character: char| !character.is_alphanumeric() && !"_:".contains(character))
            .next()?;
        Some(path.split("::").filter(|name| !name.is_empty()).map(str::to_owned).collect())
    })
}

fn begins_use(line: &str) -> bool {
    ["use ", "pub use ", "pub(crate) use ", "pub(super) use "].iter().any(|start| line.starts_with(start))
}

/// Adds the paths of a `use` tree to `into`.
fn spread(before: &[String], tree: &str, into: &mut Vec<Vec<String>>) {
    let (path, group) = match tree.split_once('{') {
        Some((path, group)) => (path, Some(group.trim_end().trim_end_matches('}'))),
        None => (tree, None),
    };
    let path = path.split(" as ").next().unwrap_or_default();
    let mut whole = before.to_vec();
    whole.extend(path.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned));
    match group {
        None => into.push(whole),
        Some(group) => outer_parts(group).into_iter().for_each(|part| spread(&whole, part, into)),
    }
}

/// Splits at the commas outside braces.
fn outer_parts(group: &str) -> Vec<&str> {
    let (mut depth, mut from, mut parts) = (0_usize, 0, Vec::new());
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(group.get(from..at).unwrap_or_default().trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(group.get(from..).unwrap_or_default().trim());
    parts.retain(|part| !part.is_empty());
    parts
}

impl Crate {
    /// Returns the module that defines the last name of the path.
    fn resolve(&self, from: &Module, path: &[String]) -> Option<Module> {
        self.resolve_within(from, path, 8)
    }

    fn resolve_within(&self, from: &Module, path: &[String], turns: usize) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        let (mut module, mut rest) = match first.as_str() {
            "crate" => (Module::new(), rest),
            "self" => (from.clone(), rest),
            "super" => (from.get(..from.len().checked_sub(1)?)?.to_vec(), rest),
            name => {
                let mut inner = from.clone();
                inner.push(name.to_owned());
                (self.modules.contains_key(&inner).then_some(inner)?, rest)
            }
        };
        while let Some((next, after)) = rest.split_first() {
            if next == "super" {
                module.pop()?;
            } else {
                module.push(next.clone());
                if !self.modules.contains_key(&module) {
                    module.pop();
                    break;
                }
            }
            rest = after;
        }
        let name = rest.first();
        let handed_on = &self.modules.get(&module)?.handed_on;
        let source = name.and_then(|name| handed_on.iter().find(|path| path.last() == Some(name)));
        match source {
            Some(source) if turns > 0 => self.resolve_within(&module, source, turns - 1),
            _ => Some(module),
        }
    }

    fn arrows(&self) -> Arrows {
        let to = |from: &Module, uses: &Uses| {
            let apart = |module: &Module| !module.starts_with(from) && !from.starts_with(module);
            uses.own.iter().filter_map(|path| self.resolve(from, path)).filter(apart).collect()
        };
        self.modules.iter().map(|(from, uses)| (from.clone(), to(from, uses))).collect()
    }
}

/// The imports of each module or folder.
pub(super) type Arrows = BTreeMap<Module, BTreeSet<Module>>;

/// Returns each cycle once, as its members.
pub(super) fn circles(arrows: &Arrows) -> Vec<Vec<String>> {
    let reach = |from: &Module| {
        let (mut met, mut open) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(it) = open.pop() {
            for next in arrows.get(&it).into_iter().flatten() {
                if met.insert(next.clone()) {
                    open.push(next.clone());
                }
            }
        }
        met
    };
    let all: BTreeMap<&Module, BTreeSet<Module>> =
        arrows.keys().map(|module| (module, reach(module))).collect();
    let mut circles = BTreeSet::new();
    for (module, reached) in all.iter().filter(|(module, reached)| reached.contains(**module)) {
        let mutual = |other: &&Module| all.get(*other).is_some_and(|back| back.contains(*module));
        let circle: Vec<String> = reached.iter().filter(mutual).map(|module| module.join("::")).collect();
        circles.insert(circle);
    }
    circles.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrows(files: &[(&str, &str)]) -> Arrows {
        let mut it = Crate::default();
        for (file, text) in files {
            let (_, module) = module_of(Path::new(file)).unwrap();
            it.modules.insert(module, Uses::of(text));
        }
        it.arrows()
    }

    #[test]
    fn a_circle_is_found_through_what_a_front_page_hands_on() {
        let found = arrows(&[
            ("crates/c/src/lib.rs", "mod a;\nmod b;\n"),
            ("crates/c/src/a/mod.rs", "mod x;\npub(crate) use x::{Name, other::Thing};\n"),
            ("crates/c/src/a/x.rs", "use crate::b::{\n    One,\n    Two as Three,\n};\n"),
            ("crates/c/src/b.rs", "fn f() {\n    let it = crate::a::Name::new();\n}\n"),
        ]);
        assert_eq!(circles(&found), [["a::x", "b"]]);
    }

    #[test]
    fn a_front_page_and_its_rooms_tests_and_one_way_arrows_are_no_circle() {
        let found = arrows(&[
            ("crates/c/src/a/mod.rs", "mod x;\nuse x::Name;\n"),
            ("crates/c/src/a/x.rs", "use super::Page;\nuse crate::b::One;\n"),
            (
                "crates/c/src/b.rs",
                "use crate::d::Four;\n#[cfg(test)]\nmod tests {\n    use crate::a::Name;\n}\n",
            ),
            ("crates/c/src/d.rs", "// use crate::a::Name;\n"),
        ]);
        assert_eq!(circles(&found), Vec::<Vec<String>>::new());
    }

    #[test]
    fn only_modules_of_a_library_count() {
        let module = |file: &str| module_of(Path::new(file)).map(|(_, module)| module.join("::"));
        assert_eq!(module("crates/c/src/lib.rs").as_deref(), Some(""));
        assert_eq!(module("crates/c/src/a/mod.rs").as_deref(), Some("a"));
        assert_eq!(module("crates/c/src/a/b.rs").as_deref(), Some("a::b"));
        assert_eq!(module("crates/c/src/a/tests.rs"), None);
        assert_eq!(module("crates/c/tests/a.rs"), None);
        assert_eq!(module("xtask/src/main.rs"), None);
    }
}
