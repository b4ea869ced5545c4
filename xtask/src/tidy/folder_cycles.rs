//! No import cycles between the folders of a crate.
//!
//! Two folders can import from each other without a cycle between their files. Neither folder can then be understood,
//! moved or tested alone. At each level of a crate, a folder with all its content is one node, and so is a file. The
//! edges are the imports that `import_cycles` reads. Imports between a folder and the folders or files inside it do not
//! count.

use std::collections::{BTreeMap, BTreeSet};

use super::Finding;
use super::import_cycles::{ImportGraph, Module, find_cycles};

/// Finds each cycle between folders.
pub(super) fn check(crates: &BTreeMap<String, ImportGraph>) -> Vec<Finding> {
    let cycles = crates
        .iter()
        .flat_map(|(name, graph)| folder_cycles(graph).into_iter().map(move |cycle| (name, cycle)));
    let to_finding = |(name, cycle): (&String, Vec<String>)| {
        let problem = format!("the folders {} import each other in a cycle", cycle.join(", "));
        Finding::new(
            format!("crate {name}"),
            problem,
            "move the shared code into a folder that both can import",
        )
    };
    cycles.map(to_finding).collect()
}

/// The cycles at every level of a crate, each once, as the paths of its folders and files.
fn folder_cycles(graph: &ImportGraph) -> Vec<Vec<String>> {
    let parents: BTreeSet<&[String]> =
        graph.keys().flat_map(|module| (0..module.len()).filter_map(|depth| module.get(..depth))).collect();
    parents.into_iter().flat_map(|parent| find_cycles(&edges_below(parent, graph))).collect()
}

/// Returns the imports between the direct children of this folder.
fn edges_below(parent: &[String], graph: &ImportGraph) -> ImportGraph {
    let child = |module: &Module| {
        let is_below = module.len() > parent.len() && module.starts_with(parent);
        is_below.then(|| module.iter().take(parent.len() + 1).cloned().collect::<Module>())
    };
    let mut edges = ImportGraph::new();
    for (from, to) in graph {
        let Some(from) = child(from) else { continue };
        let others = to.iter().filter_map(child).filter(|other| *other != from);
        edges.entry(from.clone()).or_default().extend(others);
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph_of_edges(edges: &[(&str, &str)]) -> ImportGraph {
        let module = |path: &str| path.split("::").map(str::to_owned).collect::<Module>();
        let mut graph = ImportGraph::new();
        for (from, to) in edges {
            graph.entry(module(from)).or_default().insert(module(to));
            graph.entry(module(to)).or_default();
        }
        graph
    }

    #[test]
    fn cycles_are_found_at_every_level() {
        let check = |edges: &[(&str, &str)], expected: &[&[&str]]| {
            assert_eq!(folder_cycles(&graph_of_edges(edges)), expected, "{edges:?}");
        };
        check(&[("a::x", "b::y"), ("b::y", "c")], &[]);
        check(&[("a::x", "b::y"), ("b::z", "a::w")], &[&["a", "b"]]);
        check(&[("a::x", "b::y"), ("b::z", "c"), ("c", "a::w")], &[&["a", "b", "c"]]);
        check(&[("a::x::one", "a::y::two"), ("a::y::three", "a::x::four")], &[&["a::x", "a::y"]]);
    }

    #[test]
    fn imports_between_a_folder_and_its_own_files_are_not_a_cycle() {
        assert!(folder_cycles(&graph_of_edges(&[("a", "a::x"), ("a::x", "a"), ("a::y", "a::x")])).is_empty());
    }
}
