//! The workspace's location and files, and helpers that run programs in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The workspace as reported by `cargo metadata`.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) target: PathBuf,
    metadata: Value,
    /// The arguments that select the features of every build.
    features: &'static [&'static str],
}

/// Selects the features of a release. OpenSSL is built into libpq, which requires perl and make.
const RELEASE_FEATURES: &[&str] = &["--features", "guerdon-persistence/postgres-tls"];

impl Workspace {
    pub(crate) fn load() -> Result<Self> {
        let text =
            command_output(clean_cargo_command().args(["metadata", "--no-deps", "--format-version", "1"]))?;
        let metadata: Value = serde_json::from_str(&text).context("reading cargo metadata")?;
        let folder = |key: &str| {
            metadata
                .get(key)
                .and_then(Value::as_str)
                .map(PathBuf::from)
                .with_context(|| format!("no {key} in cargo metadata"))
        };
        Ok(Self {
            root: folder("workspace_root")?,
            target: folder("target_directory")?,
            metadata,
            features: &[],
        })
    }

    /// Builds everything with the features of a release, so that no crate is built twice with different features.
    pub(crate) fn with_release_features(self) -> Self {
        Self { features: RELEASE_FEATURES, ..self }
    }

    /// Returns the packages of the workspace as JSON objects.
    pub(crate) fn packages(&self) -> Result<&Vec<Value>> {
        self.metadata.get("packages").and_then(Value::as_array).context("no packages in cargo metadata")
    }

    /// Returns a cargo command that runs at the root of the workspace.
    pub(crate) fn cargo_command(&self, arguments: &[&str]) -> Command {
        let mut command = clean_cargo_command();
        command.args(arguments).current_dir(&self.root);
        command
    }

    /// Returns a cargo command on all packages, with the features of every build.
    pub(crate) fn workspace_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.cargo_command(arguments);
        command.args(["--workspace", "--locked"]).args(self.features);
        command
    }

    /// Builds the service and returns the path of its binary.
    pub(crate) fn build_guerdon(&self) -> Result<PathBuf> {
        run_command(&mut self.workspace_command(&["build", "--bin", "guerdon"]))?;
        Ok(self.target.join("debug").join("guerdon"))
    }

    /// Builds `guerdon-baseline` and returns the path of its binary.
    pub(crate) fn build_baseline(&self) -> Result<PathBuf> {
        run_command(&mut self.cargo_command(&[
            "build",
            "--quiet",
            "--package",
            "guerdon-baseline",
            "--locked",
        ]))?;
        Ok(self.target.join("debug").join("guerdon-baseline"))
    }

    /// Returns every file that git tracks or would add, relative to the root.
    pub(crate) fn list_files(&self) -> Result<Vec<PathBuf>> {
        let mut git = Command::new("git");
        git.args(["ls-files", "--cached", "--others", "--exclude-standard"]).current_dir(&self.root);
        let mut files: Vec<_> = command_output(&mut git)?.lines().map(PathBuf::from).collect();
        files.retain(|file| self.root.join(file).is_file());
        files.sort();
        files.dedup();
        Ok(files)
    }
}

/// Runs a command with its output shown. A nonzero exit status is an error.
pub(crate) fn run_command(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("starting {}", program_name(command)))?;
    if !status.success() {
        bail!("{} failed ({status})", command_line(command));
    }
    Ok(())
}

/// Runs a command and returns its standard output. The error contains standard error or, if that is empty, standard
/// output.
pub(crate) fn command_output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("starting {}", program_name(command)))?;
    if !output.status.success() {
        let message = if output.stderr.is_empty() { &output.stdout } else { &output.stderr };
        let message = String::from_utf8_lossy(message);
        bail!("{} failed ({}): {}", program_name(command), output.status, message.trim());
    }
    String::from_utf8(output.stdout).with_context(|| format!("output of {}", program_name(command)))
}

/// Copies files into a new or existing folder.
pub(crate) fn copy_files(source: &Path, names: &[&str], folder: &Path) -> Result<()> {
    fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    for name in names {
        fs::copy(source.join(name), folder.join(name)).with_context(|| format!("copying {name}"))?;
    }
    Ok(())
}

/// Returns the subfolders of a folder, sorted; none if the folder is missing.
pub(crate) fn list_subfolders(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut folders = Vec::new();
    for entry in folder.read_dir().with_context(|| format!("listing {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

fn clean_cargo_command() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    remove_variables_of_cargo(&mut command);
    command
}

/// Removes the variables that cargo sets for this crate. If they were passed on, build scripts such as ring's would run
/// again, and their dependents would be recompiled, at each change between `cargo xtask …` and `cargo …`.
pub(crate) fn remove_variables_of_cargo(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
}

fn program_name(command: &Command) -> String {
    let program = Path::new(command.get_program());
    program.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn command_line(command: &Command) -> String {
    let arguments = command.get_args().map(|argument| argument.to_string_lossy().into_owned());
    std::iter::once(program_name(command)).chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Returns a string field of a JSON object.
pub(crate) fn string_field(object: &Value, field: &str) -> Result<String> {
    object
        .get(field)
        .and_then(Value::as_str)
        .map(str::to_owned)
        .with_context(|| format!("no {field} in {object}"))
}
