//! Writes every page into a folder, to be looked at.

#[path = "../tests/samples/mod.rs"]
mod samples;

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("gallery"), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    for sample in samples::all() {
        // Opened from a folder, the style sheet stands beside the page.
        let beside = guerdon_console::STYLE_PATH.trim_start_matches('/');
        let page = sample.page.replace(guerdon_console::STYLE_PATH, beside);
        std::fs::write(folder.join(sample.name).with_extension("html"), page)?;
    }
    std::fs::write(folder.join("console.css"), guerdon_console::STYLE)
}
