//! `POST /v1/recognitions`: send a recognition to one or more users.

use guerdon_api_types::parameter::FieldFault;
use guerdon_api_types::values::SenderType;
use guerdon_api_types::views::RecognitionView;
use guerdon_api_types::{FieldDocs, Fields, field_docs};
use guerdon_domain::commands::{Command, Done};
use guerdon_domain::ports::Denied;
use guerdon_domain::recognitions::{SendError, SendFault, SendRecognition, Sender};
use guerdon_domain::values::{CompanyId, Message, UserId};
use schemars::JsonSchema;
use serde::Serialize;

use crate::operation::{
    ApiError, ErrorCode, OperationDocs, RenderResponse, RenderedResponse, ToCommand, WriteOperation,
};

/// The memory for each receiver, not counting the message: the user, the rows, and the rest of the response.
const RECEIVER_BYTES: usize = 2_560;

pub(crate) struct Create;

impl OperationDocs for Create {
    const NAME: &'static str = "sendRecognition";
    const SUMMARY: &'static str = "Send a recognition";
    const DESCRIPTION: &'static str = "Sends points and a message to one or more users: one recognition for each receiver, or none \
         at all.\n\nA `company` pays from its reserve. A `user` pays from the peer wallet if its balance \
         covers the total; otherwise a manager pays from the manager wallet if that covers it. The \
         two are never combined. If neither does, the response is 400 `Insufficient \
         funds`. Receivers get the points in their user wallets.\n\n`points_per_receiver` is from 1 (0 if the \
         operator allows it for the company) to 5,000 dollars at the company's rate; otherwise \
         the response is 400 `Invalid points_per_receiver, value must be between A and B`.\n\nSend an \
         `Idempotency-Key`, so that a retry after a lost response does not send the recognition twice.";
    const SUCCESS_STATUS: u16 = 201;
    const DOCUMENTED_BY: Option<&str> = Some("Recognition");
    const FIELD_DOCS: FieldDocs = field_docs! {
        /// The ids of 1 to 10,000 users, separated by commas, without duplicates and without the sender; at most
        /// 380,000 characters. Their number times the bytes of the message is at most 8 MiB.
        /// Example: `"019a9c3e-5d72-7e44-9b7d-3a2b1c0d9e44"`
        receiver_ids,
        /// The points for each receiver at the current rate: from 1 (0 if the operator allows it for the company) to
        /// the equivalent of 5,000 dollars. Example: `10`
        points_per_receiver,
    };
    type View = View<'static>;
}

impl WriteOperation for Create {
    const SUBMISSION: Option<(ToCommand<SendRecognition>, RenderResponse)> = Some((
        |_, command| Ok(Command::SendRecognition(command.clone())),
        |done| match done {
            Done::Sent(sent) => RenderedResponse::created(&View {
                recognitions: sent.iter().map(RecognitionView::from_recognition).collect(),
            }),
            _ => Err(ApiError::internal("a recognition was not sent")),
        },
    ));
    type Input = SendRecognition;

    fn parse_input(fields: &mut Fields) -> Option<SendRecognition> {
        let occasion_id = fields.read_required("occasion_id");
        let sender_type = fields.read_required("sender_type");
        let sender_id = fields.read_required::<UserId>("sender_id");
        let receivers = fields.read_required("receiver_ids");
        let points_per_receiver = fields.read_unchecked_integer("points_per_receiver");
        let message = fields.read_optional::<Message>("message").filter(|message| !message.is_blank());
        let share = fields.read_flag("share", true);
        let sender_id = sender_id?;
        let sender = match sender_type? {
            SenderType::User => Sender::User(sender_id),
            SenderType::Company => Sender::Company(CompanyId::from_uuid(sender_id.as_uuid())),
        };
        Some(SendRecognition {
            occasion_id: occasion_id?,
            sender,
            receivers: receivers?,
            points_per_receiver: points_per_receiver?,
            message,
            share,
        })
    }

    /// The response contains the message once for each receiver. Escaping a quotation mark or line break adds a byte.
    fn estimate_memory(command: &SendRecognition) -> usize {
        let receivers = command.receivers.ids().len();
        receivers.saturating_mul(RECEIVER_BYTES).saturating_add(command.message_bytes_max().saturating_mul(2))
    }
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Recognitions")]
pub(crate) struct View<'a> {
    /// One recognition for each receiver, in the order of `receiver_ids`.
    recognitions: Vec<RecognitionView<'a>>,
}

impl From<SendError> for ApiError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::Denied(denied) => denied.into(),
            SendError::Receiver(id, Denied::Absent(field)) => {
                Self::about_field(ErrorCode::NotFound, field, format!("{field}: user {id} does not exist"))
            }
            SendError::Receiver(id, Denied::Foreign(field)) => {
                let message = format!("{field}: user {id} belongs to another provider");
                Self::about_field(ErrorCode::Forbidden, field, message)
            }
            // The error has the code for points only if the recognition breaks no other rule.
            SendError::Faults(faults) => match *faults {
                [fault @ SendFault::PointsOutOfRange(_)] => {
                    Self::about_field(ErrorCode::PointsOutOfRange, "points_per_receiver", fault_text(fault))
                }
                _ => Self::invalid_fields(faults.into_iter().map(field_fault).collect()),
            },
            SendError::InsufficientFunds => Self::new(ErrorCode::InsufficientFunds, "Insufficient funds"),
            SendError::Store(error) => error.into(),
        }
    }
}

