//! A throw-away service with data, and what benchmarks and attacks measure it with.

pub(crate) mod closed_loop;
pub(crate) mod cpu;
pub(crate) mod fixture;
pub(crate) mod percentiles;
pub(crate) mod release;
pub(crate) mod service;
