//! The binary `guerdon`. Its code is in the library of this crate.

/// Parses the command line and runs the command.
fn main() -> std::process::ExitCode {
    guerdon_server::main()
}
