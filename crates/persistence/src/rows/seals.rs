//! The chain of seals: SHA-256 over the previous head and all facts in their order, each field with its
//! length, so that two different journals never have the same head.

use guerdon_domain::values::fit;
use ring::digest::{Context, SHA256, digest};

/// The version of the format: which facts are chained, and how. A new format gets a new number, so that seals
/// of this one can still be verified.
pub(crate) const FORMAT: i16 = 1;

/// The start of the chain.
pub(crate) const BEGINNING: [u8; 32] = [0; 32];

/// The number of bytes that are buffered before they are digested.
const GATHERED: usize = 16_384;

/// A seal that is being computed.
pub(crate) struct Chain {
    digested: Context,
    gathered: Vec<u8>,
}

impl Chain {
    /// Continues after a head.
    pub(crate) fn after(head: [u8; 32]) -> Self {
        let mut context = Context::new(&SHA256);
        context.update(&head);
        let mut chain = Self { digested: context, gathered: Vec::with_capacity(GATHERED) };
        chain.number(FORMAT);
        chain
    }

    fn gather(&mut self, bytes: &[u8]) {
        if self.gathered.len() + bytes.len() > GATHERED {
            self.digested.update(&self.gathered);
            self.gathered.clear();
        }
        self.gathered.extend_from_slice(bytes);
    }

    /// Bytes of any length, or nothing.
    pub(crate) fn bytes(&mut self, it: Option<&[u8]>) {
        match it {
            None => self.gather(&[0]),
            Some(it) => {
                self.gather(&[1]);
                self.gather(&fit::<u64, _>(it.len()).to_be_bytes());
                self.gather(it);
            }
        }
    }

    /// Chains the digest of a string that may have to be erased later: the chain can be verified without the
    /// string.
    pub(crate) fn digest(&mut self, it: Option<&[u8]>) {
        self.bytes(it.map(|bytes| digest(&SHA256, bytes)).as_ref().map(AsRef::as_ref));
    }

    pub(crate) fn number(&mut self, it: impl Into<i64>) {
        self.gather(&it.into().to_be_bytes());
    }

    /// The resulting head.
    pub(crate) fn finish(mut self) -> [u8; 32] {
        self.digested.update(&self.gathered);
        let mut head = BEGINNING;
        head.copy_from_slice(self.digested.finish().as_ref());
        head
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_field_and_its_place_makes_another_head() {
        let head = |fields: &[Option<&[u8]>], number: i64| {
            let mut chain = Chain::after(BEGINNING);
            fields.iter().for_each(|field| chain.bytes(*field));
            chain.number(number);
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
        assert_ne!(Chain::after(BEGINNING).finish(), Chain::after(all[0]).finish());
    }
}
