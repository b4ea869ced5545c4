#![doc = include_str!("../README.md")]

#[cfg(not(any(feature = "blocking", feature = "async")))]
compile_error!("enable the feature `blocking` or the feature `async`");

mod api;
#[cfg(feature = "async")]
mod asynchronous;
#[cfg(feature = "blocking")]
mod blocking;
mod call;
mod certificates;
mod error;
mod items;
mod objects;
mod operations;
mod request;
mod response;
mod retries;
mod service;

pub use api::Api;
#[cfg(feature = "async")]
pub use asynchronous::{AsyncClient, AsyncConnection};
#[cfg(feature = "blocking")]
pub use blocking::{BlockingConnection, Client};
pub use call::Call;
pub use error::Error;
#[cfg(feature = "webhooks")]
pub use guerdon_webhooks as webhooks;
pub use items::{EventFeed, EventPages, Items, List, ListPages, Pages};
pub use objects::*;
pub use service::Credentials;
pub use uuid::Uuid;
