//! A batch of imported rows, in a few statements: their users are looked up together, and the new ones created together.
//! The result is the one of the rows one after the other.

use std::collections::HashSet;

use guerdon_domain::ports::{Context, Tx};
use guerdon_domain::users::{
    CreateUserError, Found, Key, Profile, UpdateUserError, User, create_all, find_all, update, would_change,
};
use guerdon_domain::values::{CompanyId, EmailAddress, Line, ProviderId, UserId};
use guerdon_http_api::rows::{changed_user, new_user};
use serde_json::{Map, Value};

use super::CommandError;
use super::import_file::Row;

/// What became of one row.
pub(super) enum Done {
    Created,
    Updated,
    Unchanged,
    /// With the reason.
    Refused(String),
}

/// Creates or updates the users of these rows. Returns what became of each, in their order.
pub(super) fn import(
    tx: &mut dyn Tx,
    place: (ProviderId, CompanyId),
    rows: &[Row],
    context: &Context<'_>,
) -> Result<Vec<Done>, CommandError> {
    let keys: Vec<Key> = rows.iter().map(|row| row.fields.as_ref().map(key).unwrap_or_default()).collect();
    let found = find_all(tx, place.1, &keys)?;
    let mut batch = Batch {
        tx,
        place,
        context,
        done: Vec::with_capacity(rows.len()),
        new: Vec::new(),
        seen: Seen::default(),
    };
    for ((row, key), found) in rows.iter().zip(&keys).zip(found) {
        let done = match &row.fields {
            Ok(fields) => batch.take(fields, key, found)?,
            Err(why) => Some(Done::Refused(why.clone())),
        };
        batch.done.push(done);
    }
    batch.create()?;
    Ok(batch.done.into_iter().flatten().collect())
}

/// Invalid values name nobody: reading the field reports them.
fn key(row: &Map<String, Value>) -> Key {
    Key {
        employee_id: text(row, "employee_id").and_then(|it| Line::parse(it).ok()),
        email: text(row, "email").and_then(|it| EmailAddress::parse(it).ok()),
    }
}

fn text<'a>(row: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    row.get(name).and_then(Value::as_str).filter(|it| !it.is_empty())
}

struct Batch<'a> {
    tx: &'a mut dyn Tx,
    place: (ProviderId, CompanyId),
    context: &'a Context<'a>,
    /// None for rows whose users are in `new`.
    done: Vec<Option<Done>>,
    /// Users to be created, with the places of their rows in `done`.
    new: Vec<(usize, Profile)>,
    seen: Seen,
}

impl Batch<'_> {
    /// Does what a row says, or keeps it in `new` and returns None. `found` is whom it was about before the batch.
    fn take(
        &mut self,
        row: &Map<String, Value>,
        key: &Key,
        found: Found,
    ) -> Result<Option<Done>, CommandError> {
        if text(row, "employee_id").is_none() && text(row, "email").is_none() {
            return Ok(Some(Done::Refused("employee_id or email is required".to_owned())));
        }
        let found = if self.seen.may_concern(key, &found) {
            self.create()?;
            let now = find_all(self.tx, self.place.1, std::slice::from_ref(key))?.pop();
            now.unwrap_or(Found::Nobody)
        } else {
            found
        };
        self.seen.add(key);
        match found {
            Found::One(user) => self.change(&user, row).map(Some),
            Found::Several => {
                Ok(Some(Done::Refused("several active users have this employee_id".to_owned())))
            }
            Found::Nobody => match new_user(self.place.1, row) {
                Ok(profile) => {
                    self.new.push((self.done.len(), profile));
                    Ok(None)
                }
                Err(why) => Ok(Some(Done::Refused(why))),
            },
        }
    }

    fn change(&mut self, user: &User, row: &Map<String, Value>) -> Result<Done, CommandError> {
        let command = match changed_user(row) {
            Ok(command) => command,
            Err(why) => return Ok(Done::Refused(why)),
        };
        if !would_change(user, &command) {
            return Ok(Done::Unchanged);
        }
        match update(self.tx, self.place.0, user.id, &command, self.context) {
            Ok(after) if after == *user => Ok(Done::Unchanged),
            Ok(_) => {
                self.seen.changed.insert(user.id);
                Ok(Done::Updated)
            }
            Err(UpdateUserError::Store(cause)) => Err(cause.into()),
            Err(why) => Ok(Done::Refused(why.to_string())),
        }
    }

    /// Creates the users in `new`.
    fn create(&mut self) -> Result<(), CommandError> {
        if self.new.is_empty() {
            return Ok(());
        }
        let (scope, company) = self.place;
        let (places, profiles): (Vec<usize>, Vec<Profile>) = self.new.drain(..).unzip();
        let refused = |why: &CreateUserError| Done::Refused(why.to_string());
        let done: Vec<Done> = match create_all(self.tx, scope, company, profiles, self.context) {
            Ok(created) => {
                let done = |it| if it { Done::Created } else { refused(&CreateUserError::EmailTaken) };
                created.into_iter().map(done).collect()
            }
            Err(CreateUserError::Store(cause)) => return Err(cause.into()),
            Err(why) => places.iter().map(|_| refused(&why)).collect(),
        };
        for (place, done) in places.into_iter().zip(done) {
            if let Some(of_row) = self.done.get_mut(place) {
                *of_row = Some(done);
            }
        }
        Ok(())
    }
}

/// What earlier rows of the batch may have changed since its users were looked up.
#[derive(Default)]
struct Seen {
    employee_ids: HashSet<Line>,
    /// Folded.
    emails: HashSet<String>,
    /// Users that were updated, and may have another address or employee id by now.
    changed: HashSet<UserId>,
}

impl Seen {
    fn add(&mut self, key: &Key) {
        self.employee_ids.extend(key.employee_id.clone());
        self.emails.extend(key.email.as_ref().map(|it| it.folded().to_owned()));
    }

    /// Whether an earlier row may have made this another user than the one that was found.
    fn may_concern(&self, key: &Key, found: &Found) -> bool {
        key.employee_id.as_ref().is_some_and(|it| self.employee_ids.contains(it))
            || key.email.as_ref().is_some_and(|it| self.emails.contains(it.folded()))
            || match found {
                Found::One(user) => self.changed.contains(&user.id),
                Found::Several => !self.changed.is_empty(),
                Found::Nobody => false,
            }
    }
}
