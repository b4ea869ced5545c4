//! Archives that are damaged are refused.

use std::io::Write as _;

use guerdon_domain::ports::{
    ArchiveSection, ArchivedColumn, ArchivedRow, ArchivedType, ArchivedValue, Timestamp,
};
use guerdon_domain::values::{CompanyId, DomainName};
use uuid::Uuid;

use super::{ArchiveError, ArchiveHeader, ArchiveReader, ArchiveWriter};
use crate::platform::build_info::VERSION;

const COLUMNS: [ArchivedColumn; 6] = [
    column("id", ArchivedType::Id, false),
    column("is_set", ArchivedType::Bool, false),
    column("amount", ArchivedType::Integer, false),
    column("name", ArchivedType::Text, true),
    column("body", ArchivedType::Bytes, false),
    column("created_at", ArchivedType::Time, false),
];

const fn column(name: &'static str, value_type: ArchivedType, is_nullable: bool) -> ArchivedColumn {
    ArchivedColumn { name, value_type, is_nullable }
}

fn sample_rows() -> Vec<ArchivedRow> {
    let at = Timestamp::from_unix_micros(1_795_000_000_000_001).unwrap();
    let named_row = |name: ArchivedValue| {
        vec![
            ArchivedValue::Id(Uuid::max()),
            ArchivedValue::Bool(true),
            ArchivedValue::Integer(i64::MIN),
            name,
            ArchivedValue::Bytes(vec![0, 255, 1]),
            ArchivedValue::Time(at),
        ]
    };
    [ArchivedValue::Text("Åsa \"A\"\n".to_owned()), ArchivedValue::Null].map(named_row).to_vec()
}

fn write_sample() -> Vec<u8> {
    write_sample_of("1.0.0")
}

/// Writes the sample with the version of the service in its header.
fn write_sample_of(service_version: &str) -> Vec<u8> {
    let (company, domain) = (CompanyId::from_uuid(Uuid::nil()), DomainName::parse("acme.example").unwrap());
    let header = ArchiveHeader::new(service_version, (company, &domain), Timestamp::UNIX_EPOCH, None, None);
    let header = header.with_hand_over(Uuid::max(), Some("rel_1".to_owned()));
    let mut bytes = Vec::new();
    let mut writer = ArchiveWriter::start(&mut bytes, &header).unwrap();
    for section in ArchiveSection::ALL {
        writer.start_section(*section).unwrap();
        writer.write_rows(&COLUMNS, &sample_rows()).unwrap();
        writer.end_section(*section).unwrap();
    }
    writer.finish().unwrap();
    bytes
}

fn read_archive(bytes: &[u8]) -> Result<Vec<ArchivedRow>, ArchiveError> {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let mut all = Vec::new();
    ArchiveReader::open(file.path())?.read_rows(
        |_section| COLUMNS.to_vec(),
        |_section, rows, _bytes| -> Result<(), ArchiveError> {
            all.extend(rows);
            Ok(())
        },
    )?;
    Ok(all)
}

#[test]
fn an_archive_is_read_as_it_was_written() {
    let rows = read_archive(&write_sample()).unwrap();
    let expected: Vec<ArchivedRow> = ArchiveSection::ALL.iter().flat_map(|_| sample_rows()).collect();
    assert_eq!(rows, expected);
}

#[test]
fn a_truncated_archive_is_refused() {
    let bytes = write_sample();
    for length in (0..bytes.len()).step_by(7).chain([bytes.len() - 1]) {
        assert!(read_archive(bytes.get(..length).unwrap()).is_err(), "{length} bytes");
    }
}

#[test]
fn an_archive_with_a_changed_byte_is_refused() {
    let bytes = write_sample();
    for position in (0..bytes.len()).step_by(5) {
        let mut changed = bytes.clone();
        *changed.get_mut(position).unwrap() ^= 1;
        assert!(read_archive(&changed).is_err(), "byte {position}");
    }
    let continued = [bytes.as_slice(), b"{}\n"].concat();
    assert!(read_archive(&continued).unwrap_err().to_string().contains("continues after the end"));
}

#[test]
fn an_archive_of_another_release_is_not_called_damaged() {
    let sample = String::from_utf8(write_sample()).unwrap();
    let (header, rest) = sample.split_once('\n').unwrap();
    let read = |header: &str, rest: &str| {
        read_archive(format!("{header}\n{rest}").as_bytes()).unwrap_err().to_string()
    };
    let newer = header.replacen("\"version\":1,", "\"version\":2,\"added\":true,", 1);
    let newer = newer.replacen("\"service_version\":\"1.0.0\"", "\"service_version\":\"7.7.7\"", 1);
    let why = read(&newer, rest);
    assert!(why.contains("guerdon 7.7.7 wrote") && why.contains("version 2 of the format"), "{why}");
    assert!(why.contains("both cells need the same release") && !why.contains("damaged"), "{why}");
    let other = write_sample_of("7.7.7");
    let renamed = String::from_utf8(other).unwrap().replacen("\"amount\"", "\"sum\"", 1);
    let why = read_archive(renamed.as_bytes()).unwrap_err().to_string();
    assert!(why.contains("guerdon 7.7.7 wrote") && why.contains("amount is missing"), "{why}");
    let own = String::from_utf8(write_sample_of(VERSION)).unwrap().replacen("\"amount\"", "\"sum\"", 1);
    assert!(read_archive(own.as_bytes()).unwrap_err().to_string().contains("damaged or incomplete"));
}
