//! Enumerations that are stored by number.

/// An enumeration whose variants each have the number that databases keep for ever and, where people read it, a name:
/// `Variant => number` or `Variant => number, "name"`. Makes `ALL`, `code`, `from_code`, `name` and `from_name` of it.
macro_rules! stored {
    ($(#[$doc:meta])* enum $type:ident { $($(#[$its:meta])* $variant:ident => $code:literal, $name:literal;)+ }) => {
        stored! { $(#[$doc])* enum $type { $($(#[$its])* $variant => $code;)+ } }

        impl $type {
            /// The name that people use.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }

            /// What has this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.name() == name)
            }
        }
    };
    ($(#[$doc:meta])* enum $type:ident { $($(#[$its:meta])* $variant:ident => $code:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $type {
            $($(#[$its])* $variant,)+
        }

        impl $type {
            /// All of them, in the order of their numbers.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The number kept in the database.
            pub fn code(self) -> i16 {
                match self {
                    $(Self::$variant => $code,)+
                }
            }

            /// What has this number.
            pub fn from_code(code: i16) -> Option<Self> {
                Self::ALL.iter().copied().find(|it| it.code() == code)
            }
        }
    };
}

pub(crate) use stored;
