//! A mail server that accepts everything.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};

use crate::support::receiver::RECEIVE_TIMEOUT;

/// An email as it was received.
pub(super) struct ReceivedMail {
    pub(super) from: String,
    pub(super) to: String,
    pub(super) text: String,
}

/// Accepts emails until it is dropped.
pub(super) struct MailServer {
    port: u16,
    is_stopped: Arc<AtomicBool>,
    mails: Receiver<ReceivedMail>,
}

impl MailServer {
    pub(super) fn start(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let over = Arc::new(AtomicBool::new(false));
        let (sender, mails) = mpsc::channel();
        let ends = Arc::clone(&over);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if ends.load(Ordering::Relaxed) {
                    return;
                }
                let sender = sender.clone();
                std::thread::spawn(move || drop(serve_smtp(stream.unwrap(), &sender)));
            }
        });
        Self { port, is_stopped: over, mails }
    }

    /// The next email.
    pub(super) fn next(&self) -> ReceivedMail {
        self.mails.recv_timeout(RECEIVE_TIMEOUT).expect("an email should arrive")
    }

    /// The number of emails that were received but not yet read by the test.
    pub(super) fn count_unread_mails(&self) -> usize {
        self.mails.try_iter().count()
    }
}

impl Drop for MailServer {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

fn serve_smtp(mut stream: TcpStream, mails: &Sender<ReceivedMail>) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?).lines();
    stream.write_all(b"220 mail.test\r\n")?;
    let (mut from, mut to) = (String::new(), String::new());
    while let Some(line) = lines.next() {
        let line = line?;
        let address = || line.split(['<', '>']).nth(1).unwrap_or_default().to_owned();
        let response = match line.get(..4).unwrap_or_default() {
            "MAIL" => {
                from = address();
                "250 ok"
            }
            "RCPT" => {
                to = address();
                "250 ok"
            }
            "DATA" => {
                stream.write_all(b"354 go on\r\n")?;
                let mut text = String::new();
                for line in lines.by_ref().map_while(Result::ok).take_while(|line| line != ".") {
                    text.push_str(line.strip_prefix('.').unwrap_or(&line));
                    text.push_str("\r\n");
                }
                drop(mails.send(ReceivedMail { from: from.clone(), to: to.clone(), text }));
                "250 taken"
            }
            "QUIT" => "221 bye",
            _ => "250 mail.test",
        };
        stream.write_all(format!("{response}\r\n").as_bytes())?;
    }
    Ok(())
}
