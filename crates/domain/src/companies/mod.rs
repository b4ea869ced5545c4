//! Companies (spec §2.1, §4.1; contract §4).

mod create;
mod move_to_provider;
mod options;
mod ownership;
mod update;

pub use create::{CreateCompany, CreateCompanyError, create};
pub use move_to_provider::{MoveCompanyError, move_to_provider};
pub use options::{OptionsError, set_allow_zero_points};
pub use ownership::OwnerName;
pub use update::{UpdateCompany, UpdateCompanyError, update};

pub use crate::model::{Company, CompanyWithOwner};
