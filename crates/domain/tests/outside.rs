//! Tests that a project outside the workspace can use the crate. The project is copied, built and run.

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn a_project_outside_the_workspace_sends_a_recognition_with_only_this_crate() {
    let domain = Path::new(env!("CARGO_MANIFEST_DIR"));
    let (from, to) = (domain.join("tests/outside"), Path::new(env!("CARGO_TARGET_TMPDIR")).join("outside"));
    fs::create_dir_all(to.join("src")).unwrap();
    let manifest = fs::read_to_string(from.join("Cargo.toml")).unwrap();
    let path = format!("path = {:?}", domain.display().to_string());
    fs::write(to.join("Cargo.toml"), manifest.replace("path = \"../..\"", &path)).unwrap();
    fs::copy(from.join("src/main.rs"), to.join("src/main.rs")).unwrap();
    // The versions that this workspace was built with, so that nothing is fetched.
    fs::copy(domain.join("../../Cargo.lock"), to.join("Cargo.lock")).unwrap();
    let cargo = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--offline", "--target-dir"])
        .arg(to.join("target"))
        .current_dir(&to)
        .env_remove("RUSTC_BOOTSTRAP") // `cargo xtask test` sets it for libtest alone
        .output()
        .unwrap();
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    let printed = String::from_utf8_lossy(&cargo.stdout);
    assert_eq!(printed, "Well done: 25\nWell done: 25\n2 events\n");
}
