//! Copies the embedded database while it is in use.

use std::path::Path;

use diesel::prelude::*;
use diesel::sql_types::Text;

use crate::access::OpenError;
use crate::connect::sqlite::{connect_to_file, require_file};

/// Writes a consistent copy of the database into a new file, which needs no log. Readers and writers are not
/// blocked; the log of the original grows until the copy is complete.
pub fn copy_sqlite(from: &Path, to: &Path) -> Result<(), OpenError> {
    require_file(from)?;
    let failed = |e: &dyn std::fmt::Display| OpenError::failed_because("the database cannot be copied", e);
    let to = to.to_str().ok_or_else(|| OpenError::Url("the copy's path is not UTF-8".into()))?;
    let mut conn = connect_to_file(from)?;
    diesel::sql_query("PRAGMA busy_timeout = 5000").execute(&mut conn).map_err(|e| failed(&e))?;
    diesel::sql_query("VACUUM INTO ?").bind::<Text, _>(to).execute(&mut conn).map_err(|e| failed(&e))?;
    Ok(())
}
