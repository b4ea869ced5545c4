//! All checks of `guerdon verify`: the audit of the ledger, and the checks that need the master key.

use std::num::NonZero;
use std::time::Duration;

use guerdon_domain::audit::{self, AuditOptions, AuditReport, Violation};
use guerdon_domain::ports::{Clock as _, Setting, Store, StoreError, StoreExt as _};
use guerdon_domain::providers::Provider;
use guerdon_webhook_dispatcher::{Bodies, RetrySchedule};

use crate::keys::Keys;
use crate::platform::SystemClock;
use crate::settings::Settings;

/// Added to the longest wait of the retry schedule, to allow for leases and for clocks that differ.
const WAIT_TOLERANCE: Duration = Duration::from_secs(86_400);

/// Checks the whole database and, with the keys, that each stored secret can be read. Writes nothing.
pub(crate) fn verify_database(
    store: &dyn Store,
    keys: Option<&Keys>,
    head: Option<[u8; 32]>,
    settings: &Settings,
    threads: NonZero<usize>,
) -> Result<AuditReport, StoreError> {
    let schedule = RetrySchedule::with_time_scale(settings.webhooks.time_scale).unwrap_or_default();
    let longest_wait = schedule.max_waits().into_iter().max().unwrap_or_default() + WAIT_TOLERANCE;
    let request = AuditOptions { head, bodies: &Bodies, now: SystemClock.now(), longest_wait };
    let mut report = audit::verify(store, &request, threads)?;
    if let Some(keys) = keys {
        let (providers, fingerprint) = store.read_snapshot(|reads| -> Result<_, StoreError> {
            Ok((reads.list_providers()?, reads.get_setting(Setting::MasterKeyFingerprint)?))
        })?;
        if fingerprint.is_none() && !providers.is_empty() {
            let detail = "the fingerprint of the master key is missing".to_owned();
            report.violations.push(Violation { invariant: "master key", detail });
        }
        let unreadable = providers.iter().filter(|provider| !can_decrypt(keys, provider));
        report.violations.extend(unreadable.map(|provider| Violation {
            invariant: "secret",
            detail: format!(
                "a shared secret of provider {} cannot be read with this master key",
                provider.id
            ),
        }));
    }
    Ok(report)
}

fn can_decrypt(keys: &Keys, provider: &Provider) -> bool {
    let former = provider.former_shared_secret.as_ref().map(|former| former.secret.as_slice());
    [Some(provider.shared_secret_sealed.as_slice()), former]
        .into_iter()
        .flatten()
        .all(|sealed| keys.decrypt_secret(provider.id, sealed).is_ok())
}
