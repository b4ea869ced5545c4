//! Explains failed handshakes, recognized by the TLS library's messages.

/// For each fault: strings of which its message contains at least one, and the explanation. The first match is shown.
const FAULTS: [(&[&str], &str); 8] = [
    (
        &["unknownissuer", "unknown issuer", "self-signed", "selfsigned"],
        "The receiver's certificate is not issued by a trusted authority: it is self-signed, issued by a private authority, or the intermediate certificates are missing. The receiver must send the whole chain.",
    ),
    (&["expired"], "The receiver's certificate has expired. Its owner must renew it."),
    (
        &["not valid for name", "notvalidforname"],
        "The receiver's certificate is for another host name than the one in the callback URL. One of the two must change.",
    ),
    (
        &["not valid yet", "notvalidyet"],
        "The receiver's certificate is not valid yet. If its dates are right, this machine's clock is wrong.",
    ),
    (&["revoked"], "The receiver's certificate was revoked. Its owner must get a new one."),
    (
        &["peer is incompatible", "handshakefailure", "protocolversion", "insufficientsecurity"],
        "The receiver and this service have no TLS version or cipher in common. The receiver must support TLS 1.2 or 1.3.",
    ),
    (
        &["corrupt message", "invalidcontenttype"],
        "The server on that port does not speak TLS, but plain HTTP or another protocol. Check the port in the callback URL.",
    ),
    (
        &["certificaterequired", "certificate required", "badcertificate", "accessdenied"],
        "The receiver requires a client certificate. Events carry a signature instead; it must accept them without one.",
    ),
];

pub(super) fn diagnose_tls(fault: &str) -> String {
    let fault = fault.to_lowercase();
    let known = FAULTS.iter().find(|(words, _)| words.iter().any(|word| fault.contains(word)));
    let text = known.map_or(
        "The TLS handshake failed. `openssl s_client -connect HOST:443 -servername HOST` shows what the receiver sends.",
        |(_, text)| text,
    );
    text.to_owned()
}
