//! A throw-away service, and clients that cost as little as they can: what benchmarks and sieges are made of.

pub(crate) mod cpu;
pub(crate) mod fixture;
pub(crate) mod https;
pub(crate) mod receiver;
pub(crate) mod release;
pub(crate) mod service;
pub(crate) mod times;
pub(crate) mod wire;
