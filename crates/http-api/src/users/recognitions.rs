//! `GET /v1/users/{id}/recognitions_received` and `…_sent`: a user's recognitions, newest first.

use guerdon_domain::ports::{Reads, Role};

use super::get::user_in_path;
use crate::answer::Answer;
use crate::call::Call;
use crate::error::ApiError;
use crate::list::{self, Links};
use crate::operation::Read;
use crate::recognitions::RecognitionView;

pub(crate) struct Received;

impl Read for Received {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        read(reads, call, Role::Receiver, "recognitions_received")
    }
}

pub(crate) struct Sent;

impl Read for Sent {
    fn read(reads: &mut dyn Reads, call: &Call) -> Result<Answer, ApiError> {
        read(reads, call, Role::Sender, "recognitions_sent")
    }
}

fn read(reads: &mut dyn Reads, call: &Call, role: Role, name: &str) -> Result<Answer, ApiError> {
    let user = user_in_path(reads, call)?;
    let page = list::page_within(call, list::PER_PAGE_OF_MESSAGES_MAX)?;
    let total = reads.recognition_count(user.id, role)?;
    let found = reads.recognitions(user.id, role, page)?;
    let views = found.iter().map(RecognitionView::of).collect();
    list::answer(&Links::to(format!("/v1/users/{}/{name}", user.id)), page, total, views)
}
