#![doc = include_str!("../README.md")]

mod cell_router;
mod database_proxy;
mod http_message;
mod https;
mod process_guard;
mod receiver;
mod sandbox;
mod service;

pub use cell_router::{CellRouter, ROUTED_CELLS, RoutedCell};
pub use database_proxy::{ConnectionFault, DatabaseProxy};
pub use http_message::{HttpResponse, parse_responses};
pub use https::{HttpsClient, HttpsConnection};
pub use process_guard::{ProcessGuard, Signal, StopSignal, forward_lines};
pub use receiver::{RECEIVE_TIMEOUT, ReceivedRequest, Reply, WebhookReceiver, forward_request};
pub use sandbox::{Sandbox, parse_exports};
pub use service::{Installation, OperatorPage, ServiceProcess, guerdon_command};
