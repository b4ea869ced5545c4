//! Minimal programs that show the performance that the same machine can reach: a server built from the same libraries
//! as the service, and recognitions in plain SQLite. `cargo xtask bench` runs them; `cargo xtask campaign` uses the
//! command that runs SQL on an SQLite file.

mod http;
mod queries;
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
    /// Write recognitions to a plain SQLite file and print their number per second
    Sqlite {
        /// The file to create; an existing file is replaced
        file: PathBuf,
        /// Recognitions per commit
        #[arg(long)]
        batch: u32,
        #[arg(long)]
        seconds: u64,
    },
    /// Run SQL on an SQLite file in one transaction, or print the rows of a query
    Sql { file: PathBuf, sql: String },
}

fn main() -> Result<()> {
    match Command::parse() {
        Command::Http(arguments) => http::serve_reads(&arguments),
        Command::Sqlite { file, batch, seconds } => {
            println!("{:.1}", sqlite::recognitions_per_second(&file, batch, Duration::from_secs(seconds))?);
            Ok(())
        }
        Command::Sql { file, sql } => sql::run_sql(&file, &sql),
    }
}
