//! All checks of `guerdon verify`: the audit of the ledger, and the checks that need the master key.

use std::num::NonZero;
use std::time::Duration;

use guerdon_domain::audit::{self, AuditOptions, AuditPacer, AuditReport, Unpaced, Violation};
use guerdon_domain::ports::{Setting, Store, StoreError, StoreExt as _, Timestamp};
use guerdon_domain::providers::Provider;
use guerdon_webhook_dispatcher::Bodies;

use crate::keys::Keys;
use crate::settings::Webhooks;

/// Added to the longest wait of the retry schedule, to allow for leases and for clocks that differ.
const WAIT_TOLERANCE: Duration = Duration::from_secs(86_400);

/// The options of a verification.
pub(crate) struct VerificationOptions<'a> {
    /// If given, it must be possible to decrypt each stored secret with these keys.
    pub(crate) keys: Option<&'a Keys>,
    /// If given, a seal must have this head.
    pub(crate) head: Option<[u8; 32]>,
    pub(crate) threads: NonZero<usize>,
    pub(crate) statement_duration_max: Option<Duration>,
    pub(crate) pacer: &'a dyn AuditPacer,
}

impl Default for VerificationOptions<'_> {
    /// Options for a verification on one thread, at full speed, and without the checks that need keys or a head.
    fn default() -> Self {
        Self {
            keys: None,
            head: None,
            threads: NonZero::<usize>::MIN,
            statement_duration_max: None,
            pacer: &Unpaced,
        }
    }
}

/// Checks the whole database. Writes nothing.
pub(crate) fn verify_database(
    store: &dyn Store,
    webhooks: &Webhooks,
    now: Timestamp,
    options: &VerificationOptions<'_>,
) -> Result<AuditReport, StoreError> {
    let longest_wait = webhooks.schedule.waits_by_failed_attempts().into_iter().max().unwrap_or_default();
    let next_attempt_wait_max = longest_wait + WAIT_TOLERANCE;
    let VerificationOptions { keys, head, threads, statement_duration_max, pacer } = *options;
    let request =
        AuditOptions { head, bodies: &Bodies, now, next_attempt_wait_max, statement_duration_max, pacer };
    let mut report = audit::verify(store, &request, threads)?;
    if let Some(keys) = keys {
        report.violations.extend(check_secrets(store, keys)?);
    }
    Ok(report)
}

fn check_secrets(store: &dyn Store, keys: &Keys) -> Result<Vec<Violation>, StoreError> {
    let (providers, fingerprint) = store.read_snapshot(|reads| -> Result<_, StoreError> {
        Ok((reads.list_providers()?, reads.get_setting(Setting::MasterKeyFingerprint)?))
    })?;
    let mut violations = Vec::new();
    if fingerprint.is_none() && !providers.is_empty() {
        let detail = "the fingerprint of the master key is missing".to_owned();
        violations.push(Violation { invariant: "master key", detail });
    }
    let unreadable = providers.iter().filter(|provider| !can_decrypt(keys, provider));
    violations.extend(unreadable.map(|provider| Violation {
        invariant: "secret",
        detail: format!("a shared secret of provider {} cannot be read with this master key", provider.id),
    }));
    Ok(violations)
}

fn can_decrypt(keys: &Keys, provider: &Provider) -> bool {
    let former = provider.former_shared_secret.as_ref().map(|former| former.secret.as_slice());
    [Some(provider.encrypted_shared_secret.as_slice()), former]
        .into_iter()
        .flatten()
        .all(|sealed| keys.decrypt_secret(provider.id, sealed).is_ok())
}
