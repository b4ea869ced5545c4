//! A program that sends a recognition with guerdon-client. Arguments: service, certificate, API key, API secret,
//! occasion, company, receiver.

use guerdon_client::{AsyncClient, Client, Credentials, Error, NewRecognition, Sender, Uuid};

fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [base, certificate, api_key, api_secret, occasion, company, receiver] =
        <[String; 7]>::try_from(arguments).unwrap();
    let certificate = std::fs::read(certificate).unwrap();
    let credentials = Credentials { api_key, api_secret };
    let [occasion, company, receiver] = [occasion, company, receiver].map(|id| id.parse::<Uuid>().unwrap());

    let client = Client::with_root_certificates(&base, &credentials, &certificate)?;
    let recognition = NewRecognition::new(occasion, Sender::Company(company), &[receiver], 10);
    let sent = client.send_recognition(&recognition).send()?.recognitions;
    println!("sent {} points", sent[0].points);

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let client = AsyncClient::with_root_certificates(&base, &credentials, &certificate)?;
        let mut received = client.list_received_recognitions(receiver);
        while let Some(recognition) = received.next().await {
            let recognition = recognition?;
            assert_eq!(recognition, sent[0]);
            println!("received {} points", recognition.points);
        }
        let stranger = AsyncClient::new(&base, &credentials)?;
        assert!(matches!(stranger.get_company(company).send().await, Err(Error::Untrusted(_))));
        Ok(())
    })
}
