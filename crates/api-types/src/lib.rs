#![doc = include_str!("../README.md")]

pub mod body;
pub mod docs;
pub mod form;
pub mod parameter;
pub mod requests;
mod shown;
pub mod views;

pub use shown::Shown;
