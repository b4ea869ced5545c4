//! What plain programs do on the same machine: the least that a server of the same parts does for a request, and the
//! least that SQLite does for a recognition. `cargo xtask bench` runs it; nothing else needs it.

mod http;
mod rows;
mod sqlite;

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;

#[derive(Parser)]
enum Command {
    /// Serve reads of one user over TLS, with actix-web and diesel
    Http(http::Arguments),
    /// Make recognitions on a plain SQLite file; print how many a second
    Sqlite {
        /// Where the file goes; an old one is replaced
        file: PathBuf,
        /// How many share a commit
        #[arg(long)]
        batch: u32,
        #[arg(long)]
        seconds: u64,
    },
}

fn main() -> Result<()> {
    match Command::parse() {
        Command::Http(arguments) => http::serve(&arguments),
        Command::Sqlite { file, batch, seconds } => {
            println!("{:.1}", sqlite::recognitions_per_second(&file, batch, Duration::from_secs(seconds))?);
            Ok(())
        }
    }
}
