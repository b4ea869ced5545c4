//! The three things that a PUT can say about a field.

/// What an update does to a field that may be null (behaviour 7.1): absent, null and a value are three things.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Update<T> {
    /// The field was not sent; it stays as it is.
    #[default]
    Keep,
    /// The field was sent as null; it becomes unset.
    Clear,
    /// The field was sent with a value.
    Set(T),
}

impl<T> Update<T> {
    /// The field's value after the update of `current`.
    pub fn apply(self, current: Option<T>) -> Option<T> {
        match self {
            Self::Keep => current,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }
}

impl<T: Clone + PartialEq> Update<T> {
    /// Updates a field; a value that equals the present one leaves that as it is, since addresses are equal without
    /// case.
    pub fn change(&self, field: &mut Option<T>) {
        let updated = self.clone().apply(field.clone());
        if updated != *field {
            *field = updated;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_null_and_a_value_are_three_things() {
        let check = |update: Update<i32>, current, expected| assert_eq!(update.apply(current), expected);
        check(Update::Keep, Some(1), Some(1));
        check(Update::Keep, None, None);
        check(Update::Clear, Some(1), None);
        check(Update::Clear, None, None);
        check(Update::Set(2), Some(1), Some(2));
        check(Update::Set(2), None, Some(2));
        assert_eq!(Update::<i32>::default(), Update::Keep);
    }
}
