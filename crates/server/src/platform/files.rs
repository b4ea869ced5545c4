//! Reads files, and creates or replaces files atomically with mode 0600.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Read as _, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{CWD, Mode, OFlags, RenameFlags, renameat_with};
use rustix::io::Errno;
use zeroize::Zeroizing;

use super::{random, user};

/// The maximum size of a file with settings or a key.
const SMALL_FILE_BYTES_MAX: u64 = 1 << 20;

/// Appends a suffix to the name of a file.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Reads a file or a pipe of at most 1 MiB as UTF-8. Fails if it is larger or not UTF-8.
pub(crate) fn read_small_text(path: &Path) -> std::io::Result<Zeroizing<String>> {
    let bytes =
        read_bounded(path, SMALL_FILE_BYTES_MAX)?.ok_or_else(|| Error::other("it is larger than 1 MiB"))?;
    String::from_utf8(bytes).map(Zeroizing::new).map_err(|_bytes| Error::other("it is not UTF-8"))
}

/// Reads a file or a pipe. Returns `None` if it has more than `bytes_max` bytes, without reading the rest.
pub(crate) fn read_bounded(path: &Path, bytes_max: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let read = File::open(path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    Ok(u64::try_from(read).is_ok_and(|length| length <= bytes_max).then_some(bytes))
}

/// Creates a folder of mode 0700, with its parents. An existing folder keeps its mode.
pub(crate) fn ensure_private_folder(path: &Path) -> anyhow::Result<()> {
    let created = DirBuilder::new().recursive(true).mode(0o700).create(path);
    created.with_context(|| format!("cannot create the folder {}", path.display()))
}

/// Fails if a folder belongs to another user. If this process runs as root, that user could not read the files that the
/// process creates there. Succeeds if the folder is missing.
pub(crate) fn require_own_folder(folder: &Path) -> anyhow::Result<()> {
    // The caller reports a missing folder.
    let Ok(owner) = folder.metadata().map(|metadata| metadata.uid()) else { return Ok(()) };
    let current_user = effective_uid();
    if owner != current_user {
        bail!(
            "{} belongs to {}: run this command as that user, not as {}",
            folder.display(),
            user::name_of(owner),
            user::name_of(current_user)
        );
    }
    Ok(())
}

/// Creates an empty file of mode 0600. An existing file does not change. Fails if an existing file is empty and belongs
/// to another user, who could read its later contents. Never creates the target of a symbolic link.
pub(crate) fn ensure_private_file(path: &Path) -> anyhow::Result<()> {
    match create_new_file(path) {
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => {}
        created => return created.map(drop).with_context(|| format!("cannot create {}", path.display())),
    }
    let existing = path.metadata().with_context(|| format!("cannot access {}", path.display()))?;
    if existing.len() == 0 && existing.uid() != effective_uid() {
        bail!("{} is empty and belongs to {}: remove it", path.display(), user::name_of(existing.uid()));
    }
    Ok(())
}

/// Creates a file of mode 0600. Fails with `AlreadyExists` if anything has this name, even a symbolic link to nothing.
pub(crate) fn create_new_file(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)
}

/// Opens a file for locking, and creates it with mode 0600 if it is missing.
pub(crate) fn open_lock_file(path: &Path) -> std::io::Result<File> {
    create_new_file(path).or_else(|cause| match cause.kind() {
        ErrorKind::AlreadyExists => OpenOptions::new().write(true).open(path),
        _ => Err(cause),
    })
}

/// Writes a new file of mode 0600. Returns `false` if a file has this name already.
pub(crate) fn create_private_file(path: &Path, content: &[u8]) -> anyhow::Result<bool> {
    let temporary = write_temporary(path, content)?;
    let linked = move_to_new_name(&temporary, path);
    let _gone = fs::remove_file(&temporary);
    linked
}

/// Moves a synced file to its final name and syncs the folder. Returns `false` if something has that name already.
pub(crate) fn move_to_new_name(temporary: &Path, path: &Path) -> anyhow::Result<bool> {
    // Unlike a rename, a hard link never replaces a file. File systems without hard links need a rename with
    // `NOREPLACE`.
    let linked = fs::hard_link(temporary, path).or_else(|cause| match cause.kind() {
        ErrorKind::PermissionDenied | ErrorKind::Unsupported => {
            Ok(renameat_with(CWD, temporary, CWD, path, RenameFlags::NOREPLACE)?)
        }
        _ => Err(cause),
    });
    match linked {
        Ok(()) => sync_folder(path).map(|()| true),
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(cause) => Err(cause).with_context(|| format!("cannot write {}", path.display())),
    }
}

/// Moves a synced file to its final name, replaces an existing file, and syncs the folder.
pub(crate) fn move_over_name(temporary: &Path, path: &Path) -> anyhow::Result<()> {
    fs::rename(temporary, path).with_context(|| format!("cannot write {}", path.display()))?;
    sync_folder(path)
}

/// Writes a file of mode 0600, and replaces an existing file.
pub(crate) fn replace_private_file(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let temporary = write_temporary(path, content)?;
    move_over_name(&temporary, path).inspect_err(|_| drop(fs::remove_file(&temporary)))
}

/// Creates a file of mode 0600 and locks it. Returns `None` if another process holds the lock. A file that a killed
/// process left behind is removed first, and never written to. Fails if anything else has this name.
pub(crate) fn create_locked(partial: &Path) -> std::io::Result<Option<File>> {
    loop {
        let file = match create_new_file(partial) {
            Ok(file) => file,
            Err(cause) if cause.kind() == ErrorKind::AlreadyExists => match remove_abandoned(partial)? {
                true => continue,
                false => return Ok(None),
            },
            Err(cause) => return Err(cause),
        };
        match file.try_lock() {
            // Before this process locked the file, another one may have removed it as abandoned.
            Ok(()) if is_file_at(&file, partial) => return Ok(Some(file)),
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(cause)) => return Err(cause),
        }
    }
}

