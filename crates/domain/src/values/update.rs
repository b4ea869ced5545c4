//! The three states of a field in a PUT request.

/// What an update does to a nullable field (behaviour 7.1). An absent field, null and a value are distinct.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Update<T> {
    /// The field was not sent; it does not change.
    #[default]
    Keep,
    /// The field was sent as null; it becomes unset.
    Clear,
    /// The field was sent with a value.
    Set(T),
}

impl<T> Update<T> {
    /// The value of the field after the update of `current`.
    pub fn apply(self, current: Option<T>) -> Option<T> {
        match self {
            Self::Keep => current,
            Self::Clear => None,
            Self::Set(value) => Some(value),
        }
    }
}

impl<T: Clone + PartialEq> Update<T> {
    /// Updates a field. A value that equals the current one is not stored: an address that differs only in
    /// case does not replace it.
    pub fn apply_to_field(&self, field: &mut Option<T>) {
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
    fn absent_null_and_a_value_are_distinct() {
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
