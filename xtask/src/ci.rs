//! `cargo xtask ci`: what must pass before a change lands.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::workspace::{Workspace, run as run_command};
use crate::{dev, test, tidy};

type Step<'a> = (&'a str, &'a dyn Fn() -> Result<()>);

pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let format = || run_command(&mut workspace.cargo(&["fmt", "--all", "--check"]));
    let lints = || {
        let clippy = ["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"];
        run_command(&mut workspace.cargo(&clippy))
    };
    let tidy = || tidy::run(workspace);
    let docs = || {
        let mut cargo = workspace.cargo(&["doc", "--workspace", "--no-deps", "--locked"]);
        run_command(cargo.env("RUSTDOCFLAGS", "-D warnings"))
    };
    let tests = || test::run(workspace, &test::Arguments::all());
    let sandbox = || dev::run(workspace, &dev::Arguments::check());
    let steps: [Step<'_>; 6] = [
        ("format", &format),
        ("lints", &lints),
        ("tidy", &tidy),
        ("docs", &docs),
        ("sandbox", &sandbox),
        ("tests", &tests),
    ];
    for (name, step) in steps {
        println!("==> {name}");
        let start = Instant::now();
        step().with_context(|| format!("ci: {name}"))?;
        println!("==> {name} passed in {} s", start.elapsed().as_secs());
    }
    Ok(())
}
