//! A library in C that is loaded into a program before others and is controlled through a file.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::workspace::command_output;

/// The size of the control file: this many 64-bit integers.
const NUMBERS: usize = 4;
const NUMBER_BYTES: usize = 8;

/// A compiled library and its control file.
pub(super) struct PreloadedLibrary {
    library: String,
    control: String,
    control_file: fs::File,
}

impl PreloadedLibrary {
    /// Compiles the library in this folder. All numbers in the control file are zero.
    pub(super) fn compile(folder: &Path, source_code: &str) -> Result<Self> {
        let (source, library) = (folder.join("preload.c"), folder.join("preload.so"));
        fs::write(&source, source_code)?;
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-shared", "-fPIC", "-pthread", "-o"]).arg(&library).arg(&source).arg("-ldl");
        command_output(&mut compiler).context("compiling a library that injects faults")?;
        let control = folder.join("control");
        fs::write(&control, [0; NUMBER_BYTES * NUMBERS])?;
        let control_file = fs::File::options().read(true).write(true).open(&control)?;
        let text = |path: &Path| path.to_str().map(str::to_owned).context("a path that is not UTF-8");
        Ok(Self { library: text(&library)?, control: text(&control)?, control_file })
    }

    /// Returns the variables with which a program loads the library.
    pub(super) fn environment(&self) -> [(&'static str, String); 2] {
        [("LD_PRELOAD", self.library.clone()), ("FAULT_CONTROL", self.control.clone())]
    }

    /// Sets the number at this index of the control file.
    pub(super) fn set_control(&self, index: u64, number: i64) -> Result<()> {
        Ok(self.control_file.write_all_at(&number.to_ne_bytes(), 8 * index)?)
    }

    /// Returns the number at this index of the control file, which the library can also set.
    pub(super) fn read_control(&self, index: u64) -> Result<i64> {
        let mut bytes = [0; NUMBER_BYTES];
        self.control_file.read_exact_at(&mut bytes, 8 * index)?;
        Ok(i64::from_ne_bytes(bytes))
    }
}
