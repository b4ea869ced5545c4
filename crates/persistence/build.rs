//! Embeds the migrations: writes the list that `src/migrations/embedded.rs` includes, with the name and the
//! SQL of each migration.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../../migrations");
    let mut list = String::new();
    for database in ["sqlite", "postgres"] {
        let mut names = Vec::new();
        for entry in std::fs::read_dir(Path::new("../../migrations").join(database))? {
            names.push(entry?.file_name().into_string().map_err(|name| format!("{}", name.display()))?);
        }
        names.sort();
        writeln!(list, "pub(super) const {}: &[Migration] = &[", database.to_uppercase())?;
        for name in names {
            let file = format!("/../../migrations/{database}/{name}/up.sql");
            let text = format!("include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {file:?}))");
            writeln!(list, "    Migration::new({name:?}, {text}),")?;
        }
        writeln!(list, "];")?;
    }
    std::fs::write(Path::new(&std::env::var("OUT_DIR")?).join("migrations.rs"), list)?;
    Ok(())
}
