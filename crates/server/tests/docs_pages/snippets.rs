//! Every example of the pages works in the sandbox, in page order: shell, Python and JavaScript.
//!
//! The examples are the fenced blocks of the Markdown forms. After the language `sh`, the fence may say `background`
//! (the program keeps running), `status=N` (each curl command receives this status) or `manual` (the reader starts the
//! program in a separate terminal; the test has already done so).

mod shell;

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{PoisonError, mpsc};
use std::time::{Duration, SystemTime};

use guerdon_domain::ports::Timestamp;
use guerdon_persistence::testing::create_databases;
use guerdon_test_support::require_program;

use self::shell::{Background, Shell, kill_group};
use super::fetch_all_pages;
use crate::sandbox::{SANDBOX_LOCK, start_sandbox, wait_for_exports};
use crate::support::create_any_database;
use crate::support::service::TestService;

/// The longest time that one example may take.
const EXAMPLE_TIMEOUT: Duration = Duration::from_secs(60);
/// The port of the receiver in the examples. The test uses a free port instead.
const RECEIVER_PORT: &str = "8080";
/// The only page with values that come from a delivery.
const WEBHOOKS_PAGE: &str = "/docs/guides/webhooks";

/// A fenced block of a page.
struct Block {
    /// The words after the fence: the language, then annotations.
    info: Vec<String>,
    text: String,
}

impl Block {
    fn language(&self) -> &str {
        self.info.first().map(String::as_str).unwrap_or_default()
    }

    fn annotations(&self) -> impl Iterator<Item = &str> {
        self.info.iter().skip(1).map(String::as_str)
    }
}

/// A page and its fenced blocks.
struct Page {
    path: String,
    blocks: Vec<Block>,
}

impl Page {
    fn blocks_in<'a>(&'a self, language: &'a str) -> impl Iterator<Item = &'a Block> {
        self.blocks.iter().filter(move |block| block.language() == language)
    }
}

fn parse_blocks(markdown: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in markdown.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                let info = info.split_whitespace().map(str::to_owned).collect();
                open = Some(Block { info, text: String::new() });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.text.push_str(&format!("{line}\n")),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    blocks
}

/// Reads the Markdown forms of all pages from a service, which it starts and stops.
fn read_pages() -> Vec<Page> {
    let service = TestService::start(create_any_database(), &[]);
    let paths = fetch_all_pages(&service).into_iter().map(|(path, _)| path);
    let read = |path: String| {
        let response = service.running.send_request("GET", &format!("{path}.md"), &[], None);
        assert_eq!(response.status, 200, "{path}");
        Page { blocks: parse_blocks(&response.body), path }
    };
    paths.map(read).collect()
}

#[test]
fn every_shell_example_works_in_the_sandbox_in_page_order() {
    let _alone = SANDBOX_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let pages = read_pages();
    for database in create_databases() {
        let sandbox = start_sandbox(&["--database", &database.url]);
        let exports = wait_for_exports(&sandbox);
        let folder = tempfile::tempdir().unwrap();
        let (mut count, mut manual) = (0, Vec::new());
        for page in &pages {
            let mut walk = ShellWalk::start(page, &exports, folder.path());
            for block in page.blocks_in("sh") {
                match block.annotations().collect::<Vec<_>>()[..] {
                    [] => walk.run(block, "2[0-9][0-9]"),
                    ["background"] => walk.start_in_background(block),
                    ["manual"] => manual.push(block.text.trim_end()),
                    [annotation] => walk.run(block, annotation.strip_prefix("status=").unwrap()),
                    [..] => panic!("{}: {:?}", page.path, block.info),
                }
                count += 1;
            }
            walk.finish();
        }
        assert_eq!(manual, ["guerdon dev"]);
        assert!(count > 50, "{count}");
    }
}

#[test]
fn every_python_and_javascript_example_works_in_the_sandbox_in_page_order() {
    let languages = [("python", "python3", "example.py"), ("javascript", "node", "example.mjs")];
    let _alone = SANDBOX_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let pages = read_pages();
    for (language, program, file) in languages {
        let Some(program) = require_program(program) else { continue };
        let folder = tempfile::tempdir().unwrap();
        for client in ["client.py", "client.mjs"] {
            let path = format!("{}/../../docs/clients/{client}", env!("CARGO_MANIFEST_DIR"));
            std::fs::copy(path, folder.path().join(client)).unwrap();
        }
        let sandbox = start_sandbox(&[]);
        let exports = wait_for_exports(&sandbox);
        let (mut count, mut skipped) = (0, 0);
        for page in &pages {
            for block in page.blocks_in(language) {
                if block.text.contains("standardwebhooks") {
                    skipped += 1; // `cargo xtask clients` installs the library and runs the example.
                    continue;
                }
                std::fs::write(folder.path().join(file), &block.text).unwrap();
                let line = format!("{exports}exec {} {file}", program.display());
                let failure = run_within_timeout(&line, folder.path());
                assert_eq!(failure, None, "{} for\n{}", page.path, block.text);
                count += 1;
            }
        }
        assert_eq!(skipped, 1, "{language}");
        assert!(count > 40, "{language}: {count}");
    }
}

