//! Describes the program and the machine that are measured.

use std::process::Command;

use anyhow::Result;

use crate::workspace::{Workspace, command_output};

/// Returns the properties of the program and the machine, with their names.
pub(super) fn describe_machine(workspace: &Workspace) -> Result<Vec<(&'static str, String)>> {
    let git =
        |arguments: &[&str]| command_output(Command::new("git").args(arguments).current_dir(&workspace.root));
    let changed = if git(&["status", "--porcelain"])?.is_empty() { "" } else { ", with changes" };
    let commit = format!("{}{changed}", git(&["rev-parse", "--short", "HEAD"])?.trim());
    let kernel = command_output(Command::new("uname").args(["-s", "-r", "-m"]))?.trim().to_owned();
    Ok(vec![
        ("commit", commit),
        ("cores", std::thread::available_parallelism()?.to_string()),
        ("processor", processor_model()),
        ("kernel", kernel),
    ])
}

fn processor_model() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or_else(|| "unknown".to_owned(), |(_, name)| name.trim().to_owned())
}
