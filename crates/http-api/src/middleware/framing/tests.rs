use super::pieces::read_pieces;
use super::*;

/// Parses the bytes as a whole, in two pieces of every size, and byte by byte. The result must always be the same.
fn read_in_all_splits(input: &[u8]) -> (usize, Vec<u8>, Option<FramingError>) {
    let whole = read_pieces(&[input]);
    let check = |pieces: &[&[u8]]| {
        let (heads, passed, error) = read_pieces(pieces);
        assert_eq!((heads, error), (whole.0, whole.2), "{:?}", String::from_utf8_lossy(input));
        if error.is_none() {
            assert_eq!(passed, whole.1);
        } else {
            assert!(passed.starts_with(&whole.1), "only the beginning of a refused body was passed on");
        }
    };
    for at in 0..=input.len() {
        let (front, back) = input.split_at(at);
        check(&[front, back]);
    }
    check(&input.iter().map(std::slice::from_ref).collect::<Vec<_>>());
    whole
}

fn error_of(input: &str) -> (usize, Option<FramingError>) {
    let (heads, _, error) = read_in_all_splits(input.as_bytes());
    (heads, error)
}

/// A request with these lines after its first one.
fn get_request(lines: &str) -> String {
    format!("GET /v1/x?y=1 HTTP/1.1\r\n{lines}\r\n\r\n")
}

fn post_request(lines: &str, body: &str) -> String {
    format!("POST /v1/x HTTP/1.1\r\nHost: a\r\n{lines}\r\n\r\n{body}")
}

