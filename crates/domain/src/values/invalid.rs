//! Why a value was refused.

/// What a refused value must be: the tail of a message, such as `must be a UUID`.
///
/// The caller puts the field's name before it: `user_id must be a UUID` (behaviour 5.3). It never repeats the
/// refused value, so that nothing foreign gets into answers and logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidValue(pub &'static str);
