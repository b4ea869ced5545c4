#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))] // docs.rs shows which feature enables an item

#[cfg(not(any(feature = "blocking", feature = "async")))]
compile_error!("enable the feature `blocking` or the feature `async`");

mod api;
#[cfg(feature = "async")]
mod async_client;
#[cfg(feature = "blocking")]
mod blocking_client;
mod call;
mod certificates;
mod error;
mod objects;
mod operations;
mod pagination;
mod request;
mod response;
mod retries;
mod service_endpoint;

pub use api::Api;
#[cfg(feature = "async")]
pub use async_client::{AsyncClient, AsyncConnection};
#[cfg(feature = "blocking")]
pub use blocking_client::{BlockingConnection, Client};
pub use call::Call;
pub use error::{Error, FieldError};
#[cfg(feature = "webhooks")]
pub use guerdon_webhooks as webhooks;
pub use objects::*;
pub use pagination::{EventFeed, EventPages, Items, List, ListPages, Pages};
pub use service_endpoint::Credentials;
pub use uuid::Uuid;
