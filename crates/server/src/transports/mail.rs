//! The transport of emails.

use anyhow::Context as _;
use guerdon_mailer::{FolderTransport, FromAddress, MailTransport, SmtpTransport, SmtpUrl};
use url::Url;

use super::read_roots;
use crate::settings::Settings;

/// Builds the transport of emails: to the mail server if one is configured, otherwise to files in the data folder,
/// which is created.
pub(crate) fn build_mail_transport(settings: &Settings) -> anyhow::Result<Box<dyn MailTransport>> {
    let mail = &settings.mail;
    let sender = mail.from.as_deref().map_or_else(|| Ok(FromAddress::local_default()), FromAddress::parse)?;
    let Some(url) = &mail.smtp_url else {
        let folder = settings.data_dir.join("mail");
        let opened = FolderTransport::open(&folder, sender);
        let opened = opened.with_context(|| format!("cannot use the folder {}", folder.display()))?;
        return Ok(Box::new(opened));
    };
    let roots = mail.extra_roots.as_deref().map(|path| read_roots("mail.extra_roots", path)).transpose()?;
    let transport = SmtpTransport::new(SmtpUrl::parse(url.expose())?, sender, &roots.unwrap_or_default())
        .context("mail.extra_roots")?;
    Ok(match Url::parse(&settings.service_url).ok().and_then(|url| url.host_str().map(str::to_owned)) {
        Some(host) => Box::new(transport.with_client_name(&host)),
        None => Box::new(transport),
    })
}

/// Describes where emails are sent, as a clause for log lines and checks.
pub(crate) fn describe_mail_destination(settings: &Settings) -> String {
    match &settings.mail.smtp_url {
        None => {
            let folder = settings.data_dir.join("mail");
            format!(
                "no mail server is configured (mail.smtp_url): emails are written to {}",
                folder.display()
            )
        }
        Some(url) => {
            let host = Url::parse(url.expose()).ok().and_then(|url| url.host_str().map(str::to_owned));
            format!("emails go to the mail server {}", host.unwrap_or_default())
        }
    }
}
