//! Recognitions.

use super::StoreError;
use crate::recognitions::Recognition;
use crate::values::{Page, RecognitionId, UserId};

/// The two ends of a recognition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Who received it.
    Receiver,
    /// Who sent it.
    Sender,
}

/// Reading recognitions.
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
    /// Adds recognitions, any number of them.
    fn insert_recognitions(&mut self, recognitions: &[Recognition]) -> Result<(), StoreError>;

    /// Writes message and publicity of a recognition that this transaction holds.
    fn update_recognition(&mut self, recognition: &Recognition) -> Result<(), StoreError>;
}
