//! `guerdon user`.

mod erase;
mod list;
mod show;

use guerdon_domain::users::User;
use guerdon_domain::values::SingleLine;

use crate::commands::group_macro::command_group;

command_group! {
    enum UserCommand {
        /// List a company's users, oldest first.
        List(list::List),
        /// Show a user, active or deleted.
        Show(show::Show),
        /// Erase the personal data of a deleted user; the ledger is unchanged.
        Erase(erase::Erase),
    }
}

fn format_name(user: &User) -> String {
    let last = user.profile.last_name.as_ref().map_or("", SingleLine::as_str);
    format!("{} {last}", user.profile.first_name.as_str()).trim_end().to_owned()
}

fn format_rights(user: &User) -> String {
    let profile = &user.profile;
    let all = [
        (profile.manager, "manager"),
        (profile.company_admin, "company admin"),
        (profile.corporation_admin, "corporation admin"),
    ];
    let granted: Vec<&str> = all.into_iter().filter(|right| right.0).map(|right| right.1).collect();
    if granted.is_empty() { "-".to_owned() } else { granted.join(", ") }
}
