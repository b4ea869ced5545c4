//! `guerdon recognition`.

use guerdon_api_types::views::RecognitionView;
use guerdon_domain::ports::StoreExt;
use guerdon_domain::recognitions::{UpdateRecognition, UpdateRecognitionError, update};
use guerdon_domain::values::{Message, RecognitionId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::parse_id;
use crate::commands::error::impl_from_errors;
use crate::commands::group_macro::command_group;
use crate::commands::output::{WithText, format_fields};
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView as _, RunnableCommand};

command_group! {
    enum RecognitionCommand {
        /// Update the message or visibility of a recognition.
        Update(Update),
    }
}

/// Update the message or visibility of a recognition. The provider receives an event if anything changed.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon recognition update RECOGNITION_ID --share false
  guerdon recognition update RECOGNITION_ID --message Thanks")]
#[command(group(clap::ArgGroup::new("change").required(true).multiple(true)))]
pub(crate) struct Update {
    /// The recognition's id.
    #[arg(value_name = "ID", value_parser = parse_id)]
    id: Uuid,
    /// The new message.
    #[arg(long, group = "change")]
    message: Option<String>,
    /// Whether the recognition is public.
    #[arg(long, value_name = "true|false", group = "change")]
    share: Option<bool>,
}

impl RunnableCommand for Update {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let message = self.message.as_deref().map(parse_message).transpose()?;
        let command = UpdateRecognition { message, share: self.share };
        let id = RecognitionId::from_uuid(self.id);
        let recognition =
            environment.store.transaction(|tx| update(tx, id, &command, &environment.context()))?;
        let text = format_fields(&[
            ("id", &recognition.id.to_string()),
            ("message", recognition.message.as_str()),
            ("share", if recognition.share { "public" } else { "private" }),
        ]);
        WithText { fields: RecognitionView::from_recognition(&recognition), text }.to_output()
    }
}

fn parse_message(text: &str) -> Result<Message, CommandError> {
    let message =
        Message::parse(text).map_err(|must_be| CommandError::Refused(format!("message {must_be}")))?;
    if message.is_blank() {
        return Err(CommandError::Refused("message must not be blank".to_owned()));
    }
    Ok(message)
}

impl_from_errors!(UpdateRecognitionError);