#[test]
fn valid_requests_are_passed_on_unchanged() {
    let chunked = "5\r\nhello\r\n00A\r\n0123456789\r\n0\r\n\r\n";
    let follower = get_request("Host: a");
    for (input, heads) in [
        (get_request("Host: a"), 1),
        (get_request("host:a\r\nAccept: */*\r\nX: \t1 2 \r\nY:"), 1),
        (get_request("Host: a\r\nContent-Length: 0"), 1),
        (get_request("Host: a\r\nX: \u{e4}"), 1),
        ("GET / HTTP/1.0\r\n\r\n".to_owned(), 1),
        ("HEAD / HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 1),
        ("DELETE / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}".to_owned(), 1),
        ("POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\n{}".to_owned(), 1),
        ("UNKNOWN /a/b{c}|d%20 HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 1),
        (post_request("Content-Length: 5", "\nGET "), 1),
        (post_request("transfer-encoding:  Chunked ", chunked), 1),
        (post_request("Transfer-Encoding: chunked", "0\r\n\r\n"), 1),
        (format!("{}{follower}{follower}", post_request("Content-Length: 3", "abc")), 3),
        (format!("{}{follower}", post_request("Transfer-Encoding: chunked", chunked)), 2),
        ("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n".to_owned(), 1),
        (
            "DELETE / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"
                .to_owned(),
            1,
        ),
    ] {
        assert_eq!(
            read_in_all_splits(input.as_bytes()),
            (heads, input.clone().into_bytes(), None),
            "{input:?}"
        );
    }
}

#[test]
fn parts_that_the_service_does_not_need_are_removed() {
    let chunked = |body: &str| post_request("Transfer-Encoding: chunked", body);
    let plain = chunked("3\r\nabc\r\n0\r\n\r\n");
    for (input, expected) in [
        ("GET http://a/b?c HTTP/1.1\r\nHost: x\r\n\r\n", "GET /b?c HTTP/1.1\r\nHost: x\r\n\r\n"),
        ("GET HTTPS://a:443 HTTP/1.1\r\nHost: x\r\n\r\n", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
        ("GET http://[::1]?c HTTP/1.1\r\nHost: x\r\n\r\n", "GET /?c HTTP/1.1\r\nHost: x\r\n\r\n"),
        (
            &get_request("Host: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nX: 1"),
            &get_request("Host: a\r\nConnection: \r\nX: 1"),
        ),
        (
            &get_request("Connection:  keep-alive , upgrade\r\nHost: a\r\nupgrade: h2c"),
            &get_request("Connection:  keep-alive \r\nHost: a"),
        ),
        (
            &post_request("Expect: 100-continue\r\nContent-Length: 3", "abc"),
            &post_request("Content-Length: 3", "abc"),
        ),
        (&chunked("3;x\r\nabc\r\n0;y=\"z ;\"\r\n\r\n"), &plain),
        (&chunked("3 \t; x = y\r\nabc\r\n0\r\nX: 1\r\nContent-Length: 7\r\n\r\n"), &plain),
    ] {
        let follower = get_request("Host: a");
        let (heads, passed, error) = read_in_all_splits(format!("{input}{follower}").as_bytes());
        assert_eq!((heads, error), (2, None), "{input:?}");
        assert_eq!(String::from_utf8_lossy(&passed), format!("{expected}{follower}"), "{input:?}");
    }
}

#[test]
fn the_size_of_removed_parts_is_limited() {
    let long = "x".repeat(9 << 10);
    for body in [format!("3;{long}\r\nabc\r\n0\r\n\r\n"), format!("0\r\nX: {long}\r\n\r\n")] {
        assert_eq!(
            read_pieces(&[post_request("Transfer-Encoding: chunked", &body).as_bytes()]).2,
            Some(FramingError::Extras)
        );
    }
    let many = "1;x=1\r\na\r\n".repeat(3_000);
    let body = post_request("Transfer-Encoding: chunked", &format!("{many}0\r\n\r\n"));
    assert_eq!(read_pieces(&[body.as_bytes()]).2, Some(FramingError::Extras));
}

#[test]
fn one_empty_line_before_a_request_is_dropped() {
    let request = get_request("Host: a");
    let body = post_request("Content-Length: 3", "abc");
    let input = format!("\r\n{body}\r\n{request}");
    let expected = format!("{body}{request}").into_bytes();
    assert_eq!(read_in_all_splits(input.as_bytes()), (2, expected, None));
    assert_eq!(error_of("\r\n\r\n"), (0, Some(FramingError::RequestLine)));
    assert_eq!(error_of(&format!("\n{request}")), (0, Some(FramingError::LineEnd)));
}

#[test]
fn an_ambiguous_head_is_refused() {
    use FramingError::*;
    for (lines, error) in [
        ("Content-Length: 3\r\nTransfer-Encoding: chunked", Encoding),
        ("Transfer-Encoding: chunked\r\nContent-Length: 3", Encoding),
        ("Content-Length: 3\r\nContent-Length: 3", Length),
        ("Content-Length: 3\r\nContent-Length: 4", Length),
        ("Content-Length: 3, 3", Length),
        ("Content-Length: +5", Length),
        ("Content-Length: -1", Length),
        ("Content-Length: 0x3", Length),
        ("Content-Length:", Length),
        ("Content-Length: 99999999999999999999", Length),
        ("Transfer-Encoding: identity", Encoding),
        ("Transfer-Encoding: xchunked", Encoding),
        ("Transfer-Encoding: chunked, gzip", Encoding),
        ("Transfer-Encoding: gzip, chunked", Encoding),
        ("Transfer-Encoding: \"chunked\"", Encoding),
        ("Transfer-Encoding: chunked;q=1", Encoding),
        ("Transfer-Encoding:", Encoding),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", Encoding),
        ("Transfer-Encoding:\u{b}chunked", Control),
        ("Transfer-Encoding : chunked", Header),
        ("Content-Length : 3", Header),
        (" Content-Length: 3", Header),
        ("X: 1\r\n 2", Header),
        ("X: 1\r\n\t2", Header),
        ("X", Header),
        (": 1", Header),
        ("X: a\0b", Control),
        ("X: a\u{7f}b", Control),
        ("X: 1\nContent-Length: 3", LineEnd),
        ("X: 1\rContent-Length: 3", LineEnd),
        ("X: 1\r\r", LineEnd),
        ("Host: a", Host),
        ("Host: b", Host),
    ] {
        assert_eq!(error_of(&post_request(lines, "abc")), (0, Some(error)), "{lines:?}");
        let following = format!("{}{}", get_request("Host: a"), post_request(lines, "abc"));
        assert_eq!(error_of(&following), (1, Some(error)), "after a valid request: {lines:?}");
    }
    for host in ["", " ", "a b", "a/b", "user@a", "a:b", "a, b", "http://a"] {
        assert_eq!(error_of(&get_request(&format!("Host: {host}"))), (0, Some(Host)), "{host:?}");
    }
    assert_eq!(error_of(&get_request("X: 1")), (0, Some(Host)));
    for (input, error) in [
        ("GET / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", Encoding),
        ("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", Encoding),
        ("POST / HTTP/1.0\r\nHost: a\r\n\r\n", Length),
        ("GET / HTTP/1.1\nHost: a\n\n", LineEnd),
        ("GET / HTTP/1.1\r\nHost: a\r\n\n", LineEnd),
    ] {
        assert_eq!(error_of(input), (0, Some(error)), "{input:?}");
    }
}

#[test]
fn a_first_line_is_a_method_a_path_and_a_version() {
    use FramingError::*;
    for (line, error) in [
        ("GET / HTTP/1.1", None),
        ("GET http:///x HTTP/1.1", Some(Target)),
        ("GET http://u@a/x HTTP/1.1", Some(Target)),
        ("GET ftp://a/x HTTP/1.1", Some(Target)),
        ("GET http:/a HTTP/1.1", Some(Target)),
        ("GET a:443 HTTP/1.1", Some(Target)),
        ("GET * HTTP/1.1", Some(Target)),
        ("GET /a#b HTTP/1.1", Some(Target)),
        ("GET /\u{e4} HTTP/1.1", Some(Target)),
        ("GET /<x> HTTP/1.1", Some(Target)),
        ("CONNECT / HTTP/1.1", Some(RequestLine)),
        ("CONNECT a:443 HTTP/1.1", Some(RequestLine)),
        ("GET  / HTTP/1.1", Some(RequestLine)),
        ("GET / HTTP/1.1 ", Some(RequestLine)),
        (" GET / HTTP/1.1", Some(RequestLine)),
        ("GET\t/\tHTTP/1.1", Some(RequestLine)),
        ("GET /", Some(RequestLine)),
        ("GET / HTTP/1.2", Some(RequestLine)),
        ("GET / HTTP/2.0", Some(RequestLine)),
        ("GET / http/1.1", Some(RequestLine)),
        ("PRI * HTTP/2.0", Some(RequestLine)),
        ("G@T / HTTP/1.1", Some(RequestLine)),
        ("SSH-2.0-x", Some(RequestLine)),
        ("\u{16}\u{3}\u{1}", Some(Control)),
    ] {
        assert_eq!(error_of(&format!("{line}\r\nHost: a\r\n\r\n")).1, error, "{line:?}");
    }
}

#[test]
fn a_chunk_consists_of_its_size_and_as_many_bytes() {
    use FramingError::*;
    let request = |body: &str| error_of(&post_request("Transfer-Encoding: chunked", body));
    for (body, error) in [
        ("3;x\nabc\r\n0\r\n\r\n", Chunk),
        ("3;x\ry", Chunk),
        (";x\r\nabc\r\n0\r\n\r\n", Chunk),
        ("3;\r\nabc\r\n0\r\n\r\n", Chunk),
        ("3 \r\nabc\r\n0\r\n\r\n", Chunk),
        (" 3\r\nabc\r\n0\r\n\r\n", Chunk),
        ("3\nabc\r\n0\r\n\r\n", Chunk),
        ("3\rabc", Chunk),
        ("3\r\nabcd\r\n0\r\n\r\n", Chunk),
        ("3\r\nabc\n0\r\n\r\n", Chunk),
        ("3\r\nab\r\n0\r\n\r\n", Chunk),
        ("\r\n0\r\n\r\n", Chunk),
        ("-1\r\nabc", Chunk),
        ("+3\r\nabc", Chunk),
        ("0x3\r\nabc", Chunk),
        ("g\r\n", Chunk),
        ("0\r\nX\r\n\r\n", Chunk),
        ("0\r\n: 1\r\n\r\n", Chunk),
        ("0\r\nX : 1\r\n\r\n", Chunk),
        ("0\r\n X: 1\r\n\r\n", Chunk),
        ("0\r\nX: 1\n\r\n", Chunk),
        ("0\r\nX: a\0b\r\n\r\n", Chunk),
        ("0\r\n\n", Chunk),
        ("0\n\n", Chunk),
        ("100001\r\n", ChunkSize),
        ("ffffffff\r\n", ChunkSize),
        ("ffffffffffffffff\r\n", ChunkSize),
        ("10000000000000003\r\nabc", ChunkSize),
        ("00000000000000003\r\nabc", ChunkSize),
    ] {
        assert_eq!(request(body), (1, Some(error)), "{body:?}");
    }
    assert_eq!(read_pieces(&[post_request("Transfer-Encoding: chunked", "100000\r\n").as_bytes()]).2, None);
}

#[test]
fn the_size_of_a_head_is_limited() {
    let fields = |count: usize| get_request(&vec!["X: 1"; count].join("\r\n").replacen("X: 1", "Host: a", 1));
    assert_eq!(read_pieces(&[fields(96).as_bytes()]).2, None);
    assert_eq!(read_pieces(&[fields(97).as_bytes()]).2, Some(FramingError::HeadSize));
    let target = |size: usize| format!("GET /{} HTTP/1.1\r\nHost: a\r\n\r\n", "x".repeat(size - 1));
    assert_eq!(read_pieces(&[target(8 << 10).as_bytes()]).2, None);
    assert_eq!(read_pieces(&[target((8 << 10) + 1).as_bytes()]).2, Some(FramingError::HeadSize));
    let rest = get_request("Host: a\r\nX: ").len();
    let head = |size: usize| get_request(&format!("Host: a\r\nX: {}", "x".repeat(size - rest)));
    assert_eq!(read_pieces(&[head(32 << 10).as_bytes()]).2, None);
    assert_eq!(read_pieces(&[head((32 << 10) + 1).as_bytes()]).2, Some(FramingError::HeadSize));
    assert_eq!(read_pieces(&["x".repeat((32 << 10) + 1).as_bytes()]).2, Some(FramingError::HeadSize));
}
