//! The parsers of commands, for fuzzing.

pub(crate) use super::arguments::points_argument::parse_points;
pub(crate) use super::arguments::time::parse_time;
pub(crate) use super::import::{ImportFormat, read_whole_and_in_parts};
pub(crate) use super::saml::metadata::parse_metadata;
