//! `guerdon user`.

use guerdon_domain::ports::{Lookup, StoreExt, Wanted};
use guerdon_domain::users::User;
use guerdon_domain::values::{CompanyId, Line, UserId};
use guerdon_http_api::shown;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::output::{fields, table};
use super::{CommandError, Output, Runnable, Workplace, pages};

/// Shows a company's active users, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct List {
    /// Of this company.
    #[arg(long, value_name = "ID")]
    company: Uuid,
}

/// Shows one user, a deleted one too.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Show {
    /// The user.
    user_id: Uuid,
}

impl Runnable for List {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let id = CompanyId::from_uuid(self.company);
        workplace.store.snapshot(|reads| {
            if reads.provider_of_company(id)?.is_none() {
                return Err(CommandError::refused("no company has this id"));
            }
            let (mut rows, mut json) = (Vec::new(), Vec::new());
            for it in pages::all(|page| reads.users(id, &Wanted::default(), page))? {
                let email = it.profile.email.as_str().to_owned();
                rows.push(vec![it.id.to_string(), email, name(&it), rights(&it)]);
                json.push(shown::user(&it)?);
            }
            let text = table(&["id", "email", "name", "rights"], &rows);
            Ok(Output { text, json: format!("[{}]", json.join(",")), status: 0 })
        })
    }
}

impl Runnable for Show {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let id = UserId::from_uuid(self.user_id);
        workplace.store.snapshot(|reads| {
            let absent = || CommandError::refused("no user has this id");
            let scope = reads.provider_of_user(id)?.ok_or_else(absent)?;
            let Lookup::Own(user) = reads.user(scope, id)? else { return Err(absent()) };
            let json = shown::user(&user)?;
            let deleted = user.deleted_at.map_or_else(|| "-".to_owned(), |it| it.to_string());
            let text = fields(&[
                ("id", &id.to_string()),
                ("company", &user.company_id.to_string()),
                ("email", user.profile.email.as_str()),
                ("name", &name(&user)),
                ("rights", &rights(&user)),
                ("created", &user.created_at.to_string()),
                ("updated", &user.updated_at.to_string()),
                ("deleted", &deleted),
            ]);
            Ok(Output { text, json, status: 0 })
        })
    }
}

fn name(user: &User) -> String {
    let last = user.profile.last_name.as_ref().map_or("", Line::as_str);
    format!("{} {last}", user.profile.first_name.as_str()).trim_end().to_owned()
}

fn rights(user: &User) -> String {
    let profile = &user.profile;
    let all = [
        (profile.manager, "manager"),
        (profile.company_admin, "company admin"),
        (profile.corporation_admin, "corporation admin"),
    ];
    let held: Vec<&str> = all.into_iter().filter(|it| it.0).map(|it| it.1).collect();
    if held.is_empty() { "-".to_owned() } else { held.join(", ") }
}
