//! The outboxes: events and mails that wait to be sent.

use diesel::prelude::*;
use guerdon_domain::ports::{MailOutbox, NewEvent, NewMail, Outbox, StoreError};

use super::super::BINDS;
use super::Unit;
use crate::rows::{EventRow, MailRow};
use crate::schema::{events, mails};

impl Outbox for Unit<'_> {
    fn queue_events(&mut self, new: &[NewEvent]) -> Result<(), StoreError> {
        for slice in new.chunks(BINDS / EventRow::COLUMNS) {
            let rows: Vec<EventRow<'_>> = slice.iter().map(EventRow::of).collect();
            self.query(|conn| match rows.as_slice() {
                [one] => diesel::insert_into(events::table).values(one).execute(conn),
                many => diesel::insert_into(events::table).values(many).execute(conn),
            })?;
        }
        Ok(())
    }
}

impl MailOutbox for Unit<'_> {
    fn queue_mails(&mut self, new: &[NewMail]) -> Result<(), StoreError> {
        for mail in new {
            let row = MailRow::of(mail);
            self.query(|conn| diesel::insert_into(mails::table).values(&row).execute(conn))?;
        }
        Ok(())
    }
}
