//! `guerdon company`.

mod facts;
mod list;
mod options;
mod show;
mod transfer;

pub(crate) use facts::list_company_facts;

use crate::commands::group_macro::command_group;

command_group! {
    enum CompanyCommand {
        /// List companies by provider, oldest first.
        List(list::List),
        /// Show a company.
        Show(show::Show),
        /// Set the options of a company.
        Options(options::Options),
        /// Transfer a company to another provider.
        Transfer(transfer::Transfer),
    }
}
