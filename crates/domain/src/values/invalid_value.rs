//! Why a value was refused.

/// The condition that a refused value must meet: the end of a message, such as `must be a UUID`.
///
/// The caller prepends the name of the field: `user_id must be a UUID` (behaviour 5.3). The message never
/// contains the refused value, so that no client input gets into responses and logs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidValue(pub &'static str);
