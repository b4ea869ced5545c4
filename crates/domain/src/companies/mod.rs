//! Companies (behaviour 11).

mod change;
mod create;
mod hand_over;
mod import;
mod options;
mod owner_name;
mod ownership;
mod preview_rate;
mod transfer_to_provider;
mod update;

pub use change::{UpdateCompany, UpdateCompanyError};
pub use create::{CreateCompany, CreateCompanyError, create};
pub use hand_over::{HandOverError, hand_over, record_archive, reopen};
pub use import::{
    HANDED_OVER_DELIVERY_STATE, ImportCompanyError, IncomingCompany, check_import, finish_import,
    insert_rows, refuse_import,
};
pub use options::{OptionsError, set_allow_zero_points};
pub use owner_name::OwnerName;
pub use preview_rate::{CurrentAndProposed, RatePreview, preview_rate};
pub use transfer_to_provider::{TransferCompanyError, transfer_to_provider};
pub use update::update;

pub use crate::model::{Company, CompanyMove, CompanyWithOwner, MoveDirection};
