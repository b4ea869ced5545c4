//! Values whose format a standard defines. They need libraries that the rules of the ledger do not.

mod certificate;
mod country;
mod domain_name;
mod email;
mod web_url;

pub use certificate::PemCertificate;
pub use country::CountryCode;
pub use domain_name::DomainName;
pub use email::EmailAddress;
pub use web_url::WebUrl;
