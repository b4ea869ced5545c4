//! Passes the commit to the program: from the environment of a release build, or from the work tree; `unknown`
//! otherwise.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=BUILD_COMMIT");
    println!("cargo::rerun-if-changed=../../.git/HEAD");
    println!("cargo::rerun-if-changed=../../.git/logs/HEAD");
    let given = std::env::var("BUILD_COMMIT").ok();
    let commit = given.or_else(work_tree_commit).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=BUILD_COMMIT={}", commit.trim());
}

fn work_tree_commit() -> Option<String> {
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    output.status.success().then(|| String::from_utf8(output.stdout).ok()).flatten()
}
