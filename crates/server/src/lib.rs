//! # guerdon
//!
//! The program: settings, keys, TLS, the composition root, the operator's commands. It knows every other crate and
//! none knows it; rules of points and recognitions are the domain's, and nothing here decides one.
//!
//! * [`settings`] reads a TOML file and the environment; every key has a default, an unknown one is an error.
//! * [`application`] builds the running service from settings, the same for `serve` and for tests.
//! * [`commands`] holds one serialisable `Command`; it runs in process, or in the running `serve` through the
//!   socket of [`command_socket`] where that holds the embedded database.
//! * [`keys`] derives what seals and hashes the providers' secrets from one master key.
//! * [`tls`] makes the self-signed certificate and takes up changed ones.
//! * `world` is where time, ids, randomness and files come from; nothing else may ask for them.
//!
//! **Invariants.** Secrets stand in types whose `Debug` tells nothing. What is written in the data folder only its
//! owner can read. A command prints nothing itself: it answers an [`Output`](commands::Output).

mod application;
mod cli;
mod command_socket;
mod commands;
mod hex;
mod keys;
mod logging;
mod progress;
mod run;
mod sealing;
mod secret;
mod settings;
mod tls;
mod world;

pub use run::main;
