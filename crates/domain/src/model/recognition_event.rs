//! An event about a recognition.

use super::{Person, Recognition};

/// The sender as an event names it.
#[derive(Debug, Clone)]
pub struct SenderName<'a> {
    /// The full name of a user, or the company's name.
    pub name: &'a str,
    /// The user's address; none for a company.
    pub email: Option<&'a str>,
}

/// A recognition with the names an event carries.
#[derive(Debug, Clone)]
pub struct RecognitionEvent<'a> {
    pub recognition: &'a Recognition,
    pub sender: &'a SenderName<'a>,
    pub receiver: &'a Person,
    pub occasion_name: &'a str,
}
