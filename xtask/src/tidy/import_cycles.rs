//! No import cycles between the files of a crate.
//!
//! An edge goes from a file to each other file of its crate from which it takes a name, by a `use` or by a path that
//! begins with `crate`. Re-exports are followed to the module that defines the name. Imports between a module and the
//! modules inside it do not count. `folder_cycles` checks the same for folders.

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
    modules: BTreeMap<Module, UsePaths>,
}

/// The paths of a module's `use` lines, whole and split at `::`.
#[derive(Default)]
struct UsePaths {
    imports: Vec<Vec<String>>,
    /// The paths of re-exports.
    reexports: Vec<Vec<String>>,
}

pub(super) fn check(crates: &BTreeMap<String, ImportGraph>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (name, graph) in crates {
        for cycle in find_cycles(graph) {
            findings.push(Finding::new(
                format!("crate {name}"),
                format!("{} import each other in a cycle", cycle.join(", ")),
                "move the shared code into a file that both can import",
            ));
        }
    }
    findings
}

/// Reads the sources of every crate and returns, by the crate's folder, which module imports which.
pub(super) fn read_imports(workspace: &Workspace) -> Result<BTreeMap<String, ImportGraph>> {
    let mut crates: BTreeMap<String, Crate> = BTreeMap::new();
    for file in workspace.list_files()? {
        if let Some((name, module)) = module_of(&file) {
            let text = std::fs::read_to_string(workspace.root.join(&file))?;
            crates.entry(name).or_default().modules.insert(module, UsePaths::from_source(&text));
        }
    }
    Ok(crates.into_iter().map(|(name, modules)| (name, modules.import_graph())).collect())
}

/// Returns the crate and the module of a source file; `None` if the file is not a module of a library or of xtask.
fn module_of(file: &Path) -> Option<(String, Module)> {
    let parts: Vec<&str> = file.iter().filter_map(|part| part.to_str()).collect();
    let (["crates", name, "src", inner @ .., last] | [name @ "xtask", "src", inner @ .., last]) =
        parts.as_slice()
    else {
        return None;
    };
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

impl UsePaths {
    fn from_source(text: &str) -> Self {
        let mut uses = Self::default();
        let mut statement = String::new();
        for line in lines_without_tests(text).map(|line| line.split("//").next().unwrap_or_default().trim()) {
            if statement.is_empty() && !is_use_start(line) {
                uses.imports.extend(inline_paths(line));
                continue;
            }
            statement.push_str(line);
            if !line.ends_with(';') {
                continue;
            }
            let whole = std::mem::take(&mut statement);
            let Some((before, tree)) = whole.trim_end_matches(';').split_once("use ") else { continue };
            let paths = if before.is_empty() { &mut uses.imports } else { &mut uses.reexports };
            flatten_use_tree(&[], tree.trim(), paths);
        }
        uses
    }
}

/// Returns the lines of a source file without the items that are compiled only for tests.
fn lines_without_tests(text: &str) -> impl Iterator<Item = &str> {
    let mut lines = text.lines();
    std::iter::from_fn(move || {
        loop {
            let line = lines.next()?;
            let indentation = line.strip_suffix("#[cfg(test)]").filter(|before| before.trim().is_empty());
            let Some(indentation) = indentation else { return Some(line) };
            // The last line of an item has the indentation of the first one.
            let is_end = |line: &str| {
                let item = line.strip_prefix(indentation).unwrap_or_default();
                !item.starts_with([' ', '#']) && item.ends_with([';', '}', ','])
            };
            lines.by_ref().find(|line| is_end(line));
        }
    })
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

fn is_use_start(line: &str) -> bool {
    ["use ", "pub use ", "pub(crate) use ", "pub(super) use "].iter().any(|start| line.starts_with(start))
}

/// Adds the paths of a `use` tree to `into`.
fn flatten_use_tree(before: &[String], tree: &str, paths: &mut Vec<Vec<String>>) {
    let (path, group) = match tree.split_once('{') {
        Some((path, group)) => (path, Some(group.trim_end().trim_end_matches('}'))),
        None => (tree, None),
    };
    let path = path.split(" as ").next().unwrap_or_default();
    let mut whole = before.to_vec();
    whole.extend(path.split("::").map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned));
    match group {
        None => paths.push(whole),
        Some(group) => {
            split_outer_commas(group).into_iter().for_each(|part| flatten_use_tree(&whole, part, paths))
        }
    }
}

/// Splits at the commas outside braces.
fn split_outer_commas(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_usize, 0, Vec::new());
    for (index, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(group.get(start..index).unwrap_or_default().trim());
                start = index + 1;
            }
            _ => {}
        }
    }
    parts.push(group.get(start..).unwrap_or_default().trim());
    parts.retain(|part| !part.is_empty());
    parts
}

impl Crate {
    /// Returns the module that defines the last name of the path.
    fn resolve_module(&self, from: &Module, path: &[String]) -> Option<Module> {
        self.resolve_within(from, path, 8)
    }

