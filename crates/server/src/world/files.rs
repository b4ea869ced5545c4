//! Files that only their owner can read, written whole or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind, Read as _, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use zeroize::Zeroizing;

use super::{random, user};

/// A file of settings or of a key that is larger is something else.
const SMALL: u64 = 1 << 20;

/// The text of a small file, or of a pipe; what goes on and on is none.
pub(crate) fn small_text(path: &Path) -> std::io::Result<Zeroizing<String>> {
    let bytes = bounded(path, SMALL)?.ok_or_else(|| Error::other("it is larger than 1 MiB"))?;
    String::from_utf8(bytes).map(Zeroizing::new).map_err(|_bytes| Error::other("it is not UTF-8"))
}

/// What is in a file, or comes out of a pipe; none where it is more than so many bytes.
pub(crate) fn bounded(path: &Path, bytes_max: u64) -> std::io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let read = File::open(path)?.take(bytes_max + 1).read_to_end(&mut bytes)?;
    Ok(u64::try_from(read).is_ok_and(|it| it <= bytes_max).then_some(bytes))
}

/// Makes a folder of mode 0700, with its parents; one that is there already stays as it is.
pub(crate) fn ensure_private_folder(path: &Path) -> anyhow::Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.with_context(|| format!("cannot make the folder {}", path.display()))
}

/// Refuses a folder of another user: what is written there by this one, were it root, its owner could not use any more.
pub(crate) fn require_own(folder: &Path) -> anyhow::Result<()> {
    let Ok(owner) = folder.metadata().map(|it| it.uid()) else { return Ok(()) }; // others say what is missing
    let own = rustix::process::geteuid().as_raw();
    if owner != own {
        bail!(
            "{} belongs to {}: run this command as that user, not as {}",
            folder.display(),
            user::named(owner),
            user::named(own)
        );
    }
    Ok(())
}

/// Makes an empty file of mode 0600; one that is there already stays as it is.
pub(crate) fn ensure_private_file(path: &Path) -> anyhow::Result<()> {
    let made = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    made.map(|_| ()).with_context(|| format!("cannot make {}", path.display()))
}

/// Writes a file of mode 0600 where none is; `false` where one is already.
pub(crate) fn create_private_file(path: &Path, content: &[u8]) -> anyhow::Result<bool> {
    let beside = write_beside(path, content)?;
    let placed = place_new(&beside, path);
    let _gone = fs::remove_file(&beside);
    placed
}

/// Gives a file that is on the disk the name that it is to have; `false` where something has that name already.
pub(crate) fn place_new(beside: &Path, path: &Path) -> anyhow::Result<bool> {
    // Unlike a rename, a link does not replace; where a file system has no links, the kernel may be asked not to.
    let placed = fs::hard_link(beside, path).or_else(|cause| match cause.kind() {
        ErrorKind::PermissionDenied | ErrorKind::Unsupported => {
            Ok(renameat_with(CWD, beside, CWD, path, RenameFlags::NOREPLACE)?)
        }
        _ => Err(cause),
    });
    match placed {
        Ok(()) => sync_folder(path).map(|()| true),
        Err(cause) if cause.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(cause) => Err(cause).with_context(|| format!("cannot write {}", path.display())),
    }
}

/// Writes a file of mode 0600 in place of one that may be there.
pub(crate) fn replace_private_file(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let beside = write_beside(path, content)?;
    fs::rename(&beside, path).with_context(|| format!("cannot write {}", path.display()))?;
    sync_folder(path)
}

/// An empty file that is ours alone while we hold it, and that nobody else can read; none while it is another's. What one
/// who was killed has left is begun anew.
pub(crate) fn claim(partial: &Path) -> std::io::Result<Option<File>> {
    loop {
        let own = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(partial)?;
        match own.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(cause)) => return Err(cause),
        }
        // Whoever held it before us may have taken it away meanwhile.
        if partial.metadata().is_ok_and(|it| own.metadata().is_ok_and(|own| own.ino() == it.ino())) {
            own.set_len(0)?;
            return Ok(Some(own));
        }
    }
}

fn write_beside(path: &Path, content: &[u8]) -> anyhow::Result<PathBuf> {
    let beside = path.with_extension(random::name("new-")?);
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&beside)
        .and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()));
    written.with_context(|| format!("cannot write {}", beside.display())).map(|()| beside)
}

fn sync_folder(path: &Path) -> anyhow::Result<()> {
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let synced = fs::File::open(folder).and_then(|it| it.sync_all());
    synced.with_context(|| format!("cannot sync {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::{create_private_file, ensure_private_folder, replace_private_file, require_own};

    #[test]
    fn a_folder_of_another_user_is_refused_by_name() {
        let own = tempfile::tempdir().unwrap();
        require_own(own.path()).unwrap();
        require_own(&own.path().join("missing")).unwrap();
        // Root may give its folder away, and everybody else has none of root's.
        let given = std::os::unix::fs::chown(own.path(), Some(65_534), None).is_ok();
        let others = if given { own.path() } else { std::path::Path::new("/") };
        let line = require_own(others).unwrap_err().to_string();
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
        let mode = |it: &std::path::Path| std::fs::metadata(it).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    }
}
