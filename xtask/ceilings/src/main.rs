//! What plain programs do on the same machine: the least that a server of the same parts does for a request, and the
//! least that SQLite does for a recognition. `cargo xtask bench` runs it, and `cargo xtask siege` for SQL on an SQLite file.

mod http;
mod rows;
mod sql;
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
    /// Run SQL on an SQLite file, all or nothing; print the number that a query finds
    Sql { file: PathBuf, sql: String },
}

fn main() -> Result<()> {
    match Command::parse() {
        Command::Http(arguments) => http::serve(&arguments),
        Command::Sqlite { file, batch, seconds } => {
            println!("{:.1}", sqlite::recognitions_per_second(&file, batch, Duration::from_secs(seconds))?);
            Ok(())
        }
        Command::Sql { file, sql } => sql::run(&file, &sql),
    }
}
