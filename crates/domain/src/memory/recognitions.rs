//! Recognitions.

use std::cmp::Reverse;

use super::MemoryTx;
use super::data::{StoreData, count_items, page_of};
use crate::ledger::require_rule;
use crate::model::Recognition;
use crate::ports::{Lookup, ReadRecognitions, Recognitions, Role, StoreError};
use crate::values::{Message, Page, ProviderId, RecognitionId, UserId};

impl StoreData {
    // No company has the id of a user, so the id alone identifies the recognitions that a user sent.
    fn recognitions_of(&self, user: UserId, role: Role) -> impl Iterator<Item = &Recognition> {
        self.recognitions.values().filter(move |recognition| match role {
            Role::Receiver => recognition.receiver_id == user,
            Role::Sender => recognition.sender.id() == user.as_uuid(),
        })
    }
}

impl ReadRecognitions for MemoryTx {
    fn list_recognitions(
        &mut self,
        user: UserId,
        role: Role,
        page: Page,
    ) -> Result<Vec<Recognition>, StoreError> {
        self.query(|data| {
            let newest_first = |recognition: &Recognition| Reverse((recognition.created_at, recognition.id));
            page_of(data.recognitions_of(user, role).cloned(), newest_first, page)
        })
    }

    fn find_recognition(
        &mut self,
        scope: ProviderId,
        id: RecognitionId,
    ) -> Result<Lookup<Recognition>, StoreError> {
        self.query(|data| {
            let with_owner = |recognition: &Recognition| {
                let company = data.companies.get(&recognition.company_id)?;
                Some((company.provider_id, recognition.clone()))
            };
            Lookup::in_scope(scope, data.recognitions.get(&id).and_then(with_owner))
        })
    }

    fn find_recognition_any_provider(
        &mut self,
        id: RecognitionId,
    ) -> Result<Option<Recognition>, StoreError> {
        self.query(|data| data.recognitions.get(&id).cloned())
    }

    fn count_recognitions(&mut self, user: UserId, role: Role) -> Result<i64, StoreError> {
        self.query(|data| count_items(data.recognitions_of(user, role)))
    }
}

impl StoreData {
    pub(super) fn insert_recognitions<'a>(
        &mut self,
        recognitions: impl Iterator<Item = &'a Recognition>,
    ) -> Result<(), StoreError> {
        for recognition in recognitions {
            require_rule(
                recognition.sender.id() != recognition.receiver_id.as_uuid(),
                "a user does not receive a recognition from itself",
            )?;
            let is_new = self.recognitions.insert(recognition.id, recognition.clone()).is_none();
            require_rule(is_new, "recognition ids are unique")?;
        }
        Ok(())
    }
}

impl Recognitions for MemoryTx {
    fn amend_recognition(
        &mut self,
        id: RecognitionId,
        message: Option<&Message>,
        share: Option<bool>,
    ) -> Result<(), StoreError> {
        self.execute(|data| {
            if let Some(recognition) = data.recognitions.get_mut(&id) {
                recognition.message = message.unwrap_or(&recognition.message).clone();
                recognition.share = share.unwrap_or(recognition.share);
            }
            Ok(())
        })
    }
}
