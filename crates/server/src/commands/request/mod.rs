//! `guerdon request`.

mod list;

use crate::commands::group_macro::command_group;

command_group! {
    enum RequestCommand {
        /// List failed requests, newest first.
        List(list::List),
    }
}
