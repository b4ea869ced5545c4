#![doc = include_str!("../README.md")]

mod application;
mod cli;
mod command_socket;
mod commands;
mod company_archive;
mod console;
mod dev;
mod keys;
mod maintenance;
mod platform;
mod settings;
mod terminal;
#[cfg(test)]
mod test_clock;
#[cfg(feature = "testing")]
pub mod testing;
mod tls;
mod tools;
mod transports;
#[cfg(test)]
mod unreliable_store;

pub use cli::main;
