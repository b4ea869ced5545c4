//! The pages. Each is a function of what it shows, of the [`Frame`](crate::Frame), and, where a table can be sorted,
//! paged or narrowed, of the [`Query`](crate::Query) that the browser sent.

pub mod audit;
pub mod companies;
pub mod company;
pub mod event;
pub mod events;
pub mod failed;
pub mod missing;
pub mod overview;
pub mod provider;
pub mod providers;
pub mod schedules;
