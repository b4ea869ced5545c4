//! Pages in Chromium, at the width of a desk and of a phone, in light and in dark.

use std::process::{Command, Stdio};

use tempfile::TempDir;

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
  for (const it of document.querySelectorAll("p, a, dt, dd, li, td, th, h1, h2, h3, code, span, summary")) {
    if (!it.textContent.trim()) continue;
    const [ink, back] = [luminance(getComputedStyle(it).color), luminance(paper(it))];
    const contrast = (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05);
    if (contrast < 4.5) out.push(`${it.tagName} ${it.className} has a contrast of ${contrast.toFixed(1)}`);
  }
  document.body.innerHTML = `<pre id="measured">${[...new Set(out)].join("\n")}</pre>`;
</script>"#;

/// A browser that is installed.
pub struct Browser {
    program: &'static str,
    folder: TempDir,
}

impl Browser {
    /// None where none is installed; then a test has nothing to look at, which is a fault in CI.
    pub fn find() -> Option<Self> {
        let is_there = |name: &&str| {
            Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
        };
        let program = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(is_there);
        assert!(
            program.is_some() || std::env::var_os("CI").is_none(),
            "a browser is missing: install chromium"
        );
        if program.is_none() {
            eprintln!("left out: there is no chromium");
        }
        program.map(|program| Self { program, folder: tempfile::tempdir().unwrap() })
    }

    /// Fails for whatever is wrong with the page, once it has its style.
    pub fn shows(&self, name: &str, page: &str, style: &str) {
        let styled = page.replace("</head>", &format!("<style>{style}</style></head>"));
        let file = self.folder.path().join("page.html");
        std::fs::write(&file, styled.replace("</body>", &format!("{MEASURE}</body>"))).unwrap();
        for (size, scheme) in [("1280,900", "light"), ("420,900", "dark")] {
            let output = Command::new(self.program)
                .args([
                    "--headless",
                    "--no-sandbox",
                    "--disable-gpu",
                    "--dump-dom",
                    "--disable-dev-shm-usage",
                ])
                .arg(format!("--window-size={size}"))
                .arg(format!("--blink-settings=preferredColorScheme={}", u8::from(scheme == "light")))
                .arg(format!("--user-data-dir={}", self.folder.path().join("profile").display()))
                .arg(format!("file://{}", file.display()))
                .output()
                .unwrap();
            let dom = String::from_utf8_lossy(&output.stdout).into_owned();
            let measured = dom.split("<pre id=\"measured\">").nth(1).and_then(|it| it.split("</pre>").next());
            assert_eq!(measured, Some(""), "{name} at {size} in {scheme}: {dom:.300}");
        }
    }
}
