//! Groups commands on the command line.

/// Defines an enum of commands or groups of commands, named as on the command line. Each variant holds a
/// [`RunnableCommand`](super::RunnableCommand), to which the enum forwards every method.
macro_rules! command_group {
    ($(#[$doc:meta])* enum $group:ident { $($(#[$variant_meta:meta])* $name:ident($command:ty),)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, clap::Subcommand, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(crate) enum $group {
            $($(#[$variant_meta])* $name($command),)+
        }

        impl $crate::commands::RunnableCommand for $group {
            fn execute_in(
                &self,
                environment: &$crate::commands::CommandEnvironment,
            ) -> Result<$crate::commands::CommandOutput, $crate::commands::CommandError> {
                match self {
                    $(Self::$name(command) => command.execute_in(environment),)+
                }
            }

            fn append_name(&self, words: &mut Vec<String>) {
                match self {
                    $(Self::$name(command) => {
                        words.push($crate::commands::group_macro::to_kebab_case(stringify!($name)));
                        command.append_name(words);
                    })+
                }
            }

            fn may_take_long(&self) -> bool {
                match self {
                    $(Self::$name(command) => command.may_take_long(),)+
                }
            }

            fn is_read_only(&self) -> bool {
                match self {
                    $(Self::$name(command) => command.is_read_only(),)+
                }
            }

            fn is_logged(&self) -> bool {
                match self {
                    $(Self::$name(command) => command.is_logged(),)+
                }
            }
        }
    };
}

pub(super) use command_group;

/// Returns the name of a variant on the command line: `send-example` for `SendExample`.
pub(super) fn to_kebab_case(variant: &str) -> String {
    let mut name = String::new();
    for letter in variant.chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('-');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}
