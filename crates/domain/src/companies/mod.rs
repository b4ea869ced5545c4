//! Companies (spec §2.1, §4.1; contract §4).

mod change_rate;
mod company;
mod create;
mod look_up;
mod options;

pub use change_rate::{ChangeRateError, change_rate};
pub use company::{Company, CompanyWithOwner};
pub use create::{CreateCompany, CreateCompanyError, create};
pub use look_up::for_operator;
pub use options::{OptionsError, set_allow_zero_points};
