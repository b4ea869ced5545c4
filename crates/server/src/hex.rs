//! Bytes as lower-case hex digits.

/// The digits of bytes.
pub(crate) fn encode(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|it| char::from_digit(it.into(), 16))
        .collect()
}

/// The bytes of digits; none where they are no pairs of hex digits.
pub(crate) fn decode(digits: &str) -> Option<Vec<u8>> {
    let nibbles: Option<Vec<u8>> =
        digits.chars().map(|it| it.to_digit(16).and_then(|it| u8::try_from(it).ok())).collect();
    let nibbles = nibbles.filter(|it| it.len() % 2 == 0)?;
    Some(nibbles.chunks_exact(2).map(|pair| pair.iter().fold(0, |byte, nibble| byte << 4 | nibble)).collect())
}

#[cfg(test)]
mod tests {
    #[test]
    fn digits_and_bytes_turn_into_each_other() {
        assert_eq!(super::encode(&[0, 1, 0xab, 0xff]), "0001abff");
        assert_eq!(super::decode("0001ABff"), Some(vec![0, 1, 0xab, 0xff]));
        assert_eq!(super::decode("0"), None);
        assert_eq!(super::decode("0x"), None);
    }
}
