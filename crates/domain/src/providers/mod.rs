//! Providers: the partners that call the API (spec §1, §5).

mod provider;

pub use provider::Provider;
