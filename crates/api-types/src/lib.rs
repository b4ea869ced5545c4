#![doc = include_str!("../README.md")]

pub mod body;
pub mod docs;
pub mod parameter;
pub mod requests;
pub mod values;
pub mod views;
mod wire_value;

pub use body::Fields;
pub use docs::FieldDocs;
pub use wire_value::WireValue;
