//! Where the files of tests are. Databases are made and dropped by the hundred, which takes a disk several times as long.

use std::path::{Path, PathBuf};

use rustix::fs::{StatVfsMountFlags, statvfs};

/// The file system in memory that Linux has.
const MEMORY: &str = "/dev/shm";

/// The tests fill less than half of it.
const FREE_BYTES_MIN: u64 = 6 << 30;

/// Returns the folder for files that a run of the tests leaves behind when it ends: one in memory if that has enough
/// room and may hold programs, else the usual one for temporary files.
pub(crate) fn temporary_folder() -> PathBuf {
    let is_fit = statvfs(MEMORY).is_ok_and(|found| {
        let free_bytes = found.f_bavail.saturating_mul(found.f_frsize);
        free_bytes >= FREE_BYTES_MIN && !found.f_flag.contains(StatVfsMountFlags::NOEXEC)
    });
    if is_fit { Path::new(MEMORY).to_path_buf() } else { std::env::temp_dir() }
}
