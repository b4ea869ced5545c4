//! `guerdon user`.

use guerdon_domain::ports::{StoreError, StoreExt, Wanted};
use guerdon_domain::users::{ERASED_AT_ONCE, EraseUserError, User, anybodys, erase, erase_from_events};
use guerdon_domain::values::{EmailAddress, Line, UserId};
use guerdon_http_api::shown;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::error::refusals;
use super::named::{CompanyName, UserName, email, id};
use super::output::{fields, table};
use super::pages::most;
use super::{CommandError, Output, Runnable, View, Workplace, pages};

/// How many events are looked for at once, while nobody waits for it.
const FOUND_AT_ONCE: i64 = 20_000;

/// Shows a company's users, oldest first.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct List {
    /// Of this company: an id or a domain
    #[arg(long, value_name = "COMPANY")]
    company: CompanyName,
    /// With this email only
    #[arg(long, value_name = "EMAIL", value_parser = email)]
    #[serde(default)]
    email: Option<String>,
    /// Deleted ones too
    #[arg(long)]
    #[serde(default)]
    deleted: bool,
    /// At most so many
    #[arg(long, default_value_t = 10_000, value_name = "N", allow_negative_numbers = true, value_parser = most)]
    limit: u32,
}

/// Shows one user, a deleted one too.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Show {
    #[command(flatten)]
    #[serde(flatten)]
    user: UserName,
}

/// Erases what is known of a deleted user: profile, mails, and name and address in the bodies of events. What points the
/// user gave and received stays, and so do messages.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
pub(crate) struct Erase {
    /// The user's id
    #[arg(value_name = "USER_ID", value_parser = id)]
    user_id: Uuid,
}

#[derive(Serialize)]
struct Erased {
    user_id: Uuid,
    erased: bool,
}

impl View for Erased {
    fn text(&self) -> String {
        format!("what was known of user {} is erased; the movements of points stay", self.user_id)
    }
}

impl Runnable for Erase {
    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let (id, context) = (UserId::from_uuid(self.user_id), workplace.context());
        workplace.store.transaction(|tx| {
            let scope = tx.provider_of_user(id)?.ok_or(EraseUserError::NoSuchUser)?;
            erase(tx, scope, id, &context)
        })?;
        let store = workplace.store.as_ref();
        let mut behind = None;
        loop {
            let found = store.snapshot(|reads| -> Result<_, StoreError> {
                reads.events_about(id, behind, FOUND_AT_ONCE)
            })?;
            let Some(last) = found.last() else {
                return Erased { user_id: self.user_id, erased: true }.output();
            };
            behind = Some(*last);
            for some in found.chunks(ERASED_AT_ONCE) {
                store.transaction(|tx| erase_from_events(tx, id, some, &context))?;
            }
        }
    }

    fn may_take_long(&self) -> bool {
        true
    }
}

impl Runnable for List {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let id = self.company.id(workplace)?;
        workplace.store.snapshot(|reads| {
            if reads.provider_of_company(id)?.is_none() {
                return Err(CommandError::refused("no company has this id"));
            }
            let (mut rows, mut json) = (Vec::new(), Vec::new());
            let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
            let email = self.email.as_deref().and_then(|it| EmailAddress::parse(it).ok());
            let wanted = Wanted { email, deleted: self.deleted, ..Wanted::default() };
            let found = pages::first(limit, |page| reads.users(id, &wanted, page))?;
            let notes = if found.len() < limit {
                Vec::new()
            } else {
                vec![format!("there may be more than these {limit} users: --limit shows more")]
            };
            for it in found {
                let email = it.profile.email.as_str().to_owned();
                let deleted = it.deleted_at.map_or_else(|| "-".to_owned(), |it| it.to_string());
                rows.push(vec![it.id.to_string(), email, name(&it), rights(&it), deleted]);
                json.push(shown::user(&it)?);
            }
            let text = table(&["id", "email", "name", "rights", "deleted"], &rows);
            Ok(Output { text, json: format!("[{}]", json.join(",")), notes, ..Output::default() })
        })
    }
}

impl Runnable for Show {
    fn is_reading(&self) -> bool {
        true
    }

    fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
        let id = self.user.id(workplace)?;
        workplace.store.snapshot(|reads| {
            let absent = || CommandError::refused("no user has this id");
            let user = anybodys(reads, id)?.ok_or_else(absent)?;
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
            Ok(Output { text, json, ..Output::default() })
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

refusals!(EraseUserError);
