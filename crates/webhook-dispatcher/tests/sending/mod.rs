//! The sender against receivers on real sockets.

mod answers;
mod faults;
mod guarding;
mod receiver;
mod requests;
mod setting;
mod tls;
