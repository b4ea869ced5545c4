//! A receiver that uses only guerdon-webhooks. Arguments: URL, secret, event id, timestamp, nonce, signature, body.

use guerdon_webhooks::{EventData, ReceiveError, Receiver, VerifyError};

fn main() -> Result<(), ReceiveError> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [url, secret, event_id, timestamp, nonce, signature, body] = arguments[..] else {
        panic!("seven arguments are required");
    };
    let receiver = Receiver::new(url, secret);
    let header = |name: &str| match name {
        "x-service-event-id" => Some(event_id),
        "x-service-timestamp" => Some(timestamp),
        "x-service-nonce" => Some(nonce),
        "x-service-signature" => Some(signature),
        _ => None,
    };
    let received = receiver.receive(header, body.as_bytes())?;
    if let EventData::RecognitionReceived(data) = received.event.data {
        println!("{}: {} points for {}", received.event_id, data.points, data.receiver_name);
    }
    let again = receiver.receive(header, body.as_bytes());
    assert!(matches!(again, Err(ReceiveError::Unverified(VerifyError::Replayed))));
    Ok(())
}
