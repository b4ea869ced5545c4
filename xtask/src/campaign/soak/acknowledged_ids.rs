//! Compares the acknowledged recognitions of a long load with the ledger by their ids, with little memory.
//!
//! An id begins with the time of its creation (UUID version 7). The acknowledged ids of each minute are kept in one
//! file and compared with the ids of the same minute in the ledger.

use std::collections::BTreeMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

use crate::campaign::context::temporary_folder;
use crate::campaign::ledger::plain_id;
use crate::campaign::sql::SqlClient;

/// How many ids are kept in memory before they are written to files.
const BUFFERED_IDS_MAX: usize = 65_536;
const ID_BYTES: usize = 16;
/// The bits of an id after its time in milliseconds.
const BITS_AFTER_TIME: u32 = 80;
const MINUTE_MILLISECONDS: u128 = 60_000;

/// The ids of acknowledged recognitions.
pub(super) struct AcknowledgedIds {
    folder: TempDir,
    ids: Mutex<Ids>,
}

#[derive(Default)]
struct Ids {
    count: usize,
    /// Ids that are not in a file yet, by minute.
    buffered: BTreeMap<u128, Vec<u128>>,
    buffered_count: usize,
    /// For each minute that has a file, the number of its ids.
    written: BTreeMap<u128, usize>,
}

impl AcknowledgedIds {
    pub(super) fn new() -> Result<Self> {
        Ok(Self { folder: temporary_folder()?, ids: Mutex::default() })
    }

    /// Records the id of an acknowledged recognition.
    pub(super) fn add(&self, id: &str) -> Result<()> {
        let id = parse_id(id)?;
        let mut ids = self.lock();
        ids.count += 1;
        ids.buffered.entry((id >> BITS_AFTER_TIME) / MINUTE_MILLISECONDS).or_default().push(id);
        ids.buffered_count += 1;
        if ids.buffered_count >= BUFFERED_IDS_MAX { self.write_buffered(&mut ids) } else { Ok(()) }
    }

    /// Returns the number of acknowledged recognitions.
    pub(super) fn count(&self) -> usize {
        self.lock().count
    }

    /// Counts the acknowledged ids that the ledger contains. An id that was acknowledged several times counts once.
    pub(super) fn count_recorded(&self, sql: &SqlClient) -> Result<usize> {
        self.count_among(|ids| read_ids(sql, &ids))
    }

    /// Counts the acknowledged ids among those that `read_ids` returns for a range of ids.
    fn count_among(&self, read_ids: impl Fn(Range<u128>) -> Result<Vec<u128>>) -> Result<usize> {
        let mut ids = self.lock();
        self.write_buffered(&mut ids)?;
        let mut count = 0;
        for (minute, written) in &ids.written {
            let [start, end] =
                [*minute, *minute + 1].map(|minute| (minute * MINUTE_MILLISECONDS) << BITS_AFTER_TIME);
            let mut recorded = read_ids(start..end)?;
            recorded.sort_unstable();
            let mut acknowledged = self.read_file(*minute, *written)?;
            acknowledged.sort_unstable();
            acknowledged.dedup();
            count += acknowledged.iter().filter(|id| recorded.binary_search(id).is_ok()).count();
        }
        Ok(count)
    }

    fn lock(&self) -> MutexGuard<'_, Ids> {
        self.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, minute: u128) -> PathBuf {
        self.folder.path().join(minute.to_string())
    }

    /// Appends the buffered ids to the files of their minutes.
    fn write_buffered(&self, ids: &mut Ids) -> Result<()> {
        ids.buffered_count = 0;
        for (minute, buffered) in std::mem::take(&mut ids.buffered) {
            let bytes: Vec<u8> = buffered.iter().flat_map(|id| id.to_be_bytes()).collect();
            OpenOptions::new().append(true).create(true).open(self.file(minute))?.write_all(&bytes)?;
            *ids.written.entry(minute).or_default() += buffered.len();
        }
        Ok(())
    }

    fn read_file(&self, minute: u128, count: usize) -> Result<Vec<u128>> {
        let bytes = std::fs::read(self.file(minute))?;
        ensure!(bytes.len() == count * ID_BYTES, "the ids of minute {minute} are not complete");
        bytes.chunks(ID_BYTES).map(|id| Ok(u128::from_be_bytes(id.try_into()?))).collect()
    }
}

/// Returns the ids of the recognitions in the ledger that are within a range.
fn read_ids(sql: &SqlClient, ids: &Range<u128>) -> Result<Vec<u128>> {
    let literal = |id: u128| if sql.is_sqlite() { format!("x'{id:032x}'") } else { format!("'{id:032x}'") };
    let (start, end) = (literal(ids.start), literal(ids.end));
    let rows = sql.run_sql(&format!("SELECT id FROM recognitions WHERE id >= {start} AND id < {end}"))?;
    rows.lines().map(parse_id).collect()
}

fn parse_id(id: &str) -> Result<u128> {
    u128::from_str_radix(&plain_id(id), 16).with_context(|| format!("`{id}` is not an id"))
}

#[cfg(test)]
mod tests {
    use super::{AcknowledgedIds, BUFFERED_IDS_MAX, parse_id};

    const ID: &str = "01a1fdd4-8a51-741c-a29d-73192bacd34c";
    const OTHER_ID_OF_THE_MINUTE: &str = "01a1fdd4-8a51-741c-a29d-000000000000";
    const LATER_ID: &str = "01a1fdd5-8a51-741c-a29d-000000000000";

    /// Counts the acknowledged ids among the recorded ones.
    fn count_recorded(acknowledged: &[&str], recorded: &[&str]) -> usize {
        let ids = AcknowledgedIds::new().unwrap();
        acknowledged.iter().for_each(|id| ids.add(id).unwrap());
        assert_eq!(ids.count(), acknowledged.len());
        let recorded: Vec<u128> = recorded.iter().map(|id| parse_id(id).unwrap()).collect();
        ids.count_among(|range| Ok(recorded.iter().copied().filter(|id| range.contains(id)).collect()))
            .unwrap()
    }

    #[test]
    fn each_acknowledged_id_is_counted_once_if_it_is_recorded() {
        assert_eq!(count_recorded(&[ID, LATER_ID], &[LATER_ID, ID]), 2);
        assert_eq!(count_recorded(&[ID, LATER_ID], &[OTHER_ID_OF_THE_MINUTE, LATER_ID]), 1);
        assert_eq!(count_recorded(&[ID, ID], &[ID, OTHER_ID_OF_THE_MINUTE]), 1);
        assert_eq!(count_recorded(&[ID], &[]), 0);
    }

    #[test]
    fn ids_beyond_the_buffer_are_counted() {
        let ids = AcknowledgedIds::new().unwrap();
        let first = parse_id(ID).unwrap();
        let all: Vec<u128> = (first..).take(BUFFERED_IDS_MAX + 1).collect();
        all.iter().for_each(|id| ids.add(&format!("{id:032x}")).unwrap());
        assert_eq!(ids.lock().buffered_count, 1);
        assert_eq!(ids.count_among(|_| Ok(all.clone())).unwrap(), BUFFERED_IDS_MAX + 1);
    }
}
