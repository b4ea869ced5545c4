//! The operations of the API. Each is declared once, for both clients.

mod companies;
mod corporations;
mod events;
mod occasions;
mod recognitions;
mod users;
