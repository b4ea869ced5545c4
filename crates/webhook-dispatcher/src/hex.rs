//! Lower-case hexadecimal.

const DIGITS: [char; 16] = ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f'];

/// Two digits for each byte.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let digit = |value: u8| DIGITS.get(usize::from(value)).copied().unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// The bytes of a text of lower-case digits; none for anything else.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let value = |digit: &u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    text.as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some(value(high)? << 4 | value(low)?),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn what_is_encoded_is_decoded() {
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(encode(&all[..4]), "00010203");
        assert_eq!(encode(&[0x9a, 0xff]), "9aff");
        assert_eq!(decode(&encode(&all)), Some(all));
    }

    #[test]
    fn only_pairs_of_lower_case_digits_are_decoded() {
        for text in ["0", "FF", "0g", "ab ", " 0", "é"] {
            assert_eq!(decode(text), None, "{text:?}");
        }
        assert_eq!(decode(""), Some(Vec::new()));
    }
}
