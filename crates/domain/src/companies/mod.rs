//! Companies (behaviour 11).

mod change;
mod create;
mod hand_over;
mod import;
mod move_to_provider;
mod options;
mod owner_name;
mod ownership;
mod preview_rate;
mod update;

pub use change::{UpdateCompany, UpdateCompanyError};
pub use create::{CreateCompany, CreateCompanyError, create};
pub use hand_over::{HandOverError, hand_over, reopen};
pub use import::{
    HANDED_OVER_DELIVERY, ImportCompanyError, IncomingCompany, check_import, finish_import, insert_rows,
    refuse_import,
};
pub use move_to_provider::{MoveCompanyError, move_to_provider};
pub use options::{OptionsError, set_allow_zero_points};
pub use owner_name::OwnerName;
pub use preview_rate::{CurrentAndProposed, RatePreview, preview_rate};
pub use update::update;

pub use crate::any_provider::find_company as find_any;
pub use crate::model::{Company, CompanyMove, CompanyWithOwner, MoveDirection};
