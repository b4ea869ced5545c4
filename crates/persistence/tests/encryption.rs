//! Encrypted connections that PgBouncer terminates in front of the database (docs/operating.md, `sslmode`).

use std::fs::{Permissions, set_permissions, write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use guerdon_persistence::migrate;
use guerdon_persistence::testing::postgres_if_covered;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use tempfile::TempDir;

use crate::poolers::Pooler;

/// Creates the files of a certificate for this name and of its key, readable by every user.
fn certificate(folder: &Path, name: &str) -> (PathBuf, PathBuf) {
    let CertifiedKey { cert, signing_key } = generate_simple_self_signed([name.to_owned()]).unwrap();
    let (certificate, key) = (folder.join(format!("{name}.pem")), folder.join(format!("{name}.key")));
    for (file, text) in [(&certificate, cert.pem()), (&key, signing_key.serialize_pem())] {
        write(file, text).unwrap();
        set_permissions(file, Permissions::from_mode(0o644)).unwrap();
    }
    (certificate, key)
}

#[test]
fn a_server_is_trusted_only_by_its_certificate() {
    if let Some(database) = postgres_if_covered() {
        let folder = TempDir::new().unwrap();
        set_permissions(folder.path(), Permissions::from_mode(0o755)).unwrap();
        let (own, key) = certificate(folder.path(), "localhost");
        let (another, _) = certificate(folder.path(), "db.example.com");
        let encrypted = format!(
            "client_tls_sslmode = require\nclient_tls_cert_file = {}\nclient_tls_key_file = {}\npool_mode = session",
            own.display(),
            key.display()
        );
        let Some(pooler) = Pooler::start_pooler(&encrypted, &database) else { return };
        let Some(plain) = Pooler::start_pooler("pool_mode = session", &database) else { return };
        let try_it = |pooler: &Pooler, host: &str, ssl: &str| {
            migrate(&pooler.database_url(host, ssl)).map(drop).map_err(|cause| cause.to_string())
        };
        let root = |file: &Path| format!("sslmode=verify-full&sslrootcert={}", file.display());
        assert_eq!(try_it(&pooler, "localhost", &root(&own)), Ok(()));
        let refused = [
            (try_it(&pooler, "localhost", &root(&another)), "certificate verify failed"),
            (try_it(&pooler, "127.0.0.1", &root(&own)), "does not match host name"),
            (try_it(&plain, "localhost", &root(&own)), "does not support SSL"),
            (try_it(&pooler, "localhost", "sslmode=disable"), "SSL required"),
        ];
        for (outcome, why) in refused {
            let error = outcome.unwrap_err();
            assert!(error.contains(why), "{why}: {error}");
        }
    }
}
