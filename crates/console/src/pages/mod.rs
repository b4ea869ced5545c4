//! The pages. Each is a function of its content, of the [`Frame`](crate::Frame) and, if a table can be sorted, paged
//! or filtered, of the [`Query`](crate::Query) from the browser.

pub mod audit;
pub mod companies;
pub mod company;
pub mod event;
pub mod events;
pub mod not_found;
pub mod overview;
pub mod provider;
pub mod providers;
pub mod requests;
pub mod schedules;
pub mod search;
pub mod unavailable;
pub mod user;
