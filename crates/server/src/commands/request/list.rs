//! `guerdon request list`.

use guerdon_domain::ports::{FailedRequest, FailedRequestQuery, StoreExt};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::ProviderArgument;
use crate::commands::arguments::limit::{limit_note, parse_limit};
use crate::commands::arguments::time::{check_time, parse_optional_time};
use crate::commands::output::{format_table, or_dash};
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

/// The default number of requests, which is more than are stored.
const DEFAULT_LIMIT: u32 = 100_000;

/// List requests that failed with a status of 4xx or 5xx, newest first. For each provider, the last 1,000 with 4xx and
/// the last 1,000 with 5xx are kept.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon request list --status 5xx --since 2h
  guerdon request list --provider Acme --status 404 --limit 20")]
pub(crate) struct List {
    /// List only requests at or after this time: a time, or an age such as 2h
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = check_time)]
    since: Option<String>,
    /// List only requests of this provider: an id or a name
    #[arg(long, value_name = "PROVIDER")]
    provider: Option<ProviderArgument>,
    /// List only requests with this status, or with 4xx or 5xx
    #[arg(long, value_name = "STATUS", value_parser = check_status)]
    status: Option<String>,
    /// List only requests with this id, from the header X-Request-Id
    #[arg(long, value_name = "ID")]
    request_id: Option<String>,
    /// Maximum number of requests
    #[arg(long, default_value_t = DEFAULT_LIMIT, value_name = "COUNT", allow_negative_numbers = true, value_parser = parse_limit)]
    limit: u32,
}

fn check_status(text: &str) -> Result<String, String> {
    FailedRequestQuery::parse_statuses(text)
        .map(|_range| text.to_owned())
        .ok_or_else(|| "must be a status from 400 to 599, 4xx or 5xx".to_owned())
}

#[derive(Serialize)]
struct FailedRequestView {
    request_id: String,
    at: String,
    provider_id: Option<Uuid>,
    method: String,
    route: Option<String>,
    status: u16,
    duration_ms: u64,
    reason: String,
}

impl From<FailedRequest> for FailedRequestView {
    fn from(request: FailedRequest) -> Self {
        Self {
            at: request.at.to_string(),
            provider_id: request.provider_id.map(|provider| provider.as_uuid()),
            method: request.method.into_owned(),
            request_id: request.request_id,
            route: request.route,
            status: request.status,
            duration_ms: request.duration_ms,
            reason: request.reason,
        }
    }
}

impl FailedRequestView {
    fn to_row(&self) -> Vec<String> {
        vec![
            self.at.clone(),
            self.request_id.clone(),
            self.status.to_string(),
            self.method.clone(),
            or_dash(self.route.as_ref()),
            self.duration_ms.to_string(),
            or_dash(self.provider_id),
            self.reason.clone(),
        ]
    }
}

impl CommandView for Vec<FailedRequestView> {
    fn to_text(&self) -> String {
        let rows: Vec<Vec<String>> = self.iter().map(FailedRequestView::to_row).collect();
        format_table(&["at", "request", "status", "method", "route", "ms", "provider", "reason"], &rows)
    }
}

impl RunnableCommand for List {
    fn is_read_only(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let query = FailedRequestQuery {
            request_id: self.request_id.clone(),
            provider: self.provider.as_ref().map(|provider| provider.find_id(environment)).transpose()?,
            statuses: self.status.as_deref().and_then(FailedRequestQuery::parse_statuses),
            since: parse_optional_time(self.since.as_ref())?,
            limit: i64::from(self.limit),
            ..FailedRequestQuery::default()
        };
        if let Some(writer) = &environment.failed_requests {
            writer.store_all();
        }
        let found = environment.store.read_snapshot(|reads| reads.list_failed_requests(&query))?;
        let notes = limit_note(found.len(), self.limit, "request", "requests");
        let output = found.into_iter().map(FailedRequestView::from).collect::<Vec<_>>().to_output()?;
        Ok(CommandOutput { notes, ..output })
    }
}
