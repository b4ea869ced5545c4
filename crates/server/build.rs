//! Notes the commit that is built, where there is one: from the environment of a release, or from the work tree.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-env-changed=BUILD_COMMIT");
    println!("cargo::rerun-if-changed=../../.git/HEAD");
    println!("cargo::rerun-if-changed=../../.git/logs/HEAD");
    let given = std::env::var("BUILD_COMMIT").ok();
    let commit = given.or_else(found).unwrap_or_else(|| "unknown".to_owned());
    println!("cargo::rustc-env=BUILD_COMMIT={}", commit.trim());
}

fn found() -> Option<String> {
    let told = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    told.status.success().then(|| String::from_utf8(told.stdout).ok()).flatten()
}
