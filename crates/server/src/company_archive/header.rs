//! The first line of an archive.

use guerdon_domain::ports::Timestamp;
use guerdon_domain::values::{CompanyId, DomainName};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::json_row::{format_time, parse_time};

const FORMAT: &str = "guerdon company archive";
const VERSION: u32 = 1;

/// The first line of an archive.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ArchiveHeader {
    format: String,
    version: u32,
    service_version: String,
    company_id: Uuid,
    domain: String,
    /// The hand-over token; absent in an archive that cannot be imported.
    token: Option<Uuid>,
    /// The code that reopens the company in the cell that handed it over. The cell that refuses the archive prints it.
    release_code: Option<String>,
    created_at: String,
    events_pruned_before: Option<String>,
    /// The newest seal of the source.
    seal: Option<SealHeader>,
}

/// The part of a header that every version of the format has.
#[derive(Debug, Deserialize)]
pub(super) struct FormatHeader {
    format: String,
    version: u32,
    pub(super) service_version: String,
}

impl FormatHeader {
    pub(super) fn is_company_archive(&self) -> bool {
        self.format == FORMAT
    }

    /// Describes why this program cannot read the version of the format; `None` if it can.
    pub(super) fn version_mismatch(&self) -> Option<String> {
        (self.version != VERSION).then(|| {
            let version = self.version;
            format!("it has version {version} of the format, and this program reads only version {VERSION}")
        })
    }
}

/// The newest seal of the source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SealHeader {
    pub(crate) sequence: i64,
    pub(crate) head: String,
}

impl ArchiveHeader {
    /// The header of an archive without a hand-over token.
    pub(crate) fn new(
        service_version: &str,
        (company_id, domain): (CompanyId, &DomainName),
        created_at: Timestamp,
        events_pruned_before: Option<Timestamp>,
        seal: Option<SealHeader>,
    ) -> Self {
        Self {
            format: FORMAT.to_owned(),
            version: VERSION,
            service_version: service_version.to_owned(),
            company_id: company_id.as_uuid(),
            domain: domain.as_str().to_owned(),
            token: None,
            release_code: None,
            created_at: format_time(created_at),
            events_pruned_before: events_pruned_before.map(format_time),
            seal,
        }
    }

    /// The header of an archive that can be imported.
    pub(crate) fn with_hand_over(self, token: Uuid, release_code: Option<String>) -> Self {
        Self { token: Some(token), release_code, ..self }
    }

    /// The version of the service that wrote the archive.
    pub(super) fn service_version(&self) -> &str {
        &self.service_version
    }

    pub(crate) fn token(&self) -> Option<Uuid> {
        self.token
    }

    pub(crate) fn release_code(&self) -> Option<&str> {
        self.release_code.as_deref()
    }

    pub(crate) fn company_id(&self) -> CompanyId {
        CompanyId::from_uuid(self.company_id)
    }

    pub(crate) fn domain(&self) -> Result<DomainName, String> {
        DomainName::parse(&self.domain).map_err(|_invalid| "its header has no valid domain".to_owned())
    }

    pub(crate) fn events_pruned_before(&self) -> Result<Option<Timestamp>, String> {
        let text = self.events_pruned_before.as_deref();
        text.map(|text| parse_time(text).ok_or_else(|| "its header has no valid time".to_owned())).transpose()
    }
}
