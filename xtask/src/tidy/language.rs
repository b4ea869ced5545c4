//! Comments and documents are written in plain language: the number of lines with idioms may only fall.

use anyhow::Result;

use super::Finding;
use crate::language;
use crate::workspace::Workspace;

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let recorded = language::read_record(workspace)?;
    let mut findings = Vec::new();
    for (area, counts) in language::count_areas(workspace, false)? {
        let (now, limit) = (counts.idioms, recorded.get(&area).copied().unwrap_or(0));
        if now > limit {
            let problem = format!("{now} lines with idioms, {limit} recorded");
            let fix = "list them with `cargo xtask language --lines`, and rewrite them in plain language";
            findings.push(Finding::new(format!("language of {area}"), problem, fix));
        } else if now < limit {
            let problem = format!("{now} lines with idioms, but {limit} recorded");
            let fix = "record the lower number with `cargo xtask language --record`";
            findings.push(Finding::new(format!("language of {area}"), problem, fix));
        }
    }
    Ok(findings)
}
