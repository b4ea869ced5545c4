//! Recognitions.

use super::{Lookup, StoreError};
use crate::model::Recognition;
use crate::values::{Message, Page, ProviderId, RecognitionId, UserId};

/// The role of a user in a recognition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Receiver,
    Sender,
}

pub trait ReadRecognitions {
    /// A page of the recognitions in which a user has a role, newest first, ties by id.
    fn list_recognitions(
        &mut self,
        user: UserId,
        role: Role,
        page: Page,
    ) -> Result<Vec<Recognition>, StoreError>;

    /// Looks up a recognition. It belongs to the provider that its company has now.
    fn find_recognition(
        &mut self,
        scope: ProviderId,
        id: RecognitionId,
    ) -> Result<Lookup<Recognition>, StoreError>;

    /// Looks up a recognition of any provider. For the operator.
    fn find_recognition_any_provider(&mut self, id: RecognitionId)
    -> Result<Option<Recognition>, StoreError>;

    /// The number of recognitions on all pages.
    fn count_recognitions(&mut self, user: UserId, role: Role) -> Result<i64, StoreError>;
}

/// Writes recognitions.
pub trait Recognitions: ReadRecognitions {
    /// Writes the amended fields of a recognition that this transaction has locked. Fields that are `None` do
    /// not change; at least one is `Some`.
    fn amend_recognition(
        &mut self,
        id: RecognitionId,
        message: Option<&Message>,
        share: Option<bool>,
    ) -> Result<(), StoreError>;
}