    fn resolve_within(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
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
        let reexports = &self.modules.get(&module)?.reexports;
        let source = name.and_then(|name| reexports.iter().find(|path| path.last() == Some(name)));
        match source {
            Some(source) if depth > 0 => self.resolve_within(&module, source, depth - 1),
            _ => Some(module),
        }
    }

    fn import_graph(&self) -> ImportGraph {
        let targets = |from: &Module, uses: &UsePaths| {
            let is_separate = |module: &Module| !module.starts_with(from) && !from.starts_with(module);
            uses.imports
                .iter()
                .filter_map(|path| self.resolve_module(from, path))
                .filter(is_separate)
                .collect()
        };
        self.modules.iter().map(|(from, uses)| (from.clone(), targets(from, uses))).collect()
    }
}

/// The imports of each module or folder.
pub(super) type ImportGraph = BTreeMap<Module, BTreeSet<Module>>;

/// Returns each cycle once, as its members.
pub(super) fn find_cycles(graph: &ImportGraph) -> Vec<Vec<String>> {
    let reachable_from = |from: &Module| {
        let (mut reached, mut pending) = (BTreeSet::new(), vec![from.clone()]);
        while let Some(module) = pending.pop() {
            for next in graph.get(&module).into_iter().flatten() {
                if reached.insert(next.clone()) {
                    pending.push(next.clone());
                }
            }
        }
        reached
    };
    let all: BTreeMap<&Module, BTreeSet<Module>> =
        graph.keys().map(|module| (module, reachable_from(module))).collect();
    let mut cycles = BTreeSet::new();
    for (module, reached) in all.iter().filter(|(module, reached)| reached.contains(**module)) {
        let is_mutual = |other: &&Module| all.get(*other).is_some_and(|back| back.contains(*module));
        let cycle: Vec<String> = reached.iter().filter(is_mutual).map(|module| module.join("::")).collect();
        cycles.insert(cycle);
    }
    cycles.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph_of_files(files: &[(&str, &str)]) -> ImportGraph {
        let mut krate = Crate::default();
        for (file, text) in files {
            let (_, module) = module_of(Path::new(file)).unwrap();
            krate.modules.insert(module, UsePaths::from_source(text));
        }
        krate.import_graph()
    }

    #[test]
    fn a_cycle_is_found_through_re_exports() {
        let found = graph_of_files(&[
            ("crates/c/src/lib.rs", "mod a;\nmod b;\n"),
            ("crates/c/src/a/mod.rs", "mod x;\npub(crate) use x::{Name, other::Thing};\n"),
            ("crates/c/src/a/x.rs", "use crate::b::{\n    One,\n    Two as Three,\n};\n"),
            ("crates/c/src/b.rs", "fn f() {\n    let it = crate::a::Name::new();\n}\n"),
        ]);
        assert_eq!(find_cycles(&found), [["a::x", "b"]]);
    }

    #[test]
    fn parents_tests_and_one_way_imports_are_not_a_cycle() {
        let found = graph_of_files(&[
            ("crates/c/src/a/mod.rs", "mod x;\nuse x::Name;\n"),
            ("crates/c/src/a/x.rs", "use super::Page;\nuse crate::b::One;\n"),
            (
                "crates/c/src/b.rs",
                "use crate::d::Four;\n#[cfg(test)]\nmod tests {\n    use crate::a::Name;\n}\n",
            ),
            ("crates/c/src/d.rs", "// use crate::a::Name;\n"),
        ]);
        assert_eq!(find_cycles(&found), Vec::<Vec<String>>::new());
    }

    #[test]
    fn imports_after_an_item_for_tests_count() {
        let a = "#[cfg(test)]\nmod tests;\n\n#[cfg(test)]\n#[must_use]\nfn f() {\n    g();\n}\n\nuse crate::b::One;\n";
        let found =
            graph_of_files(&[("crates/c/src/a.rs", a), ("crates/c/src/b.rs", "use crate::a::Two;\n")]);
        assert_eq!(find_cycles(&found), [["a", "b"]]);
    }

    #[test]
    fn only_modules_of_a_library_count() {
        let module = |file: &str| module_of(Path::new(file)).map(|(_, module)| module.join("::"));
        assert_eq!(module("crates/c/src/lib.rs").as_deref(), Some(""));
        assert_eq!(module("crates/c/src/a/mod.rs").as_deref(), Some("a"));
        assert_eq!(module("crates/c/src/a/b.rs").as_deref(), Some("a::b"));
        assert_eq!(module("crates/c/src/a/tests.rs"), None);
        assert_eq!(module("crates/c/tests/a.rs"), None);
        assert_eq!(module("xtask/src/tidy/mod.rs").as_deref(), Some("tidy"));
        assert_eq!(module("xtask/fuzz/src/main.rs"), None);
    }
}
