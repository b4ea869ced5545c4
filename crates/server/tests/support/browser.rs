//! Pages in Chromium, at desktop and phone widths, in light and dark mode.

use std::path::PathBuf;
use std::process::Command;

use guerdon_test_support::require_one_of;
use tempfile::TempDir;

/// Finds faults of a page: overflow beyond the window's width, low contrast, and barriers for keyboard and screen
/// reader users.
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
  for (const it of document.querySelectorAll(".code pre, pre.command, pre.wrapped")) {
    if (it.scrollWidth > it.clientWidth) out.push(`the listing ${it.textContent.slice(0, 40)} is cut off`);
  }
  for (const it of document.querySelectorAll("table")) if (!it.querySelector("th")) out.push("a table has no header cells");
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
  for (const it of document.querySelectorAll("p, a, dt, dd, li, td, th, h1, h2, h3, code, span, summary")) {
    if (!it.textContent.trim()) continue;
    const [ink, back] = [luminance(getComputedStyle(it).color), luminance(paper(it))];
    const contrast = (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05);
    if (contrast < 4.5) out.push(`${it.tagName} ${it.className} has a contrast of ${contrast.toFixed(1)}`);
  }
  document.body.innerHTML = `<pre id="measured">${[...new Set(out)].join("\n")}</pre>`;
</script>"#;

/// Collects the faults of each frame, in the order of the frames.
const COLLECT: &str = r#"<script>
  addEventListener("load", () => {
    const frames = [...document.querySelectorAll("iframe")];
    const measured = frames.map((it) => it.contentDocument.getElementById("measured")?.textContent ?? "nothing was measured");
    const out = document.createElement("pre");
    out.id = "all";
    out.textContent = JSON.stringify(measured);
    document.body.replaceChildren(out);
  });
</script>"#;

/// An installed browser.
pub struct Browser {
    program: PathBuf,
    folder: TempDir,
}

impl Browser {
    /// `None` if no browser is installed, in which case the test is skipped.
    pub fn find_installed() -> Option<Self> {
        let program = require_one_of(&["chromium", "chromium-browser", "google-chrome"])?;
        Some(Self { program, folder: tempfile::tempdir().unwrap() })
    }

    /// Fails if the browser finds a fault in one of the pages (name and content) after the style is applied.
    pub fn assert_pages_render(&self, pages: &[(&str, &str)], style: &str) {
        for (width, is_dark) in [(1280, false), (1280, true), (390, false), (390, true)] {
            let faults = self.measure_faults(pages, style, width, is_dark);
            assert_eq!(faults.len(), pages.len());
            for ((name, _), faults) in pages.iter().zip(faults) {
                assert_eq!(faults, "", "{name} at a width of {width}, dark: {is_dark}");
            }
        }
    }

    /// Returns the page at this address after its scripts have run.
    pub fn dump_page(&self, url: &str) -> String {
        let output = Command::new(&self.program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--disable-dev-shm-usage"])
            .args(["--ignore-certificate-errors", "--virtual-time-budget=20000"])
            .arg(format!("--user-data-dir={}", self.folder.path().join("profile").display()))
            .arg(url)
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Returns the faults of each page. Each frame contains one page, because starting a browser takes longer than
    /// displaying a page.
    fn measure_faults(&self, pages: &[(&str, &str)], style: &str, width: u16, is_dark: bool) -> Vec<String> {
        let frames = pages.iter().map(|(_, page)| {
            let styled = page.replace("</head>", &format!("<style>{style}</style></head>"));
            let page = styled.replace("</body>", &format!("{MEASURE}</body>"));
            let page = page.replace('&', "&amp;").replace('"', "&quot;");
            format!("<iframe width={width} height=900 style=border:0 srcdoc=\"{page}\"></iframe>")
        });
        let file = self.folder.path().join("pages.html");
        let frames: String = frames.collect();
        std::fs::write(&file, format!("<!doctype html><meta charset=utf-8><body>{frames}{COLLECT}")).unwrap();
        let output = Command::new(&self.program)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--disable-dev-shm-usage"])
            .args(["--window-size=1500,900", "--virtual-time-budget=60000"])
            .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(!is_dark)))
            .arg(format!("--user-data-dir={}", self.folder.path().join("profile").display()))
            .arg(format!("file://{}", file.display()))
            .output()
            .unwrap();
        let dom = String::from_utf8_lossy(&output.stdout);
        let measured = dom.split("<pre id=\"all\">").nth(1).and_then(|rest| rest.split("</pre>").next());
        let measured = measured.unwrap_or_else(|| panic!("nothing was measured: {dom:.300}"));
        let json = measured.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&");
        serde_json::from_str(&json).unwrap()
    }
}

#[test]
fn faults_are_found_in_the_page_that_has_them() {
    let Some(browser) = Browser::find_installed() else { return };
    let page = |body: &str| format!("<!doctype html><html><head></head><body>{body}</body></html>");
    let (good, bad) = (page("<h1>A</h1><h2>B & C</h2>"), page("<h1>A</h1><h3>B & C</h3>"));
    let style = "@media (prefers-color-scheme: dark) { body { width: 500px } }";
    let faults =
        |width, is_dark| browser.measure_faults(&[("good", &good), ("bad", &bad)], style, width, is_dark);
    assert_eq!(faults(1280, false), ["", "heading B & C skips a level"]);
    assert_eq!(faults(420, true)[0], "is 508 wide in 420");
}