/// Removes a regular file of this user; returns `false` if another process has it locked.
fn remove_abandoned(partial: &Path) -> std::io::Result<bool> {
    let foreign = || {
        Error::other(format!(
            "{} exists and is not a regular file of this user: remove it, or choose a folder that only this user can write to",
            partial.display()
        ))
    };
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let existing = match rustix::fs::open(partial, flags, Mode::empty()) {
        Ok(existing) => File::from(existing),
        Err(Errno::NOENT) => return Ok(true),
        Err(_unreadable) => return Err(foreign()),
    };
    if !existing.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.uid() == effective_uid()) {
        return Err(foreign());
    }
    match existing.try_lock() {
        Ok(()) if is_file_at(&existing, partial) => fs::remove_file(partial).map(|()| true),
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(cause)) => Err(cause),
    }
}

/// Whether `path` names the file that is open as `file`.
pub(crate) fn is_file_at(file: &File, path: &Path) -> bool {
    let (Ok(named), Ok(open)) = (path.symlink_metadata(), file.metadata()) else { return false };
    (named.dev(), named.ino()) == (open.dev(), open.ino())
}

fn effective_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

fn write_temporary(path: &Path, content: &[u8]) -> anyhow::Result<PathBuf> {
    let temporary = path.with_extension(random::generate_name("new-")?);
    let written = create_new_file(&temporary).and_then(|mut file| {
        let written = file.write_all(content).and_then(|()| file.sync_all());
        written.inspect_err(|_| drop(fs::remove_file(&temporary)))
    });
    written.with_context(|| format!("cannot write {}", temporary.display())).map(|()| temporary)
}

fn sync_folder(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced = fs::File::open(folder).and_then(|folder| folder.sync_all());
    synced.with_context(|| format!("cannot sync {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_folder_of_another_user_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        require_own_folder(folder.path()).unwrap();
        require_own_folder(&folder.path().join("missing")).unwrap();
        // Only root can give a folder to another user. For other users, `/` is a folder of another user.
        let given = std::os::unix::fs::chown(folder.path(), Some(65_534), None).is_ok();
        let others = if given { folder.path() } else { std::path::Path::new("/") };
        let line = require_own_folder(others).unwrap_err().to_string();
        assert!(line.contains(" belongs to ") && line.contains("run this command as that user"), "{line}");
    }

    #[test]
    fn a_file_is_created_once_and_then_only_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/key");
        ensure_private_folder(path.parent().unwrap()).unwrap();
        assert!(create_private_file(&path, b"one").unwrap());
        assert!(!create_private_file(&path, b"two").unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"one");
        replace_private_file(&path, b"three").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"three");
        assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }

    #[test]
    fn a_claimed_file_is_always_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let (partial, other) = (folder.path().join("partial"), folder.path().join("other"));
        std::fs::write(&partial, b"left by a killed process").unwrap();
        std::fs::set_permissions(&partial, std::fs::Permissions::from_mode(0o666)).unwrap();
        let old_file = std::fs::File::open(&partial).unwrap();
        let file = create_locked(&partial).unwrap().unwrap();
        assert!(
            is_file_at(&file, &partial) && !is_file_at(&old_file, &partial),
            "a process that has the old file open cannot read the new one"
        );
        let metadata = file.metadata().unwrap();
        assert_eq!((metadata.len(), metadata.permissions().mode() & 0o777), (0, 0o600));
        assert!(create_locked(&partial).unwrap().is_none(), "the file is locked");
        drop(file);
        std::fs::remove_file(&partial).unwrap();
        std::fs::write(&other, b"kept").unwrap();
        let refused = || create_locked(&partial).unwrap_err().to_string();
        std::os::unix::fs::symlink(&other, &partial).unwrap();
        assert!(refused().contains("not a regular file of this user"), "{}", refused());
        std::fs::remove_file(&partial).unwrap();
        std::os::unix::fs::symlink(folder.path().join("missing"), &partial).unwrap();
        assert!(refused().contains("not a regular file of this user"), "{}", refused());
        std::fs::remove_file(&partial).unwrap();
        std::fs::create_dir(&partial).unwrap();
        assert!(refused().contains("not a regular file of this user"), "{}", refused());
        assert_eq!(std::fs::read(&other).unwrap(), b"kept");
        assert!(!folder.path().join("missing").exists());
    }

    #[test]
    fn the_target_of_a_link_is_not_created_and_an_existing_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (link, target) = (folder.path().join("link"), folder.path().join("target"));
        std::os::unix::fs::symlink(&target, &link).unwrap();
        assert!(ensure_private_file(&link).is_err() && open_lock_file(&link).is_err());
        assert!(!target.exists());
        std::fs::write(&target, b"database").unwrap();
        ensure_private_file(&link).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"database");
    }

    #[test]
    fn an_empty_file_of_another_user_is_not_written_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, b"").unwrap();
        // Only root can give a file to another user.
        if std::os::unix::fs::chown(&path, Some(65_534), None).is_ok() {
            assert!(ensure_private_file(&path).unwrap_err().to_string().contains("remove it"));
            assert!(
                create_locked(&path).unwrap_err().to_string().contains("not a regular file of this user")
            );
        }
    }
}
