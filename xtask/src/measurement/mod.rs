//! A temporary service with data, and the tools with which benchmarks and campaigns measure it.

pub(crate) mod closed_loop;
pub(crate) mod cpu;
pub(crate) mod fixture;
pub(crate) mod percentiles;
pub(crate) mod release;
pub(crate) mod service;
