//! Fuzzes the parser that the environment variable `FUZZ_PARSER` names. One program for all parsers, because the
//! instrumented service is linked only once.

#![no_main]

use std::sync::LazyLock;

use guerdon_parser_properties::Parser;
use libfuzzer_sys::fuzz_target;

static PARSER: LazyLock<Parser> = LazyLock::new(|| {
    let name = std::env::var("FUZZ_PARSER").unwrap_or_default();
    Parser::find(&name).unwrap_or_else(|| panic!("FUZZ_PARSER is not a parser: `{name}`"))
});

fuzz_target!(|input: &[u8]| PARSER.check(input));
