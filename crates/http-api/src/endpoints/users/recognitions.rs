//! `GET /v1/users/{id}/recognitions_received` and `…_sent`: a user's recognitions, newest first.

use guerdon_api_types::views::RecognitionView;
use guerdon_domain::ports::{ReadTx, Role};
use guerdon_domain::values::{Message, Page};

use super::get::user_in_path;
use crate::operation::list::{self, Links, ListOf};
use crate::operation::{ApiError, Call, OperationDocs, Query, ReadOperation, RenderedResponse};

/// The memory of the largest recognition while it is read and rendered: its message exists in the database's response,
/// the row, the recognition and the body.
const RECOGNITION_BYTES_MAX: usize = 4 * Message::BYTES_MAX;

pub(crate) struct ListRecognitionsReceived;

impl OperationDocs for ListRecognitionsReceived {
    const NAME: &'static str = "listRecognitionsReceived";
    const SUMMARY: &'static str = "List the recognitions that a user received";
    const DESCRIPTION: &'static str = "Newest first.";
    const READ_QUERY: fn(&mut Query) = |query| _ = list::read_short_page(query);
    type View = ListOf<RecognitionView<'static>>;
}

impl ReadOperation for ListRecognitionsReceived {
    const ITEM_BYTES_MAX: usize = RECOGNITION_BYTES_MAX;
    const READ_PAGE: fn(&mut Query) -> Option<Page> = list::read_short_page;

    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        list_recognitions(reads, call, Role::Receiver, "recognitions_received")
    }
}

pub(crate) struct ListRecognitionsSent;

impl OperationDocs for ListRecognitionsSent {
    const NAME: &'static str = "listRecognitionsSent";
    const SUMMARY: &'static str = "List the recognitions that a user sent";
    const DESCRIPTION: &'static str =
        "Newest first. Recognitions sent by a company appear only in the lists of their receivers.";
    const READ_QUERY: fn(&mut Query) = |query| _ = list::read_short_page(query);
    type View = ListOf<RecognitionView<'static>>;
}

impl ReadOperation for ListRecognitionsSent {
    const ITEM_BYTES_MAX: usize = RECOGNITION_BYTES_MAX;
    const READ_PAGE: fn(&mut Query) -> Option<Page> = list::read_short_page;

    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        list_recognitions(reads, call, Role::Sender, "recognitions_sent")
    }
}

fn list_recognitions(
    reads: &mut dyn ReadTx,
    call: &Call,
    role: Role,
    name: &str,
) -> Result<RenderedResponse, ApiError> {
    let user = user_in_path(reads, call)?;
    let page = call.parse_query(list::read_short_page)?;
    let total = reads.count_recognitions(user.id, role)?;
    let recognitions = reads.list_recognitions(user.id, role, page)?;
    let views = recognitions.iter().map(RecognitionView::from_recognition).collect();
    list::render_page(&Links::for_path(format!("/v1/users/{}/{name}", user.id)), page, total, views)
}
