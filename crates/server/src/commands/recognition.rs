//! `guerdon recognition`.

use guerdon_domain::ports::StoreExt;
use guerdon_domain::recognitions::UpdateRecognitionError;
use guerdon_domain::recognitions::{Recognition, UpdateRecognition, update};
use guerdon_domain::values::{Message, RecognitionId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::names::parse_id;
use crate::commands::error::refusals;
use crate::commands::group::command_group;
use crate::commands::output::fields;
use crate::commands::{CommandEnvironment, CommandError, Output, Runnable, View};

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
struct Updated<'a> {
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

impl<'a> Updated<'a> {
    fn of(it: &'a Recognition) -> Self {
        Self {
            id: it.id.as_uuid(),
            receiver_id: it.receiver_id.as_uuid(),
            sender_type: it.sender.type_name(),
            sender_id: it.sender.id(),
            message: it.message.as_str(),
            points: it.points.get(),
            share: it.share,
            occasion_id: it.occasion_id.as_uuid(),
            company_id: it.company_id.as_uuid(),
            created_at: it.created_at.to_string(),
        }
    }
}

impl View for Updated<'_> {
    fn text(&self) -> String {
        let share = if self.share { "public" } else { "private" };
        fields(&[("id", &self.id.to_string()), ("message", self.message), ("share", share)])
    }
}

impl Runnable for Update {
    fn run(&self, environment: &CommandEnvironment) -> Result<Output, CommandError> {
        let message = self.message.as_deref().map(message).transpose()?;
        let command = UpdateRecognition { message, share: self.share };
        let id = RecognitionId::from_uuid(self.id);
        let recognition = environment.store.transaction(|tx| -> Result<_, CommandError> {
            Ok(update(tx, id, &command, &environment.context())?)
        })?;
        Updated::of(&recognition).output()
    }
}

fn message(text: &str) -> Result<Message, CommandError> {
    let message =
        Message::parse(text).map_err(|must_be| CommandError::Refused(format!("message {must_be}")))?;
    if message.is_blank() {
        return Err(CommandError::Refused("message must not be blank".to_owned()));
    }
    Ok(message)
}

refusals!(UpdateRecognitionError);
