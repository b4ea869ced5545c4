//! How commands are grouped on the command line.

/// Defines an enum of commands, or of groups of them, by the names that they have on the command line. Each variant
/// holds [`Runnable`](super::Runnable), to which the enum forwards every method.
macro_rules! command_group {
    ($(#[$doc:meta])* enum $group:ident { $($(#[$of_variant:meta])* $name:ident($command:ty),)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, clap::Subcommand, serde::Serialize, serde::Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(crate) enum $group {
            $($(#[$of_variant])* $name($command),)+
        }

        impl $crate::commands::Runnable for $group {
            fn run(
                &self,
                environment: &$crate::commands::CommandEnvironment,
            ) -> Result<$crate::commands::Output, $crate::commands::CommandError> {
                match self {
                    $(Self::$name(command) => command.run(environment),)+
                }
            }

            fn may_take_long(&self) -> bool {
                match self {
                    $(Self::$name(command) => command.may_take_long(),)+
                }
            }

            fn is_reading(&self) -> bool {
                match self {
                    $(Self::$name(command) => command.is_reading(),)+
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
