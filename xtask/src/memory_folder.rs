//! Chooses the folder for the files of tests. Tests create and drop hundreds of databases, which takes several times
//! as long on a disk as in memory.

use std::path::{Path, PathBuf};

use rustix::fs::{StatVfsMountFlags, statvfs};

/// Linux's in-memory file system.
const MEMORY: &str = "/dev/shm";

/// The free space that the in-memory file system must have. The tests fill less than half of it.
const FREE_BYTES_MIN: u64 = 6 << 30;

/// Returns the folder for the files of a test run: one in memory if it has enough free space and permits running
/// programs, otherwise the usual folder for temporary files.
pub(crate) fn temporary_folder() -> PathBuf {
    let is_fit = statvfs(MEMORY).is_ok_and(|found| {
        let free_bytes = found.f_bavail.saturating_mul(found.f_frsize);
        free_bytes >= FREE_BYTES_MIN && !found.f_flag.contains(StatVfsMountFlags::NOEXEC)
    });
    if is_fit { Path::new(MEMORY).to_path_buf() } else { std::env::temp_dir() }
}
