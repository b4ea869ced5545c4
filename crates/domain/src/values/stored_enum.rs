//! Enumerations that are stored by number.

/// Declares an enumeration whose variants each have a permanent number in the database and, optionally, a
/// name: `Variant => number` or `Variant => number, "name"`. Generates `ALL`, `code`, `from_code`, `name`,
/// `from_name` and `list_names`.
macro_rules! stored_enum {
    ($(#[$doc:meta])* enum $type:ident { $($(#[$attribute:meta])* $variant:ident => $code:literal, $name:literal;)+ }) => {
        stored_enum! { $(#[$doc])* enum $type { $($(#[$attribute])* $variant => $code;)+ } }

        impl $type {
            /// The name, as shown to users.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// The variant with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.name() == name)
            }

            /// All names, as messages list them: `a, b or c`.
            pub fn list_names() -> String {
                let names: Vec<&str> = Self::ALL.iter().map(|value| value.name()).collect();
                match names.split_last() {
                    Some((last, [])) => (*last).to_owned(),
                    Some((last, others)) => format!("{} or {last}", others.join(", ")),
                    None => String::new(),
                }
            }
        }
    };
    ($(#[$doc:meta])* enum $type:ident { $($(#[$attribute:meta])* $variant:ident => $code:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $($(#[$attribute])* $variant,)+
        }

        impl $type {
            /// All variants, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The number in the database.
            pub fn code(self) -> i16 {
                match self {
                    $(Self::$variant => $code,)+
                }
            }

            /// The variant with this number.
            pub fn from_code(code: i16) -> Option<Self> {
                Self::ALL.iter().copied().find(|value| value.code() == code)
            }
        }
    };
}

pub(crate) use stored_enum;
