//! The sender against receivers on real sockets.

mod egress_policy;
mod faults;
mod fixture;
mod receiver;
mod requests;
mod responses;
mod tls;
