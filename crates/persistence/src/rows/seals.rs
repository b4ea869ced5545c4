//! The chain of seals: SHA-256 over the previous head and all sealed rows in their order, each field with its
//! length, so that two different journals never have the same head.

use guerdon_domain::values::checked_cast;
use ring::digest::{Context, SHA256, digest};

/// The version of the format: which rows are chained, and how. A new format gets a new number, so that seals
/// in the old format can still be verified.
pub(crate) const FORMAT: i16 = 1;

/// The start of the chain.
pub(crate) const FIRST_HEAD: [u8; 32] = [0; 32];

/// The number of bytes that are buffered before they are digested.
const BUFFER_BYTES: usize = 16_384;

/// A seal that is being computed. Each `chain_to` of a journal, audit log or seal row destructures the row, so that a
/// new column does not compile until it is chained or left out explicitly.
pub(crate) struct SealChain {
    digest: Context,
    buffer: Vec<u8>,
}

impl SealChain {
    /// Continues after a head.
    pub(crate) fn continue_from(head: [u8; 32]) -> Self {
        let mut context = Context::new(&SHA256);
        context.update(&head);
        let mut chain = Self { digest: context, buffer: Vec::with_capacity(BUFFER_BYTES) };
        chain.add_number(FORMAT);
        chain
    }

    fn buffer_bytes(&mut self, bytes: &[u8]) {
        if self.buffer.len() + bytes.len() > BUFFER_BYTES {
            self.digest.update(&self.buffer);
            self.buffer.clear();
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// Bytes of any length, or nothing.
    pub(crate) fn add_bytes(&mut self, bytes: Option<impl AsRef<[u8]>>) {
        match bytes {
            None => self.buffer_bytes(&[0]),
            Some(bytes) => {
                let bytes = bytes.as_ref();
                self.buffer_bytes(&[1]);
                self.buffer_bytes(&checked_cast::<u64, _>(bytes.len()).to_be_bytes());
                self.buffer_bytes(bytes);
            }
        }
    }

    /// Chains the digest of a string that may have to be erased later: the chain can be verified without the
    /// string.
    pub(crate) fn add_digest(&mut self, bytes: Option<impl AsRef<[u8]>>) {
        self.add_bytes(bytes.map(|bytes| digest(&SHA256, bytes.as_ref())));
    }

    pub(crate) fn add_number(&mut self, number: impl Into<i64>) {
        self.buffer_bytes(&number.into().to_be_bytes());
    }

    /// The resulting head.
    pub(crate) fn finish(mut self) -> [u8; 32] {
        self.digest.update(&self.buffer);
        let mut head = FIRST_HEAD;
        head.copy_from_slice(self.digest.finish().as_ref());
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_and_its_position_changes_the_head() {
        let head = |fields: &[Option<&[u8]>], number: i64| {
            let mut chain = SealChain::continue_from(FIRST_HEAD);
            fields.iter().for_each(|field| chain.add_bytes(*field));
            chain.add_number(number);
            chain.finish()
        };
        let all = [
            head(&[Some(b"ab"), Some(b"c")], 1),
            head(&[Some(b"a"), Some(b"bc")], 1),
            head(&[Some(b"abc")], 1),
            head(&[Some(b"abc"), None], 1),
            head(&[None, Some(b"abc")], 1),
            head(&[Some(b""), Some(b"abc")], 1),
            head(&[Some(b"abc")], 2),
        ];
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
        assert_ne!(SealChain::continue_from(FIRST_HEAD).finish(), SealChain::continue_from(all[0]).finish());
    }
}