fn field_fault(fault: SendFault) -> FieldFault {
    let fields: &[&str] = match fault {
        SendFault::OccasionOfAnotherCompany | SendFault::OccasionDisabled => &["occasion_id"],
        SendFault::SenderDeleted => &["sender_id"],
        SendFault::SenderAmongReceivers
        | SendFault::ReceiverOfAnotherCompany(_)
        | SendFault::ReceiverDeleted(_) => &["receiver_ids"],
        SendFault::TooLarge => &["receiver_ids", "message"],
        SendFault::PointsOutOfRange(_) => &["points_per_receiver"],
    };
    FieldFault::of_fields(fields.iter().copied(), fault_text(fault))
}

fn fault_text(fault: SendFault) -> String {
    let text = match fault {
        SendFault::OccasionOfAnotherCompany => "occasion_id must be an occasion of the sender's company",
        SendFault::OccasionDisabled => "occasion_id must be an occasion that is enabled",
        SendFault::SenderDeleted => "sender_id must be a user that is not deleted",
        SendFault::SenderAmongReceivers => "receiver_ids must not name the sender",
        SendFault::ReceiverOfAnotherCompany(id) => {
            return format!("receiver_ids must be users of the sender's company, but {id} is not");
        }
        SendFault::ReceiverDeleted(Some(id)) => {
            return format!("receiver_ids must be users that are not deleted, but {id} is");
        }
        SendFault::ReceiverDeleted(None) => "receiver_ids must be users that are not deleted",
        SendFault::TooLarge => {
            "receiver_ids and message are too large: the receivers times the bytes of the message must be at most 8 MiB"
        }
        // Clients parse this text (behaviour 5.3).
        SendFault::PointsOutOfRange(range) => {
            let (min, max) = (range.min.get(), range.max.get());
            return format!("Invalid points_per_receiver, value must be between {min} and {max}");
        }
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use guerdon_domain::money::{PointsPerDollar, points_range};

    use super::*;

    #[test]
    fn error_texts_are_those_that_clients_parse() {
        let check = |error: SendError, expected: &str| {
            assert_eq!(ApiError::from(error).status_and_message(), (400, expected));
        };
        let range = SendFault::PointsOutOfRange(points_range(PointsPerDollar::DEFAULT, false));
        let text = "Invalid points_per_receiver, value must be between 1 and 250000";
        check(SendError::InsufficientFunds, "Insufficient funds");
        check(SendError::Faults(vec![range]), text);
        let large = "receiver_ids and message are too large: the receivers times the bytes of the message must be at most \
                     8 MiB";
        check(SendError::Faults(vec![SendFault::TooLarge]), large);
        let both = format!("occasion_id must be an occasion that is enabled; {text}");
        check(SendError::Faults(vec![SendFault::OccasionDisabled, range]), &both);
    }

    #[test]
    fn an_error_has_the_code_of_its_cause_and_its_fields() {
        let check = |error: SendError, code: ErrorCode, fields: &[&str]| {
            assert_eq!(ApiError::from(error).code_and_fields(), (code, fields.to_vec()));
        };
        let range = SendFault::PointsOutOfRange(points_range(PointsPerDollar::DEFAULT, false));
        let id = UserId::from_uuid(uuid::Uuid::nil());
        check(SendError::InsufficientFunds, ErrorCode::InsufficientFunds, &[]);
        check(SendError::Faults(vec![range]), ErrorCode::PointsOutOfRange, &["points_per_receiver"]);
        check(
            SendError::Faults(vec![SendFault::OccasionDisabled, range]),
            ErrorCode::InvalidRequest,
            &["occasion_id", "points_per_receiver"],
        );
        check(SendError::Faults(vec![SendFault::SenderDeleted]), ErrorCode::InvalidRequest, &["sender_id"]);
        check(
            SendError::Faults(vec![SendFault::TooLarge]),
            ErrorCode::InvalidRequest,
            &["receiver_ids", "message"],
        );
        check(
            SendError::Receiver(id, Denied::Absent("receiver_ids")),
            ErrorCode::NotFound,
            &["receiver_ids"],
        );
        check(
            SendError::Receiver(id, Denied::Foreign("receiver_ids")),
            ErrorCode::Forbidden,
            &["receiver_ids"],
        );
    }

    #[test]
    fn each_field_is_validated_separately() {
        let id = "0193a5c0-0000-7000-8000-000000000001";
        let with = |field: &str, value: serde_json::Value| {
            let mut body = serde_json::json!({
                "occasion_id": id, "sender_type": "company", "sender_id": id, "receiver_ids": id,
                "points_per_receiver": 5,
            });
            body[field] = value;
            let body = body.to_string();
            let mut fields = Fields::parse(body.as_bytes()).unwrap();
            let input = Create::parse_input(&mut fields);
            fields.check_faults(input).map_err(|error| error.to_string())
        };
        let check = |field: &str, value: serde_json::Value, expected: &str| {
            assert_eq!(with(field, value.clone()).err().unwrap_or_default(), expected, "{field} {value}");
        };
        check("sender_type", "user".into(), "");
        check("sender_type", "Company".into(), "sender_type must be user or company");
        check(
            "receiver_ids",
            vec![id].into(),
            "receiver_ids must be a string of user ids separated by commas",
        );
        check("receiver_ids", "".into(), "receiver_ids must not contain an empty item");
        let twice = format!("receiver_ids must not name a user twice: {id}");
        check("receiver_ids", format!("{id}, {id}").into(), &twice);
        check("points_per_receiver", (-1).into(), "");
        check("points_per_receiver", "5".into(), "points_per_receiver must be an integer");
        check("points_per_receiver", 5.0.into(), "points_per_receiver must be an integer");
        check("share", "no".into(), "share must be true or false");
        for blank in [serde_json::Value::Null, "".into(), " \n".into()] {
            assert_eq!(with("message", blank).unwrap().message, None);
        }
        assert_eq!(with("message", "x".into()).unwrap().message.unwrap().as_str(), "x");
    }
}
