//! `guerdon company`.

mod export;
mod facts;
mod import;
mod list;
mod options;
mod reopen;
mod show;
mod transfer;

pub(crate) use facts::list_company_settings;

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
        /// Write a company to a file, and optionally hand it over to another cell.
        Export(export::Export),
        /// Import a company that another cell has handed over, or refuse it.
        Import(import::Import),
        /// Reopen a company that was handed over.
        Reopen(reopen::Reopen),
    }
}
