//! Normalises bodies, so that whole bodies can be compared: each new UUID is replaced by `@1`, `@2`, …, each timestamp
//! by `@time`.

/// Remembers the ids of all bodies that were normalized so far.
#[derive(Default)]
pub struct BodyNormalizer {
    ids: Vec<String>,
}

impl BodyNormalizer {
    /// The body with its ids and timestamps replaced.
    pub fn normalize_body(&mut self, body: &str) -> String {
        let mut out = String::new();
        let mut rest = body;
        while let Some(first) = rest.chars().next() {
            if let Some(id) = rest.get(..36).filter(|id| is_id(id)) {
                out.push_str(&self.placeholder_for(id));
                rest = &rest[36..];
            } else if rest.get(..24).is_some_and(is_time) {
                out.push_str("@time");
                rest = &rest[24..];
            } else {
                out.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
        out
    }

    fn placeholder_for(&mut self, id: &str) -> String {
        let known = self.ids.iter().position(|seen| seen == id);
        let at = known.unwrap_or_else(|| {
            self.ids.push(id.to_owned());
            self.ids.len() - 1
        });
        format!("@{}", at + 1)
    }

    /// Replaces each placeholder, such as `@1`, with its id.
    pub fn expand_placeholders(&self, text: &str) -> String {
        let mut parts = text.split('@');
        let mut out = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            let digits = part.bytes().take_while(u8::is_ascii_digit).count();
            match part[..digits].parse() {
                Ok(number) => out.push_str(self.id_at(number)),
                Err(_) => out.push('@'),
            }
            out.push_str(&part[digits..]);
        }
        out
    }

    /// Returns the id for which the placeholder with this number stands.
    pub fn id_at(&self, number: usize) -> &str {
        &self.ids[number - 1]
    }
}

/// Lower-case, hyphenated, version 7.
fn is_id(text: &str) -> bool {
    text.bytes().enumerate().all(|(at, byte)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        14 => byte == b'7',
        _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
    })
}

/// `2026-11-20T20:01:02.345Z`
fn is_time(text: &str) -> bool {
    let shape = b"0000-00-00T00:00:00.000Z";
    text.bytes()
        .zip(shape)
        .all(|(byte, shape)| if *shape == b'0' { byte.is_ascii_digit() } else { byte == *shape })
}
