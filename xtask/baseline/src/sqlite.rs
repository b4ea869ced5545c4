//! Writes recognitions in plain SQL on SQLite. Each recognition updates two wallets and inserts their ledger entries,
//! the recognition and its event. There is one writer, with prepared statements, durable commits, rare checkpoints and
//! ascending ids.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rusqlite::{Connection, params};
use uuid::Uuid;

const SCHEMA: &str = "
    CREATE TABLE wallets (id TEXT PRIMARY KEY, owner_id TEXT NOT NULL, kind INTEGER NOT NULL,
      cents INTEGER NOT NULL CHECK (cents >= 0), spent INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
    CREATE UNIQUE INDEX wallets_owner ON wallets (owner_id, kind);
    CREATE TABLE recognitions (id TEXT PRIMARY KEY, company_id TEXT NOT NULL, sender_id TEXT NOT NULL,
      receiver_id TEXT NOT NULL, occasion_id TEXT NOT NULL, cents INTEGER NOT NULL, points INTEGER NOT NULL,
      message TEXT NOT NULL, share INTEGER NOT NULL, created_at TEXT NOT NULL);
    CREATE INDEX recognitions_receiver ON recognitions (receiver_id, created_at);
    CREATE INDEX recognitions_sender ON recognitions (sender_id, created_at);
    CREATE TABLE wallet_transactions (id INTEGER PRIMARY KEY, wallet_id TEXT NOT NULL, kind INTEGER NOT NULL,
      cents INTEGER NOT NULL, reason INTEGER NOT NULL, recognition_id TEXT, created_at TEXT NOT NULL);
    CREATE INDEX wallet_transactions_wallet ON wallet_transactions (wallet_id, created_at);
    CREATE TABLE outbox (id TEXT PRIMARY KEY, provider_id TEXT NOT NULL, payload TEXT NOT NULL,
      attempts INTEGER NOT NULL DEFAULT 0, next_attempt_at TEXT NOT NULL, delivered_at TEXT);
    CREATE INDEX outbox_due ON outbox (next_attempt_at) WHERE delivered_at IS NULL;";
const USERS: u64 = 10_000;
const NOW: &str = "2026-01-01T00:00:00.000000Z";
/// The size of a typical event body.
const PAYLOAD_BYTES: usize = 600;
/// The length of the write-ahead log, in pages, at which it is checkpointed.
const CHECKPOINT_PAGES: u32 = 16_000;

/// Returns the number of recognitions per second, with `batch` of them per commit.
pub fn recognitions_per_second(file: &Path, batch: u32, period: Duration) -> Result<f64> {
    for suffix in ["", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(suffix);
        let _was_not_there = std::fs::remove_file(name);
    }
    let conn = open_database(file)?;
    create_wallets(&conn)?;
    let payload = "x".repeat(PAYLOAD_BYTES);
    let (start, mut count, mut seed) = (Instant::now(), 0_u32, 42_u64);
    while start.elapsed() < period {
        conn.execute_batch("BEGIN IMMEDIATE")?;
        for _ in 0..batch {
            insert_recognition(&conn, [next_user(&mut seed), next_user(&mut seed)], &payload)?;
        }
        conn.execute_batch("COMMIT")?;
        count += batch;
    }
    Ok(f64::from(count) / start.elapsed().as_secs_f64())
}

fn open_database(file: &Path) -> Result<Connection> {
    let conn = Connection::open(file)?;
    conn.pragma_update(None, "journal_mode", "WAL")?;
    conn.pragma_update(None, "synchronous", "FULL")?;
    conn.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES)?;
    conn.pragma_update(None, "cache_size", -64_000)?;
    conn.set_prepared_statement_cache_capacity(32);
    Ok(conn)
}

fn create_wallets(conn: &Connection) -> Result<()> {
    conn.execute_batch(SCHEMA)?;
    conn.execute_batch("BEGIN")?;
    for user in 0..USERS {
        for kind in [1_u8, 2] {
            conn.prepare_cached("INSERT INTO wallets VALUES (?1, ?2, ?3, 1000000000000, 0)")?
                .execute(params![numbered_id(u64::from(kind), user), numbered_id(0, user), kind])?;
        }
    }
    conn.execute_batch("COMMIT; ANALYZE;")?;
    Ok(())
}

fn insert_recognition(conn: &Connection, [sender, receiver]: [u64; 2], payload: &str) -> Result<()> {
    let (sender_wallet, receiver_wallet, id) = (numbered_id(2, sender), numbered_id(1, receiver), new_id());
    let debited = conn
        .prepare_cached(
            "UPDATE wallets SET cents = cents - 100, spent = spent + 100 WHERE id = ?1 AND cents >= 100",
        )?
        .execute([&sender_wallet])?;
    ensure!(debited == 1, "nothing was debited");
    conn.prepare_cached("UPDATE wallets SET cents = cents + 100 WHERE id = ?1")?
        .execute([&receiver_wallet])?;
    let mut entry = conn.prepare_cached(
        "INSERT INTO wallet_transactions (wallet_id, kind, cents, reason, recognition_id, created_at)
         VALUES (?1, ?2, 100, 0, ?3, ?4)",
    )?;
    entry.execute(params![sender_wallet, 0, id, NOW])?;
    entry.execute(params![receiver_wallet, 1, id, NOW])?;
    let parties = [numbered_id(5, 1), numbered_id(0, sender), numbered_id(0, receiver), numbered_id(6, 1)];
    let [company, sender, receiver, occasion] = parties;
    conn.prepare_cached(
        "INSERT INTO recognitions VALUES (?1, ?2, ?3, ?4, ?5, 100, 50, 'Thank you for the help', 1, ?6)",
    )?
    .execute(params![id, company, sender, receiver, occasion, NOW])?;
    conn.prepare_cached(
        "INSERT INTO outbox (id, provider_id, payload, next_attempt_at) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![new_id(), numbered_id(7, 1), payload, NOW])?;
    Ok(())
}

/// Returns an id that sorts after earlier ones.
#[expect(clippy::disallowed_methods, reason = "a plain program has no port to ask for ids")]
fn new_id() -> String {
    Uuid::now_v7().to_string()
}

/// Returns the id of a numbered object: deterministic, and distributed like a random one.
fn numbered_id(kind: u64, number: u64) -> String {
    let seed = (kind << 32) | number;
    Uuid::from_u64_pair(mix_bits(seed), mix_bits(!seed)).to_string()
}

/// Returns a pseudo-random user.
fn next_user(seed: &mut u64) -> u64 {
    *seed = seed.wrapping_add(1);
    mix_bits(*seed) % USERS
}

/// The finaliser of `SplitMix64`.
fn mix_bits(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
