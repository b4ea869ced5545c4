//! Companies (behaviour 11).

mod company;
mod create;
mod hand_over;
mod look_up;
mod options;
mod transfer;
mod update;

pub use company::{Company, CompanyWithOwner};
pub use create::{CreateCompany, CreateCompanyError, create};
pub use hand_over::OwnerName;
pub use look_up::{for_operator, kept};
pub use options::{OptionsError, set_allow_zero_points};
pub use transfer::{TransferError, transfer};
pub use update::{UpdateCompany, UpdateCompanyError, update};
