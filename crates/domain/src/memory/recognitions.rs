//! Recognitions.

use std::cmp::Reverse;

use super::Unit;
use super::data::{Data, count, page_of};
use crate::ledger::require;
use crate::model::Recognition;
use crate::ports::{ReadRecognitions, Recognitions, Role, StoreError};
use crate::values::{Message, Page, RecognitionId, UserId};

impl Data {
    // No company has the id of a user, so the id alone finds what a user sent.
    fn recognitions_of(&self, user: UserId, role: Role) -> impl Iterator<Item = &Recognition> {
        self.recognitions.values().filter(move |recognition| match role {
            Role::Receiver => recognition.receiver_id == user,
            Role::Sender => recognition.sender.id() == user.as_uuid(),
        })
    }
}

impl ReadRecognitions for Unit {
    fn recognitions(&mut self, user: UserId, role: Role, page: Page) -> Result<Vec<Recognition>, StoreError> {
        self.read(|data| {
            let newest = |recognition: &Recognition| Reverse((recognition.created_at, recognition.id));
            page_of(data.recognitions_of(user, role).cloned(), newest, page)
        })
    }

    fn recognition(&mut self, id: RecognitionId) -> Result<Option<Recognition>, StoreError> {
        self.read(|data| data.recognitions.get(&id).cloned())
    }

    fn recognition_count(&mut self, user: UserId, role: Role) -> Result<i64, StoreError> {
        self.read(|data| count(data.recognitions_of(user, role)))
    }
}

impl Data {
    pub(super) fn insert_recognitions<'a>(
        &mut self,
        new: impl Iterator<Item = &'a Recognition>,
    ) -> Result<(), StoreError> {
        for recognition in new {
            require(
                recognition.sender.id() != recognition.receiver_id.as_uuid(),
                "a recognition goes to somebody else",
            )?;
            let is_new = self.recognitions.insert(recognition.id, recognition.clone()).is_none();
            require(is_new, "a recognition has this id")?;
        }
        Ok(())
    }
}

impl Recognitions for Unit {
    fn amend_recognition(
        &mut self,
        id: RecognitionId,
        message: Option<&Message>,
        share: Option<bool>,
    ) -> Result<(), StoreError> {
        self.run(|data| {
            if let Some(recognition) = data.recognitions.get_mut(&id) {
                recognition.message = message.unwrap_or(&recognition.message).clone();
                recognition.share = share.unwrap_or(recognition.share);
            }
            Ok(())
        })
    }
}
