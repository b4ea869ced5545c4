use super::{CallbackUrlError, EgressPolicy, parse_target};
use crate::check_callback_url;

const ALLOW_ALL: EgressPolicy = EgressPolicy { allow_http: true, allow_private_networks: true };

fn request_uri(url: &str) -> String {
    parse_target(url, ALLOW_ALL).unwrap_or_else(|error| panic!("{url}: {error}")).to_string()
}

#[test]
fn public_https_is_allowed() {
    for url in ["https://example.com/hook", "https://8.8.8.8", "https://[2606:4700::1111]:8443/x?y=z"] {
        assert_eq!(check_callback_url(url, EgressPolicy::default()), Ok(()), "{url}");
    }
}

#[test]
fn plain_http_must_be_allowed() {
    let check = |allow_http, expected| {
        let policy = EgressPolicy { allow_http, allow_private_networks: false };
        assert_eq!(check_callback_url("http://example.com/", policy), expected);
    };
    check(false, Err(CallbackUrlError::PlainHttp));
    check(true, Ok(()));
}

#[test]
fn addresses_that_are_not_public_must_be_allowed() {
    for host in [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "api.localhost.",
        "127.0.0.1",
        "127.1",
        "0x7f000001",
        "0X7F.1",
        "2130706433",
        "0177.0.0.1",
        "%31%32%37.0.0.1",
        "１２７.0.0.1",
        "127。0。0。1",
        "0",
        "0.0.0.0",
        "10.1.2.3",
        "172.31.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "192.0.0.8",
        "192.0.2.1",
        "192.88.99.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "240.0.0.1",
        "255.255.255.255",
        "[::1]",
        "[::]",
        "[::ffff:10.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::a00:1]",
        "[64:ff9b:1::1]",
        "[100::1]",
        "[2001::1]",
        "[2001:db8::1]",
        "[2002:a00::1]",
        "[3fff::1]",
        "[5f00::1]",
        "[fd00::1]",
        "[fe80::1]",
        "[fec0::1]",
        "[ff02::1]",
    ] {
        let url = format!("https://{host}/hook");
        assert_eq!(
            check_callback_url(&url, EgressPolicy::default()),
            Err(CallbackUrlError::NotPublic),
            "{url}"
        );
        assert_eq!(check_callback_url(&url, ALLOW_ALL), Ok(()), "{url}");
    }
}

#[test]
fn anything_but_a_web_url_is_refused() {
    for url in [
        "",
        "example.com",
        "ftp://example.com",
        "file:///etc/passwd",
        "gopher://example.com/",
        "https://a:b@example.com",
        "https://ok@127.0.0.1/",
        "https://",
        "https://e.com/\r\nX-Other: 1",
        "https://e.com/ HTTP/1.1",
        "https://[example.com]/",
        "https://[fe80::1%25eth0]/",
        "https://1.2.3.4.5/",
        "https://256.1.1.1/",
        "https://e.com:65536/",
    ] {
        assert!(matches!(check_callback_url(url, ALLOW_ALL), Err(CallbackUrlError::NotAWebUrl(_))), "{url}");
    }
    assert_eq!(check_callback_url("https://e.com/#x", ALLOW_ALL), Err(CallbackUrlError::Fragment));
}

#[test]
fn a_plain_url_is_requested_as_registered() {
    for url in [
        "https://example.com/",
        "https://Example.COM/Hook",
        "https://example.com:443/hook",
        "https://example.com:8443/a/../b/./c//d",
        "https://example.com/%7e/%7E/~?a=%20&b=+&c[]=1&d='x'",
        "https://example.com/?",
        "https://example.com./x",
        "https://[2606:4700::1111]:8443/x?y=z",
        "http://127.0.0.1:8080/hook",
    ] {
        // The URI type writes hosts unchanged, so comparing strings is enough.
        assert_eq!(request_uri(url), url);
    }
}

#[test]
fn characters_that_a_request_cannot_contain_are_encoded() {
    let check = |registered: &str, expected: &str| assert_eq!(request_uri(registered), expected);
    check("https://example.com", "https://example.com/");
    check("https://example.com?x=1", "https://example.com/?x=1");
    check("HTTPS://example.com/x", "https://example.com/x");
    check("https://bücher.example/ü?ä=ö", "https://xn--bcher-kva.example/%C3%BC?%C3%A4=%C3%B6");
    check("https://bücher.example:8443/", "https://xn--bcher-kva.example:8443/");
    check("https://example.com/\"<>{}|^`", "https://example.com/%22%3C%3E%7B%7D%7C%5E%60");
    check("https://0x7f000001/x", "https://127.0.0.1/x");
    check("https://127.1:8080/x", "https://127.0.0.1:8080/x");
    check("https://[2606:4700:0:0::1111]/x", "https://[2606:4700::1111]/x");
    check("https://example.com:/x", "https://example.com/x");
}
