//! Writes every page into a folder for inspection.

#[path = "../tests/samples/mod.rs"]
mod samples;

use std::path::PathBuf;

fn main() -> std::io::Result<()> {
    let folder = std::env::args_os().nth(1).map_or_else(|| PathBuf::from("gallery"), PathBuf::from);
    std::fs::create_dir_all(&folder)?;
    for sample in samples::render_samples() {
        // In the folder, the style sheet is next to the page.
        let relative_path = guerdon_console::STYLE_PATH.trim_start_matches('/');
        let page = sample.page.replace(guerdon_console::STYLE_PATH, relative_path);
        std::fs::write(folder.join(sample.name).with_extension("html"), page)?;
    }
    std::fs::write(folder.join("console.css"), guerdon_console::STYLE)
}
