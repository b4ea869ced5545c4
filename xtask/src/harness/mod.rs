//! A throw-away service and clients with minimal overhead, for benchmarks and attacks.

pub(crate) mod cpu;
pub(crate) mod fixture;
pub(crate) mod http_message;
pub(crate) mod https;
pub(crate) mod percentiles;
pub(crate) mod receiver;
pub(crate) mod release;
pub(crate) mod sandbox;
pub(crate) mod service;
