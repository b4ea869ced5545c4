//! `GET /v1/users/{id}`: one user, deleted ones included.

use guerdon_api_types::views::UserView;
use guerdon_domain::ports::{Consistency, ReadTx};
use guerdon_domain::users::User;

use crate::operation::{ApiError, Call, OperationDocs, ReadOperation, RenderedResponse, require_in_path};

pub(crate) struct Get;

impl OperationDocs for Get {
    const NAME: &'static str = "getUser";
    const SUMMARY: &'static str = "Fetch a user";
    const DESCRIPTION: &'static str = "A user, active or deleted.";
    type View = UserView<'static>;
}

impl ReadOperation for Get {
    const CONSISTENCY: Consistency = Consistency::PerStatementNoWait;

    fn execute_read(reads: &mut dyn ReadTx, call: &Call) -> Result<RenderedResponse, ApiError> {
        let user = user_in_path(reads, call)?;
        RenderedResponse::ok(&UserView::from_user(&user))
    }
}

/// The user whose id is in the path.
pub(super) fn user_in_path(reads: &mut dyn ReadTx, call: &Call) -> Result<User, ApiError> {
    let id = call.path_id("user")?;
    require_in_path(reads.find_user(call.scope, id)?, "user")
}
