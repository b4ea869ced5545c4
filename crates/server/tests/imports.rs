//! `guerdon import users`: the files that programs write, and imports through a running service.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::memory::process_memory_kib;
use crate::support::service::{CommandOutput, TestService};
use crate::support::{SampleCompany, for_each_database};

/// The maximum growth of the service's memory: more than its page cache (32 MiB) plus the text of the file, and much
/// less than the parsed rows of the file.
const IMPORT_GROWTH_MAX_KIB: u64 = 56 << 10;

fn write_file(service: &TestService, name: &str, content: &[u8]) -> PathBuf {
    let path = service.data_dir.path().join(name);
    fs::write(&path, content).unwrap();
    path
}

fn import(service: &TestService, file: &Path, company: &str, more: &[&str]) -> CommandOutput {
    let file = file.to_str().unwrap();
    let arguments = ["--output", "json", "import", "users", file, "--company", company];
    service.run_command(&[arguments.as_slice(), more].concat())
}

fn counts(result: &CommandOutput) -> Value {
    serde_json::from_str(&result.stdout).unwrap_or_else(|_| panic!("{}", result.stderr))
}

fn user_rows(count: usize) -> String {
    let rows = (0..count).map(|n| format!("E{n};person{n}@example.com;First;Last;\"Engineer\n\"\n"));
    format!("employee_id;email;first_name;last_name;title\n{}", rows.collect::<String>())
}

#[test]
fn files_of_spreadsheets_are_imported() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        let semicolons =
            "email;last_name;first_name\r\nann@example.com;Lee;\"Ann; B\r\n\"\r\nbroken;Ray;Bob\r\n";
        let file = write_file(service, "semicolons.csv", format!("\u{feff}{semicolons}").as_bytes());
        let done = import(service, &file, &sample.company, &[]);
        assert!(done.stderr.contains("line 4: email"), "{}", done.stderr);
        assert_eq!(counts(&done), json!({"created": 1, "updated": 0, "unchanged": 0, "refused": 1}));

        let tabs = "\u{feff}email\tfirst_name\tlast_name\r\nzoe@example.com\tZoë\tRay\r\n";
        let utf16: Vec<u8> = tabs.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let file = write_file(service, "people.txt", &utf16);
        let refused = import(service, &file, &sample.company, &[]);
        assert!(refused.status == 1 && refused.stderr.contains("--format csv"), "{}", refused.stderr);
        let done = import(service, &file, &sample.company, &["--format", "csv"]);
        assert_eq!(counts(&done)["created"], 1, "{}", done.stderr);
        let row = |email: &str| json!({"email": email, "last_name": "B", "company_id": sample.company});
        let rows = format!("{}\n{}\n", row("new@example.com"), row("ann@example.com"));
        let with_company = write_file(service, "with-company.jsonl", rows.as_bytes());
        let done = import(service, &with_company, &sample.company, &[]);
        assert!(done.stderr.contains("line 2: company_id must not be in a row"), "{}", done.stderr);
        assert_eq!(counts(&done)["refused"], 2);
        let latin1 = write_file(service, "latin1.csv", b"email,last_name\nz@example.com,Zo\xeb\n");
        let refused = import(service, &latin1, &sample.company, &[]);
        assert!(refused.stderr.contains("line 2 is not UTF-8"), "{}", refused.stderr);
    });
}

#[test]
fn a_large_import_counts_the_lines_of_the_whole_file() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        let text = format!("{}only one cell\n", user_rows(1_200));
        let file = write_file(service, "people.csv", text.as_bytes());
        let done = import(service, &file, &sample.company, &[]);
        assert_eq!(counts(&done), json!({"created": 1_200, "updated": 0, "unchanged": 0, "refused": 1}));
        assert!(done.stderr.contains("line 2402: 1 cell, but the header has 5"), "{}", done.stderr);
        let audit = service.run_json_command(&["audit", "--company", &sample.company]);
        let imports = audit.as_array().unwrap().iter().filter(|entry| entry["action"] == "import.users");
        let details: Vec<&Value> = imports.map(|entry| &entry["detail"]).collect();
        assert_eq!(details, ["1200 created, 0 updated", "started, 1201 records"]);
        let again = import(service, &file, &sample.company, &["--atomic"]);
        assert!(again.status == 1 && again.stderr.contains("line 2402: "), "{}", again.stderr);
        assert_eq!(counts(&again)["refused"], 1);
    });
}

#[test]
fn an_atomic_import_takes_little_memory() {
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        let file = write_file(service, "people.csv", user_rows(20_000).as_bytes());
        let before = process_memory_kib(service, "VmRSS");
        let done = import(service, &file, &sample.company, &["--atomic"]);
        assert_eq!(counts(&done)["created"], 20_000, "{}", done.stderr);
        let growth = process_memory_kib(service, "VmHWM").saturating_sub(before);
        assert!(growth < IMPORT_GROWTH_MAX_KIB, "{growth} KiB");
    });
}
