//! The pages for integrators: served to everybody, every line of curl in them works, and a browser shows them well.

mod clients;

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::service::Service;
use crate::support::{Sample, first_event, on_each};

/// A page as the service serves it.
fn page(service: &Service, path: &str) -> String {
    let answer = service.running.request("GET", path, &[], None);
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.body
}

/// Every page of text, by following the links of the first.
fn pages(service: &Service) -> Vec<(String, String)> {
    let first = page(service, "/docs");
    let links = first.split(" href=\"").skip(1).filter_map(|it| it.split('"').next());
    let mut paths: Vec<String> = links
        .filter(|it| it.starts_with("/docs/guides/") || it.starts_with("/docs/reference/"))
        .map(str::to_owned)
        .collect();
    paths.sort();
    paths.dedup();
    assert!(paths.len() > 15, "{paths:?}");
    paths.insert(0, "/docs".to_owned());
    paths.into_iter().map(|path| (path.clone(), page(service, &path))).collect()
}

/// The lines of curl on a page, as whoever copies them gets them.
fn lines(page: &str) -> Vec<String> {
    let listings = page.split("<code class=\"").skip(1);
    let kept = listings.filter(|it| it.starts_with("curl\"") || it.starts_with("sh\""));
    kept.filter_map(|it| it.split_once('>')?.1.split_once("</code>"))
        .map(|(text, _)| {
            text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
        })
        .collect()
}

#[test]
fn pages_are_for_everybody_and_nothing_else_may_run_in_them() {
    on_each(|service| {
        let answer = service.running.request("GET", "/docs", &[], None);
        let header =
            |name: &str| answer.headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default();
        assert!(header("content-type").starts_with("text/html"), "{:?}", answer.headers);
        assert!(header("content-security-policy").starts_with("default-src 'none'; style-src 'self'"));
        assert_eq!(header("x-content-type-options"), "nosniff");
        let description = service.running.request("GET", "/openapi.json", &[], None);
        assert_eq!(description.headers["content-type"], "application/json");
        let served: Value = serde_json::from_str(&description.body).unwrap();
        let kept: Value = serde_json::from_str(include_str!("../../../docs/openapi.json")).unwrap();
        assert_eq!(served, kept, "run `cargo xtask openapi`");
        assert_eq!(service.json(&["openapi"]), kept);
        assert!(service.running.request("HEAD", "/docs", &[], None).body.is_empty());
        let refused = service.running.request("POST", "/docs", &[], None);
        assert_eq!((refused.status, refused.headers["allow"].to_str().unwrap()), (405, "GET, HEAD"));
        let (gzipped, encoding) = service.running.raw("/docs/guides/rules", &[("Accept-Encoding", "gzip")]);
        assert_eq!(encoding.as_deref(), Some("gzip"));
        let mut text = String::new();
        std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(gzipped.as_slice()), &mut text)
            .unwrap();
        assert_eq!(text, page(service, "/docs/guides/rules"));
    });
}

#[test]
fn whoever_is_lost_outside_the_versions_is_led_to_the_pages() {
    on_each(|service| {
        assert_eq!(page(service, "/docs/"), page(service, "/docs"));
        assert_eq!(page(service, "/docs/guides/start/"), page(service, "/docs/guides/start"));
        let told = |path: &str| service.running.request("GET", path, &[], None).error(404);
        for path in ["/", "/nope", "/docs/guides", "/docs/nope/", "/companies"] {
            assert_eq!(
                told(path),
                "there is nothing under this path; GET /docs tells what there is",
                "{path}"
            );
        }
        assert_eq!(told("/v2/companies"), "there is no such version of the API");
        let refused = service.running.request("POST", "/health", &[], None);
        assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")));
    });
}

#[test]
fn every_line_of_curl_works() {
    on_each(|service| {
        let mut count = 0;
        for (path, page) in pages(service) {
            for line in lines(&page) {
                let printed = run(service, &line);
                assert!(printed.starts_with('2'), "{path}: {printed} for\n{line}");
                count += 1;
            }
        }
        assert!(count > 40, "{count}");
    });
}

