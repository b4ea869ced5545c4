//! A throw-away service and clients with minimal overhead, for benchmarks and attacks.

pub(crate) mod cpu;
pub(crate) mod fixture;
pub(crate) mod https;
pub(crate) mod receiver;
pub(crate) mod release;
pub(crate) mod service;
pub(crate) mod times;
pub(crate) mod wire;
