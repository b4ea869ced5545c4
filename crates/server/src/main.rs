//! The binary `guerdon`; everything is in the library of this crate, so that tests can use it.

/// Reads the command line and does what it says.
fn main() -> std::process::ExitCode {
    guerdon_server::main()
}
