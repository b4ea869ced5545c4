//! `guerdon dev`: the first command that a newcomer runs.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use guerdon_persistence::testing::create_databases;
use guerdon_test_harness::{Sandbox, Signal};
use guerdon_test_support::record_skip;

use crate::support::service::build_plain_command;

/// Serializes the tests that start a sandbox, because a sandbox first looks for free ports and binds them only later.
pub static SANDBOX_LOCK: Mutex<()> = Mutex::new(());

pub fn start_sandbox(arguments: &[&str]) -> Sandbox {
    start_with_variables(arguments, &[])
}

fn start_with_variables(arguments: &[&str], variables: &[(&str, &str)]) -> Sandbox {
    let variables = [&[("GUERDON_ALLOW_UNSAFE_POSTGRES", "1")], variables].concat();
    Sandbox::start(Path::new(env!("CARGO_BIN_EXE_guerdon")), arguments, &variables).unwrap()
}

/// Waits until everything that the `export` lines name exists. Returns the lines.
pub fn wait_for_exports(sandbox: &Sandbox) -> String {
    let printed = sandbox.wait_until_ready().unwrap();
    let exports = printed.iter().filter(|line| line.starts_with("export "));
    exports.map(|line| format!("{line}\n")).collect()
}

fn stop_with_signal(sandbox: &mut Sandbox, signal: Signal) {
    sandbox.process.send_signal(signal).unwrap();
    assert!(sandbox.process.wait().unwrap().success());
}

#[test]
fn one_command_leads_to_the_first_verified_event() {
    let _alone = SANDBOX_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    for speed in ["1", "1000"] {
        for database in create_databases() {
            let mut sandbox = start_sandbox(&["--check", "--database", &database.url, "--speed", speed]);
            let output = sandbox.read_lines_until("All checks passed.").unwrap().join("\n");
            assert!(output.contains("export BASE_URL='https://localhost:"), "{output}");
            assert!(
                output.contains("guerdon listen --base-url \"$BASE_URL\" --cacert \"$CERTIFICATE\""),
                "{output}"
            );
            let path = output.lines().find(|line| line.starts_with("export PATH=")).unwrap();
            let found =
                Command::new("sh").args(["-c", &format!("{path}; guerdon --version")]).output().unwrap();
            assert!(found.status.success(), "{path}: {found:?}");
            assert!(sandbox.process.wait().unwrap().success(), "{}", database.url);
        }
    }
}

#[test]
fn a_sped_up_sandbox_shows_the_whole_schedule_and_cleans_up() {
    let _alone = SANDBOX_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let mut sandbox = start_sandbox(&["--speed", "1000000"]);
    let lines = sandbox.read_lines_until("attempt 11 of 11").unwrap();
    let output = lines.join("\n");
    for part in [
        "attempt 1 of 11; next attempt in 15 s (here 15.0µs)",
        "next attempt in 1 d 10 h 37 min 54 s (here",
        "exhausted",
    ] {
        assert!(output.contains(part), "{part} is not in {output}");
    }
    assert!(!output.contains('\u{1b}'), "no colours in a file");
    let folder = find_data_dir(&lines);
    assert!(folder.join("guerdon.db").exists());
    stop_with_signal(&mut sandbox, Signal::INT);
    assert!(!folder.exists());
}

#[test]
fn a_sandbox_listens_on_the_configured_addresses() {
    let _alone = SANDBOX_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    // Below the ports that the system gives to connections and listeners of other tests.
    let free_port =
        |first: u16| (first..32_768).find(|port| TcpListener::bind(("0.0.0.0", *port)).is_ok()).unwrap();
    let http = format!("0.0.0.0:{}", free_port(20_000));
    let operator = format!("127.0.0.2:{}", free_port(25_000));
    let mut file = tempfile::NamedTempFile::new().unwrap();
    writeln!(file, "operator.listen = \"{operator}\"\ndatabase.url = \"postgres:///not-used\"").unwrap();
    let arguments = ["--config", file.path().to_str().unwrap()];
    let mut sandbox = start_with_variables(&arguments, &[("GUERDON_HTTP__LISTEN", &http)]);
    let output = sandbox.wait_until_ready().unwrap().join("\n");
    assert!(output.contains(&format!("It listens on {http} (http.listen), and on {operator} ")), "{output}");
    assert!(output.contains(&format!("https://localhost:{}", &http["0.0.0.0:".len()..])), "{output}");
    assert!(output.contains(&format!("export GUERDON_OPERATOR__LISTEN='{operator}'")), "{output}");
    for address in [http.replace("0.0.0.0", "127.0.0.3"), operator] {
        TcpStream::connect(&address).unwrap_or_else(|cause| panic!("{address}: {cause}"));
    }
    stop_with_signal(&mut sandbox, Signal::INT);
}

#[test]
fn closing_the_terminal_cleans_up() {
    let _alone = SANDBOX_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    // Child processes inherit ignored signals.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap_or("0").trim();
    if u64::from_str_radix(ignored, 16).unwrap() & 1 == 1 {
        return record_skip("the tests run under nohup, which ignores the signal");
    }
    let mut sandbox = start_sandbox(&[]);
    let folder = find_data_dir(&sandbox.wait_until_ready().unwrap());
    assert!(folder.exists());
    stop_with_signal(&mut sandbox, Signal::HUP);
    assert!(!folder.exists());
}

#[test]
fn a_sandbox_ends_when_its_output_is_closed() {
    let _alone = SANDBOX_LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let mut child = build_plain_command()
        .args(["dev", "--speed", "1000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut printed = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    printed.read_line(&mut line).unwrap();
    drop(printed); // as `head -1` does
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !stderr.contains("panicked"), "{stderr}");
}

#[test]
fn an_out_of_range_speed_is_refused() {
    for speed in ["0", "0.0001", "1e300", "NaN"] {
        let refused = build_plain_command().args(["dev", "--speed", speed]).output();
        let refused = refused.unwrap();
        assert_eq!(refused.status.code(), Some(2));
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert!(stderr.contains("must be a number from 0.001 to 1000000000"), "{speed}: {stderr}");
    }
}

/// The temporary data directory.
fn find_data_dir(lines: &[String]) -> PathBuf {
    let folder =
        lines.iter().find_map(|line| line.strip_prefix("export GUERDON_DATA_DIR='")?.strip_suffix('\''));
    PathBuf::from(folder.unwrap())
}
