//! Hints for failed handshakes, recognized by the TLS library's messages.

/// Parts of a message, and the hint for it. The first match is shown.
const FAULTS: [(&[&str], &str); 8] = [
    (
        &["unknownissuer", "unknown issuer", "self-signed", "selfsigned"],
        "The receiver's certificate leads to no authority that is trusted: it is self-signed, of a private authority, or \
         the certificates between it and the root are not sent along. Let it send the whole chain.",
    ),
    (&["expired"], "The receiver's certificate has expired. Its owner must renew it."),
    (
        &["not valid for name", "notvalidforname"],
        "The receiver's certificate is for another host name than the one in the callback URL. One of the two must change.",
    ),
    (
        &["not valid yet", "notvalidyet"],
        "The receiver's certificate begins later than now. If it looks right, this machine's clock is wrong.",
    ),
    (&["revoked"], "The receiver's certificate was revoked. Its owner must get a new one."),
    (
        &["peer is incompatible", "handshakefailure", "protocolversion", "insufficientsecurity"],
        "No version or cipher of TLS is common to both. Let the receiver speak TLS 1.2 or 1.3.",
    ),
    (
        &["corrupt message", "invalidcontenttype"],
        "What answers there does not speak TLS: plain HTTP on that port, or another protocol. Check the port in the \
         callback URL.",
    ),
    (
        &["certificaterequired", "certificate required", "badcertificate", "accessdenied"],
        "The receiver asks for a client's certificate. Events bear a signature and none; let it admit them without.",
    ),
];

pub(super) fn hint(fault: &str) -> String {
    let fault = fault.to_lowercase();
    let known = FAULTS.iter().find(|(words, _)| words.iter().any(|word| fault.contains(word)));
    let text = known.map_or(
        "The TLS handshake failed. `openssl s_client -connect HOST:443 -servername HOST` shows what the receiver sends.",
        |(_, text)| text,
    );
    text.to_owned()
}
