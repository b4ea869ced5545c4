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