/// Runs a command in a folder. Returns its status and output if it fails or takes longer than an example may.
fn run_within_timeout(line: &str, folder: &Path) -> Option<String> {
    let output = folder.join("output.txt");
    let file = File::create(&output).unwrap();
    let mut child = Command::new("sh")
        .args(["-c", line])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(file.try_clone().unwrap())
        .stderr(file)
        .process_group(0)
        .spawn()
        .unwrap();
    let group = child.id();
    let (sender, ended) = mpsc::channel();
    let waiting = std::thread::spawn(move || sender.send(child.wait().unwrap()));
    let status = ended.recv_timeout(EXAMPLE_TIMEOUT);
    if status.is_err() {
        kill_group(group);
    }
    waiting.join().unwrap().unwrap_or_default();
    let is_success = status.is_ok_and(|status| status.success());
    (!is_success).then(|| format!("{status:?}: {}", std::fs::read_to_string(&output).unwrap()))
}

/// The shell examples of a page: one shell, in which functions stay defined, and the programs in the background.
struct ShellWalk<'a> {
    page: &'a Page,
    exports: &'a str,
    folder: &'a Path,
    shell: Shell,
    background: Vec<Background>,
    receiver_port: String,
}

impl<'a> ShellWalk<'a> {
    fn start(page: &'a Page, exports: &'a str, folder: &'a Path) -> Self {
        let receiver_port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let shell = Shell::start(exports, folder);
        let mut walk = Self {
            page,
            exports,
            folder,
            shell,
            background: Vec::new(),
            receiver_port: receiver_port.to_string(),
        };
        if page.path == WEBHOOKS_PAGE {
            walk.prepare_delivery();
        }
        walk
    }

    /// Runs an example. `status` is a shell pattern of the statuses that its curl commands may receive.
    fn run(&mut self, block: &Block, status: &str) {
        let printed = self.shell.run(&self.with_free_port(&block.text), status, EXAMPLE_TIMEOUT);
        let printed =
            printed.unwrap_or_else(|cause| panic!("{}: {cause} for\n{}", self.page.path, block.text));
        if block.text.contains("openssl dgst") {
            let headers = std::fs::read_to_string(self.folder.join("headers.txt")).unwrap();
            let computed = printed.split_whitespace().last().unwrap();
            assert!(headers.contains(&format!("X-Service-Signature: {computed}\n")), "{printed} {headers}");
        }
    }

    /// Starts a program that keeps running, and waits until it has printed a line: the receivers and `guerdon listen`
    /// do so when they are ready.
    fn start_in_background(&mut self, block: &Block) {
        let line = format!("{}{}", self.exports, self.with_free_port(&block.text));
        self.background.push(Background::start(&line, self.folder, EXAMPLE_TIMEOUT));
    }

    fn with_free_port(&self, text: &str) -> String {
        text.replace(RECEIVER_PORT, &self.receiver_port)
    }

    /// Writes the files and sets the variables of a delivery to the sandbox's receiver.
    #[expect(clippy::disallowed_methods, reason = "the receiver has the machine's clock too")]
    fn prepare_delivery(&mut self) {
        let body = br#"{"type":"redemption.created","version":"1.0","data":{}}"#;
        let nonce = "cbebb86099222c806dd026d4f0d16547";
        let timestamp = Timestamp::from(SystemTime::now()).to_string();
        let (url, secret) = (self.exported("CALLBACK_URL"), self.exported("SHARED_SECRET"));
        let signature = guerdon_webhooks::sign(secret, url, &timestamp, nonce, body);
        let headers = format!(
            "Content-Type: application/json\nX-Service-Timestamp: {timestamp}\nX-Service-Nonce: {nonce}\n\
             X-Service-Signature: {signature}\n"
        );
        std::fs::write(self.folder.join("body.json"), body).unwrap();
        std::fs::write(self.folder.join("headers.txt"), headers).unwrap();
        let variables = format!("TIMESTAMP={timestamp} NONCE={nonce}");
        self.shell.run(&variables, "", EXAMPLE_TIMEOUT).unwrap();
    }

    /// The value of an `export` line of the sandbox.
    fn exported(&self, name: &str) -> &'a str {
        let prefix = format!("export {name}='");
        let value = self.exports.lines().find_map(|line| line.strip_prefix(&prefix)?.strip_suffix('\''));
        value.unwrap_or_else(|| panic!("{name} is not in {}", self.exports))
    }

    /// Checks that the programs in the background are still running, and ends them and the shell.
    fn finish(mut self) {
        for program in &mut self.background {
            program.assert_running();
        }
    }
}
