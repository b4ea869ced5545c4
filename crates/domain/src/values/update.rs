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

impl<T: Clone + PartialEq> Update<T> {
    /// Updates a field. A value that equals the current one is not stored: an address that differs only in
    /// case does not replace it.
    pub fn apply_to_field(&self, field: &mut Option<T>) {
        match self {
            Self::Set(value) if field.as_ref() != Some(value) => *field = Some(value.clone()),
            Self::Clear => *field = None,
            Self::Keep | Self::Set(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_null_and_a_value_are_distinct() {
        let check = |update: Update<i32>, mut field, expected| {
            update.apply_to_field(&mut field);
            assert_eq!(field, expected);
        };
        check(Update::Keep, Some(1), Some(1));
        check(Update::Keep, None, None);
        check(Update::Clear, Some(1), None);
        check(Update::Clear, None, None);
        check(Update::Set(2), Some(1), Some(2));
        check(Update::Set(2), None, Some(2));
        assert_eq!(Update::<i32>::default(), Update::Keep);
    }
}
