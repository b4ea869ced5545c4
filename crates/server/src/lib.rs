#![doc = include_str!("../README.md")]

pub mod application;
mod cli;
pub mod commands;
pub mod handover;
mod hex;
pub mod keys;
mod logging;
mod progress;
mod run;
mod sealing;
pub mod secret;
pub mod settings;
pub mod tls;
pub mod world;

pub use run::main;
