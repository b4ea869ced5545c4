//! `GET /v1/users/{id}/recognitions_received` and `…_sent`: a user's recognitions, newest first.

use guerdon_domain::ports::{Reads, Role};
use guerdon_domain::values::Message;

use super::get::user_in_path;
use crate::operation::answer::Answer;
use crate::operation::call::Call;
use crate::operation::error::ApiError;
use crate::operation::list::{self, Links, ListOf};
use crate::operation::query::Query;
use crate::operation::{Described, Read};
use guerdon_api_types::parameter::Parameter;
use guerdon_api_types::views::RecognitionView;

/// What the largest one takes as it is read and rendered: its message stands in the database's answer, in the row, in
/// the recognition and in the body.
const WEIGHT: usize = 4 * Message::BYTES_MAX;

pub(crate) struct Received;

impl Described for Received {
    const NAME: &'static str = "listRecognitionsReceived";
    const SUMMARY: &'static str = "List the recognitions that a user received";
    const TEXT: &'static str = "Newest first.";
    type View = ListOf<RecognitionView<'static>>;

    fn query() -> Vec<Parameter> {
        Query::parameters_of(list::short_page)
    }
}

impl Read for Received {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        read(reads, call, Role::Receiver, "recognitions_received")
    }

    fn weight(call: &Call) -> usize {
        weight(call)
    }
}

pub(crate) struct Sent;

impl Described for Sent {
    const NAME: &'static str = "listRecognitionsSent";
    const SUMMARY: &'static str = "List the recognitions that a user sent";
    const TEXT: &'static str =
        "Newest first. Recognitions sent by a company appear only in the lists of their receivers.";
    type View = ListOf<RecognitionView<'static>>;

    fn query() -> Vec<Parameter> {
        Query::parameters_of(list::short_page)
    }
}

impl Read for Sent {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        read(reads, call, Role::Sender, "recognitions_sent")
    }

    fn weight(call: &Call) -> usize {
        weight(call)
    }
}

fn weight(call: &Call) -> usize {
    list::weight(call.query(list::short_page), WEIGHT)
}

fn read(reads: &mut dyn Reads, call: &Call, role: Role, name: &str) -> Result<Answer, ApiError> {
    let user = user_in_path(reads, call)?;
    let page = call.query(list::short_page)?;
    let total = reads.recognition_count(user.id, role)?;
    let found = reads.recognitions(user.id, role, page)?;
    let views = found.iter().map(RecognitionView::of).collect();
    list::answer(&Links::to(format!("/v1/users/{}/{name}", user.id)), page, total, views)
}
