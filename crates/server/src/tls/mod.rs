//! TLS for the provider API (behaviour 2.1): reads or creates the certificate, and reloads it when its files change.

mod certificate;
mod reload;
mod self_signed;

use std::sync::Arc;

use anyhow::Context;
use guerdon_domain::ports::Clock;
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::server::ResolvesServerCert;
use rustls::version::{TLS12, TLS13};
use time::OffsetDateTime;

use crate::platform::SystemClock;
use crate::settings::{Settings, Tls};
use certificate::{CertificateFiles, leaf_certificate};

pub(crate) use reload::ReloadingCertificate;
use reload::RenewCertificate;

/// The TLS configuration of the listener, and its certificate, which must be reloaded regularly.
pub(crate) struct ListenerTls {
    /// The configuration: TLS 1.2 and 1.3 with the certificate.
    pub(crate) config: ServerConfig,
    pub(crate) certificate: Arc<ReloadingCertificate>,
}

/// Prepares TLS according to the settings; `None` behind a proxy. Creates or renews the self-signed certificate.
pub(crate) fn prepare_listener_tls(settings: &Settings) -> anyhow::Result<Option<ListenerTls>> {
    let (files, renew) = match &settings.http.tls {
        Tls::Proxy => return Ok(None),
        Tls::Files { certificate, private_key } => {
            (CertificateFiles { certificate: certificate.clone(), private_key: private_key.clone() }, None)
        }
        Tls::SelfSigned => {
            let (data_dir, service_url) = (settings.data_dir.clone(), settings.service_url.clone());
            let ensure = move || self_signed::ensure_certificate(&data_dir, &service_url, SystemClock.now());
            let files = ensure()?;
            let shown = std::path::absolute(&files.certificate).unwrap_or_else(|_| files.certificate.clone());
            log::info!(file:% = shown.display(); "the certificate is self-signed: configure clients to trust it");
            let renew: RenewCertificate = Box::new(move || ensure().map(drop));
            (files, Some(renew))
        }
    };
    let certificate = Arc::new(ReloadingCertificate::load_files(files, renew)?);
    let resolver: Arc<dyn ResolvesServerCert> = certificate.clone();
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_protocol_versions(&[&TLS13, &TLS12])
        .context("TLS 1.2 and 1.3 cannot be set up")?
        .with_no_client_auth()
        .with_cert_resolver(resolver);
    Ok(Some(ListenerTls { config, certificate }))
}

/// Checks the configured certificate and returns when it expires. Returns `None` behind a proxy and if the certificate
/// is self-signed, because `serve` creates it.
pub(crate) fn check_certificate(settings: &Settings) -> anyhow::Result<Option<OffsetDateTime>> {
    match &settings.http.tls {
        Tls::Files { certificate, private_key } => {
            let files =
                CertificateFiles { certificate: certificate.clone(), private_key: private_key.clone() };
            let (_, key) = files.load_key()?;
            Ok(leaf_certificate(&key).map(|certificate| certificate.validity().not_after.to_datetime()))
        }
        Tls::SelfSigned | Tls::Proxy => Ok(None),
    }
}

#[cfg(test)]
mod tests;
