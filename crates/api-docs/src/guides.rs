//! The guides, the files that they link to, and the resolution of links between guides to pages.

/// A guide: its path, its title, a one-line summary and its Markdown.
pub(crate) struct Guide {
    pub(crate) path: &'static str,
    pub(crate) title: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! guides {
    ($($path:literal, $title:literal, $summary:literal, $file:literal;)+) => {
        pub(crate) const GUIDES: &[Guide] = &[
            $(Guide {
                path: $path,
                title: $title,
                summary: $summary,
                text: include_str!(concat!("../../../docs/", $file)),
            },)+
        ];
        /// The file name of each guide, for links from other files.
        const GUIDE_FILES: &[(&str, &str)] = &[$(($file, $path),)+];
    };
}

guides! {
    "/docs/guides/start", "Quickstart", "Send points and verify a webhook in ten minutes.", "guides/start.md";
    "/docs/guides/roles", "You and the operator", "Responsibilities, and what to request from the operator.", "guides/roles.md";
    "/docs/guides/certificates", "TLS certificates", "How to trust the certificate in curl, Python and JavaScript.", "guides/certificates.md";
    "/docs/guides/money", "Wallets, rates and reasons", "How points are valued, who pays, and why a balance changes.", "guides/money.md";
    "/docs/guides/retries", "Errors and retries", "Which requests to retry, and idempotency keys.", "guides/retries.md";
    "/docs/errors", "Error codes", "Every code, its cause, and what to do.", "guides/errors.md";
    "/docs/guides/webhooks", "Receiving events", "Signatures, retries, and complete receivers.", "receiving-events.md";
    "/docs/guides/limits", "Limits", "Maximum sizes, rates and durations.", "guides/limits.md";
    "/docs/guides/versions", "Versions", "What can change, and how it is announced.", "guides/versions.md";
    "/docs/guides/glossary", "Glossary", "The terms of this documentation.", "guides/glossary.md";
    "/docs/guides/rules", "API behaviour", "The complete behaviour of the API in numbered paragraphs.", "specified-behaviour.md";
    "/docs/changelog", "Changelog", "What changed in each version.", "../CHANGELOG.md";
}

/// Complete programs that guides link to.
pub(crate) const PROGRAM_FILES: &[(&str, &str)] = &[
    ("receiver.py", include_str!("../../../docs/receivers/receiver.py")),
    ("receiver.mjs", include_str!("../../../docs/receivers/receiver.mjs")),
    ("client.py", include_str!("../../../docs/clients/client.py")),
    ("client.mjs", include_str!("../../../docs/clients/client.mjs")),
];

/// Returns the page for a link to a file in docs/; `None` for a link to another site or to another file of the
/// repository.
pub(crate) fn resolve_link(link: &str) -> Option<String> {
    let (file, anchor) = link.split_once('#').map_or((link, None), |(file, anchor)| (file, Some(anchor)));
    let file = file.trim_start_matches("../");
    let is_match = |guide_file: &str| guide_file == file || guide_file.rsplit('/').next() == Some(file);
    let page =
        GUIDE_FILES.iter().find(|(guide_file, _)| is_match(guide_file)).map(|(_, path)| (*path).to_owned());
    let name = file.rsplit('/').next().unwrap_or_default();
    let page = page.or_else(|| (file == "openapi.json").then(|| "/openapi.json".to_owned()));
    let page = page.or_else(|| {
        PROGRAM_FILES.iter().find(|(file, _)| *file == name).map(|(file, _)| format!("/docs/files/{file}"))
    })?;
    Some(anchor.map_or_else(|| page.clone(), |anchor| format!("{page}#{anchor}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_files_lead_to_pages() {
        let check = |link: &str, expected: Option<&str>| {
            assert_eq!(resolve_link(link).as_deref(), expected, "{link}")
        };
        check("money.md", Some("/docs/guides/money"));
        check("../receiving-events.md#twice", Some("/docs/guides/webhooks#twice"));
        check("receivers/receiver.py", Some("/docs/files/receiver.py"));
        check("../clients/client.mjs", Some("/docs/files/client.mjs"));
        check("../../CHANGELOG.md", Some("/docs/changelog"));
        check("specified-behaviour.md#23-events", Some("/docs/guides/rules#23-events"));
        check("../openapi.json", Some("/openapi.json"));
        check("https://example.com/", None);
        check("operating.md", None);
        check("#here", None);
    }
}
