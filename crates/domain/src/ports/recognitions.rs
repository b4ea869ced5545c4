//! Recognitions.

use super::StoreError;
use crate::model::Recognition;
use crate::values::{Message, Page, RecognitionId, UserId};

/// The role of a user in a recognition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Receiver,
    Sender,
}

pub trait ReadRecognitions {
    /// A page of the recognitions in which a user has a role, newest first, ties by id.
    fn recognitions(&mut self, user: UserId, role: Role, page: Page) -> Result<Vec<Recognition>, StoreError>;

    /// Looks up a recognition of any provider. For the operator.
    fn recognition(&mut self, id: RecognitionId) -> Result<Option<Recognition>, StoreError>;

    /// The number of recognitions on all pages.
    fn recognition_count(&mut self, user: UserId, role: Role) -> Result<i64, StoreError>;
}

/// Writes recognitions.
pub trait Recognitions: ReadRecognitions {
    /// Writes the amended fields of a recognition that this transaction has locked. Fields that are `None` do
    /// not change.
    fn amend_recognition(
        &mut self,
        id: RecognitionId,
        message: Option<&Message>,
        share: Option<bool>,
    ) -> Result<(), StoreError>;
}
