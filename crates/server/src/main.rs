//! The binary `guerdon`; everything is in the library of this crate, so that tests can use it.

/// The system's heap keeps what a large request needed.
#[global_allocator]
static HEAP: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Reads the command line and does what it says.
fn main() -> std::process::ExitCode {
    guerdon_server::main()
}
