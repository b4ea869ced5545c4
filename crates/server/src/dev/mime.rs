//! Mails as people read them: what is encoded for the way is decoded (RFC 2045, RFC 2047).

use crate::hex;

/// A mail of one part.
#[derive(Debug, PartialEq)]
pub(super) struct Mail {
    pub(super) to: String,
    pub(super) subject: String,
    pub(super) body: String,
}

impl Mail {
    pub(super) fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
        let head = head.replace("\r\n ", " ").replace("\r\n\t", " ");
        let header = |name: &str| {
            let named = |line: &str| {
                let (its, value) = line.split_once(':')?;
                its.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
            };
            head.lines().find_map(named).unwrap_or_default()
        };
        let body = match header("Content-Transfer-Encoding").to_ascii_lowercase().as_str() {
            "quoted-printable" => readable(&quoted_printable(body)),
            "base64" => readable(&base64(body)),
            _ => body.to_owned(),
        };
        Self { to: words(&header("To")), subject: words(&header("Subject")), body }
    }
}

/// A header with its encoded words, such as `=?utf-8?b?w4Q=?=`, as they are meant.
fn words(header: &str) -> String {
    let (mut plain, mut rest, mut is_behind_word) = (Vec::new(), header, false);
    while let Some((before, word, after)) = next_word(rest) {
        // Blanks between two of them only part them.
        if !is_behind_word || !before.trim().is_empty() {
            plain.extend_from_slice(before.as_bytes());
        }
        plain.extend(word);
        (rest, is_behind_word) = (after, true);
    }
    plain.extend_from_slice(rest.as_bytes());
    readable(&plain)
}

/// What stands before the next encoded word, its bytes, and what stands behind.
fn next_word(text: &str) -> Option<(&str, Vec<u8>, &str)> {
    let (before, word) = text.split_once("=?")?;
    let (_charset, word) = word.split_once('?')?;
    let (encoding, word) = word.split_once('?')?;
    let (content, after) = word.split_once("?=")?;
    let bytes = match encoding {
        "b" | "B" => base64(content),
        "q" | "Q" => quoted_printable(&content.replace('_', " ")),
        _ => return None,
    };
    Some((before, bytes, after))
}

fn quoted_printable(text: &str) -> Vec<u8> {
    let text = text.replace("=\r\n", "").replace("=\n", "");
    let mut parts = text.split('=');
    let mut plain = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        match part.split_at_checked(2).and_then(|(digits, rest)| Some((hex::decode(digits)?, rest))) {
            Some((byte, rest)) => plain.extend([&byte, rest.as_bytes()].concat()),
            None => plain.extend([b"=", part.as_bytes()].concat()),
        }
    }
    plain
}

/// What is no digit is passed over.
fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let values = text.bytes().filter_map(|it| DIGITS.iter().position(|digit| *digit == it));
    let (mut plain, mut held, mut bits) = (Vec::new(), 0, 0);
    for value in values {
        (held, bits) = ((held << 6 | value) & 0xfff, bits + 6);
        if bits >= 8 {
            bits -= 8;
            plain.extend(u8::try_from(held >> bits & 0xff));
        }
    }
    plain
}

fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_is_read_as_it_was_meant() {
        let text = "To: Ada <ada@example.com>\r\nSubject: =?utf-8?b?R3LDvMOfZQ==?=\r\n =?utf-8?Q?_of=20M=C3=BCller?= & Co\r\n\
                    Content-Transfer-Encoding: quoted-printable\r\n\r\nGr=C3=BC=C3=9Fe: 5=\r\n0 =3D 2 * 25; =zz=\r\n";
        let read = Mail::read(text);
        assert_eq!(
            (read.to.as_str(), read.subject.as_str()),
            ("Ada <ada@example.com>", "Grüße of Müller & Co")
        );
        assert_eq!(read.body, "Grüße: 50 = 2 * 25; =zz");
        let plain = Mail::read("to: ada\r\nsubject: =? no word\r\n\r\n=C3");
        assert_eq!(
            plain,
            Mail { to: "ada".to_owned(), subject: "=? no word".to_owned(), body: "=C3".to_owned() }
        );
    }

    #[test]
    fn base64_comes_in_lines_and_ends_anywhere() {
        let check = |text: &str, expected: &str| assert_eq!(readable(&base64(text)), expected);
        check("", "");
        check("Zg==", "f");
        check("Zm8=", "fo");
        check("Zm9v\r\nYmFy\r\n", "foobar");
        check("8J+OiQ==", "🎉");
        check("/+8", "\u{fffd}\u{fffd}");
    }
}
