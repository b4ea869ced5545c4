//! Every input of the corpora satisfies the properties of its parser, and so does each of its prefixes.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use guerdon_parser_properties::{PARSERS, Parser, TIME_MAX, processor_time};

fn corpora() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus"))
}

fn inputs(parser: &Parser) -> Vec<Vec<u8>> {
    let files = fs::read_dir(corpora().join(parser.name)).unwrap();
    files.map(|file| fs::read(file.unwrap().path()).unwrap()).collect()
}

#[test]
fn every_input_of_the_corpora_satisfies_the_properties_of_its_parser() {
    for parser in PARSERS {
        let inputs = inputs(parser);
        assert!(!inputs.is_empty(), "{} has no corpus", parser.name);
        for input in inputs {
            let step = input.len() / 64 + 1;
            (0..input.len()).step_by(step).for_each(|end| parser.check(&input[..end]));
            parser.check(&input);
        }
    }
}

#[test]
fn every_corpus_belongs_to_a_parser() {
    let folders = fs::read_dir(corpora()).unwrap();
    let folders: BTreeSet<String> =
        folders.map(|folder| folder.unwrap().file_name().into_string().unwrap()).collect();
    let names: BTreeSet<String> = PARSERS.iter().map(|parser| parser.name.to_owned()).collect();
    assert_eq!(folders, names);
}

#[test]
fn an_input_that_takes_too_long_is_found() {
    let slow = Parser::new("slow", |_input| {
        let end = processor_time() + 2 * TIME_MAX;
        while processor_time() < end {}
    });
    assert!(std::panic::catch_unwind(|| slow.check(b"")).is_err());
}
