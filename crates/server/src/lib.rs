#![doc = include_str!("../README.md")]

mod application;
mod build_info;
mod check;
mod cli;
mod command_socket;
mod commands;
mod console;
mod description;
mod dev;
mod examples;
mod hex;
mod keys;
mod logging;
mod outgoing;
mod printable;
mod progress;
mod retention;
mod run;
mod say;
mod sealing;
mod secret;
mod settings;
mod status;
mod steps;
mod tls;
mod tools;
mod verification;
mod work;
mod world;

pub use run::main;
