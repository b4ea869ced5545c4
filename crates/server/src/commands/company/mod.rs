//! `guerdon company`.

mod list;
mod options;
mod show;
mod transfer;

use crate::commands::group::command_group;

command_group! {
    enum CompanyCommand {
        /// Show companies, oldest first.
        List(list::List),
        /// Show one company.
        Show(show::Show),
        /// Set options of a company.
        Options(options::Options),
        /// Hand a company to another provider.
        Transfer(transfer::Transfer),
    }
}
