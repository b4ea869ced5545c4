//! Creates the self-signed certificate, for trials and for clients that are configured to trust it.

use std::fs::File;
use std::path::Path;

use anyhow::Context;
use guerdon_domain::ports::Timestamp;
use rcgen::{
    CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose,
};
use time::Duration;
use url::Url;
use x509_parser::prelude::{GeneralName, X509Certificate};
use zeroize::Zeroizing;

use super::certificate::{CertificateFiles, leaf_certificate};
use crate::platform::files::{ensure_private_folder, open_lock_file, replace_private_file};

const TLS_FOLDER: &str = "tls";
const VALIDITY_PERIOD: Duration = Duration::days(365);
const RENEW_BEFORE_EXPIRY: Duration = Duration::days(30);

/// Returns the certificate in the data folder. Creates it if it is missing, expires soon, or lacks a name of the
/// service.
pub(super) fn ensure_certificate(
    data_dir: &Path,
    service_url: &str,
    now: Timestamp,
) -> anyhow::Result<CertificateFiles> {
    let folder = data_dir.join(TLS_FOLDER);
    ensure_private_folder(&folder)?;
    let _one_at_a_time = lock_folder(&folder)?;
    let files = CertificateFiles {
        certificate: folder.join("certificate.pem"),
        private_key: folder.join("private_key.pem"),
    };
    let names = service_names(service_url);
    if !is_usable(&files, &names, now) {
        write_certificate(&files, &names, now)?;
        log::info!("created a self-signed certificate");
    }
    Ok(files)
}

fn lock_folder(folder: &Path) -> anyhow::Result<File> {
    let file = open_lock_file(&folder.join("lock"))?;
    file.lock().with_context(|| format!("cannot lock {}", folder.display()))?;
    Ok(file)
}

/// The host names and addresses of the service that the certificate has to contain.
fn service_names(service_url: &str) -> Vec<String> {
    let mut names: Vec<String> = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).into();
    let url = Url::parse(service_url).ok();
    let host = url.as_ref().and_then(Url::host_str).map(|host| host.trim_matches(['[', ']']).to_owned());
    names.extend(host.filter(|host| !names.contains(host)));
    names
}

fn is_usable(files: &CertificateFiles, names: &[String], now: Timestamp) -> bool {
    let Ok((_, key)) = files.load_key() else { return false };
    let Some(certificate) = leaf_certificate(&key) else { return false };
    let last = certificate.validity().not_after.timestamp();
    let first = certificate.validity().not_before.timestamp();
    let is_current = first <= now.to_utc().unix_timestamp()
        && last >= (now + RENEW_BEFORE_EXPIRY).to_utc().unix_timestamp();
    is_current && names.iter().all(|name| covers_name(&certificate, name))
}

fn covers_name(certificate: &X509Certificate<'_>, name: &str) -> bool {
    let Ok(Some(extension)) = certificate.subject_alternative_name() else { return false };
    extension.value.general_names.iter().any(|general| match general {
        GeneralName::DNSName(dns_name) => *dns_name == name,
        GeneralName::IPAddress(octets) => name.parse::<std::net::IpAddr>().is_ok_and(|name| match name {
            std::net::IpAddr::V4(name) => name.octets().as_slice() == *octets,
            std::net::IpAddr::V6(name) => name.octets().as_slice() == *octets,
        }),
        _ => false,
    })
}

fn write_certificate(files: &CertificateFiles, names: &[String], now: Timestamp) -> anyhow::Result<()> {
    let mut params = CertificateParams::new(names)
        .context("service_url has no host name or address that a certificate can contain")?;
    let mut subject = DistinguishedName::new();
    subject.push(DnType::CommonName, "guerdon");
    params.distinguished_name = subject;
    params.not_before = (now - Duration::days(1)).to_utc().into(); // for clients whose clocks are behind
    params.not_after = (now + VALIDITY_PERIOD).to_utc().into();
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate().context("cannot create a key")?;
    let certificate = params.self_signed(&key).context("cannot create a certificate")?;
    replace_private_file(&files.private_key, Zeroizing::new(key.serialize_pem()).as_bytes())?;
    replace_private_file(&files.certificate, certificate.pem().as_bytes())
}