/// The status that a line gets, with something of its own behind each variable.
fn run(service: &Service, line: &str) -> String {
    let sample = Sample::make(service, 3);
    sample.fund(service, 1_000);
    sample.deposit(service, 1_000);
    let corporation =
        service.post(&sample.provider, "/v1/corporations", &serde_json::json!({"name": "Group"}));
    let corporation = corporation.json()["id"].as_str().unwrap().to_owned();
    let sent = sample.send(service, &sample.users[0], &[&sample.users[1]], 1);
    assert_eq!(sent.status, 201, "{}", sent.body);
    let event = first_event(service, &sample.provider)["id"].as_str().unwrap().to_owned();
    let line = line.replace("curl ", "curl -sS -o /dev/null -w '%{http_code}' ");
    let output = Command::new("sh")
        .args(["-c", &line])
        .env("URL", format!("{}/v1", service.running.api))
        .env("BASE_URL", &service.running.api)
        .env("CERTIFICATE", service.data.path().join("tls/certificate.pem"))
        .env("API_KEY", &sample.provider.api_key)
        .env("API_SECRET", &sample.provider.api_secret)
        .envs([
            ("COMPANY_ID", &sample.company),
            ("CORPORATION_ID", &corporation),
            ("OCCASION_ID", &sample.occasion),
        ])
        .envs([("USER_ID", &sample.users[0]), ("RECEIVER_ID", &sample.users[2]), ("EVENT_ID", &event)])
        .output()
        .unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// What a browser measured of a page: how wide it is and may be, and faults for whoever uses a keyboard or a screen reader.
const MEASURE: &str = r#"<script>
  const out = [];
  const wide = document.documentElement.scrollWidth;
  if (wide > window.innerWidth) out.push(`is ${wide} wide in ${window.innerWidth}`);
  let level = 0;
  for (const it of document.querySelectorAll("h1, h2, h3, h4")) {
    const its = Number(it.tagName[1]);
    if (its > level + 1) out.push(`heading ${it.textContent} skips a level`);
    level = its;
  }
  for (const it of document.querySelectorAll("a")) if (!it.textContent.trim()) out.push(`a link to ${it.href} says nothing`);
  for (const it of document.querySelectorAll("pre")) if (it.tabIndex !== 0) out.push("a listing cannot be reached by keyboard");
  for (const it of document.querySelectorAll("td code, th code")) {
    const lines = it.getClientRects().length;
    if (lines > it.textContent.split(/[\s\-\/?&|]+/).length) out.push(`${it.textContent} is broken into ${lines} lines`);
  }
  for (const it of document.querySelectorAll("table")) if (!it.querySelector("th")) out.push("a table has no heads");
  const luminance = (css) => {
    const parts = css.match(/[\d.]+/g).slice(0, 3).map((it) => it / 255);
    const [r, g, b] = parts.map((it) => (it <= 0.03928 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = (it) => {
    for (; it; it = it.parentElement) {
      const css = getComputedStyle(it).backgroundColor;
      if (!/, 0\)$/.test(css)) return css;
    }
    return "rgb(255, 255, 255)";
  };
  for (const it of document.querySelectorAll("p, a, li, td, th, h1, h2, h3, code, span, summary")) {
    const [ink, back] = [luminance(getComputedStyle(it).color), luminance(paper(it))];
    const contrast = (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05);
    if (contrast < 4.5) out.push(`${it.tagName} ${it.className} has a contrast of ${contrast.toFixed(1)}`);
  }
  document.body.innerHTML = `<pre id="measured">${[...new Set(out)].join("\n")}</pre>`;
</script>"#;

#[test]
fn a_browser_shows_every_page_at_both_widths_in_light_and_dark() {
    let Some(browser) = browser() else {
        assert!(std::env::var_os("CI").is_none(), "a browser is missing: install chromium");
        return eprintln!("left out: there is no chromium");
    };
    let database = guerdon_persistence::testing::each().into_iter().next().unwrap();
    let service = Service::start(database, &[]);
    let style = page(&service, "/docs/style.css");
    let folder = tempfile::tempdir().unwrap();
    for (path, page) in pages(&service) {
        let styled = page.replace("</head>", &format!("<style>{style}</style></head>"));
        let file = folder.path().join(format!("{}.html", path.replace('/', "_")));
        std::fs::write(&file, styled.replace("</body>", &format!("{MEASURE}</body>"))).unwrap();
        for (size, scheme) in [("1280,900", "light"), ("420,900", "dark")] {
            let output = Command::new(browser)
                .args([
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--dump-dom",
                    "--disable-dev-shm-usage",
                ])
                .arg(format!("--window-size={size}"))
                .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(scheme == "light")))
                .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
                .arg(format!("file://{}", file.display()))
                .output()
                .unwrap();
            let dom = String::from_utf8_lossy(&output.stdout).into_owned();
            let measured = dom.split("<pre id=\"measured\">").nth(1).and_then(|it| it.split("</pre>").next());
            assert_eq!(measured, Some(""), "{path} at {size} in {scheme}: {dom:.300}");
        }
    }
}

fn browser() -> Option<&'static str> {
    let is_there = |name: &&str| {
        Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
    };
    ["chromium", "chromium-browser", "google-chrome"].into_iter().find(is_there)
}
