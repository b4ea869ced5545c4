//! Recognitions.

use super::StoreError;
use crate::model::Recognition;
use crate::values::{Message, Page, RecognitionId, UserId};

/// The two ends of a recognition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Receiver,
    Sender,
}

pub trait ReadRecognitions {
    /// A page of the recognitions in which a user has a role, newest first, ties by id.
    fn recognitions(&mut self, user: UserId, role: Role, page: Page) -> Result<Vec<Recognition>, StoreError>;

    /// The recognition of an id, whoever's it is: for the operator.
    fn recognition(&mut self, id: RecognitionId) -> Result<Option<Recognition>, StoreError>;

    /// How many recognitions all pages list.
    fn recognition_count(&mut self, user: UserId, role: Role) -> Result<i64, StoreError>;
}

/// Writing recognitions.
pub trait Recognitions: ReadRecognitions {
    /// Writes what was amended of a recognition that this transaction holds; what is `None` stays.
    fn amend_recognition(
        &mut self,
        id: RecognitionId,
        message: Option<&Message>,
        share: Option<bool>,
    ) -> Result<(), StoreError>;
}
