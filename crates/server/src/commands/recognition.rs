//! `guerdon recognition`.

use guerdon_domain::ports::StoreExt;
use guerdon_domain::recognitions::UpdateRecognitionError;
use guerdon_domain::recognitions::{Recognition, UpdateRecognition, update};
use guerdon_domain::values::{Message, RecognitionId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::identifiers::parse_id;
use crate::commands::error::impl_from_errors;
use crate::commands::group_macro::command_group;
use crate::commands::output::format_fields;
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, CommandView, RunnableCommand};

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

/// A recognition, as the API shows it (behaviour 15.1).
#[derive(Serialize)]
struct RecognitionView<'a> {
    id: Uuid,
    receiver_id: Uuid,
    sender_type: &'static str,
    sender_id: Uuid,
    message: &'a str,
    points: i64,
    share: bool,
    occasion_id: Uuid,
    company_id: Uuid,
    created_at: String,
}

impl<'a> RecognitionView<'a> {
    fn from_recognition(recognition: &'a Recognition) -> Self {
        Self {
            id: recognition.id.as_uuid(),
            receiver_id: recognition.receiver_id.as_uuid(),
            sender_type: recognition.sender.type_name(),
            sender_id: recognition.sender.id(),
            message: recognition.message.as_str(),
            points: recognition.points.get(),
            share: recognition.share,
            occasion_id: recognition.occasion_id.as_uuid(),
            company_id: recognition.company_id.as_uuid(),
            created_at: recognition.created_at.to_string(),
        }
    }
}

impl CommandView for RecognitionView<'_> {
    fn to_text(&self) -> String {
        let share = if self.share { "public" } else { "private" };
        format_fields(&[("id", &self.id.to_string()), ("message", self.message), ("share", share)])
    }
}

impl RunnableCommand for Update {
    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let message = self.message.as_deref().map(parse_message).transpose()?;
        let command = UpdateRecognition { message, share: self.share };
        let id = RecognitionId::from_uuid(self.id);
        let recognition = environment.store.transaction(|tx| -> Result<_, CommandError> {
            Ok(update(tx, id, &command, &environment.context())?)
        })?;
        RecognitionView::from_recognition(&recognition).to_output()
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
