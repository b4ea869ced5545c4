//! A mail server for tests that supports enough of SMTP, and misbehaves as its test wants.

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The properties of a server.
#[derive(Clone, Default)]
pub struct Manners {
    /// Its certificate, if it supports TLS.
    pub tls: Option<Arc<ServerConfig>>,
    /// Whether TLS starts with the first byte instead of STARTTLS.
    pub wrapped: bool,
    /// Base64 of `\0user\0password`, if it requires a sign-in.
    pub sign_in: Option<&'static str>,
}

/// What the server does in response to a command.
#[derive(Clone, Copy)]
pub enum Act {
    Say(&'static str),
    Usual,
    Close,
    Hang,
    /// Sends a response that never ends, byte by byte.
    Drip,
}

/// What the server has received.
#[derive(Default)]
pub struct Heard {
    pub connections: usize,
    pub verbs: Vec<String>,
    pub mails: Vec<Received>,
}

/// A mail that the server accepted.
#[derive(Clone)]
pub struct Received {
    pub from: String,
    pub to: String,
    pub text: String,
    pub encrypted: bool,
}

pub struct Server {
    pub port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    manners: Manners,
    acts: Mutex<HashMap<&'static str, VecDeque<Act>>>,
    heard: Mutex<Heard>,
    over: AtomicBool,
}

trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

impl Server {
    /// Starts a server. `acts` are used once each, by command: those of SMTP, `GREETING`, and `END` for the end of a message.
    pub fn start(manners: Manners, acts: &[(&'static str, &[Act])]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let acts = acts.iter().map(|(verb, acts)| (*verb, acts.iter().copied().collect())).collect();
        let shared = Arc::new(Shared {
            manners,
            acts: Mutex::new(acts),
            heard: Mutex::default(),
            over: AtomicBool::new(false),
        });
        let all = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if all.over.load(Ordering::Relaxed) {
                    return;
                }
                let one = Arc::clone(&all);
                thread::spawn(move || one.welcome(stream.unwrap()));
            }
        });
        Self { port, shared }
    }

    pub fn heard<T>(&self, look: impl FnOnce(&Heard) -> T) -> T {
        look(&self.shared.heard.lock().unwrap())
    }

    pub fn mails(&self) -> Vec<Received> {
        self.heard(|heard| heard.mails.clone())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        let _knock = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// An error ends the connection.
type Talk<T> = io::Result<T>;

impl Shared {
    fn welcome(&self, stream: TcpStream) {
        self.heard.lock().unwrap().connections += 1;
        let plain = stream.try_clone().unwrap();
        let _ended = match (&self.manners.tls, self.manners.wrapped) {
            (Some(tls), true) => self.serve(secured(tls, stream), true, true),
            _ => self.serve(Box::new(stream), false, true).and_then(|upgrade| match &self.manners.tls {
                Some(tls) if upgrade => self.serve(secured(tls, plain), true, false),
                _ => Ok(false),
            }),
        };
    }

    /// Serves a connection. Returns true if the client asked for TLS.
    fn serve(&self, stream: Box<dyn Stream>, encrypted: bool, greets: bool) -> Talk<bool> {
        let mut stream = BufReader::new(stream);
        if greets {
            self.act("GREETING", "220 mail.test ready", &mut stream)?;
        }
        let mut mail = Received { from: String::new(), to: String::new(), text: String::new(), encrypted };
        loop {
            let line = line(&mut stream)?;
            let (verb, rest) = line.split_at(line.find([' ', ':']).unwrap_or(line.len()));
            self.heard.lock().unwrap().verbs.push(verb.to_owned());
            let usual = match verb {
                "EHLO" => self.extensions(encrypted),
                "AUTH" if rest.split_whitespace().last() == self.manners.sign_in => "235 welcome".into(),
                "AUTH" => "535 5.7.8 not you".into(),
                "STARTTLS" => "220 go on".into(),
                "DATA" => "354 go on".into(),
                "QUIT" => "221 bye".into(),
                _ => "250 ok".into(),
            };
            match verb {
                "MAIL" => mail.from = rest.to_owned(),
                "RCPT" => mail.to = rest.to_owned(),
                _ => {}
            }
            let said = self.act(verb, &usual, &mut stream)?;
            match verb {
                "STARTTLS" if said.starts_with('2') => return Ok(true),
                "DATA" if said.starts_with('3') => {
                    mail.text = text(&mut stream)?;
                    let end = self.next_act("END");
                    if let Act::Usual = end {
                        self.heard.lock().unwrap().mails.push(mail.clone());
                    }
                    self.perform(end, "250 taken", &mut stream)?;
                }
                "QUIT" => return Ok(false),
                _ => {}
            }
        }
    }

    fn extensions(&self, encrypted: bool) -> String {
        let mut lines = vec!["mail.test"];
        if self.manners.tls.is_some() && !encrypted {
            lines.push("STARTTLS");
        }
        if self.manners.sign_in.is_some() {
            lines.push("AUTH PLAIN LOGIN");
        }
        let last = lines.pop().unwrap();
        lines.iter().map(|line| format!("250-{line}\r\n")).chain([format!("250 {last}")]).collect()
    }

    fn act(&self, verb: &str, usual: &str, stream: &mut BufReader<Box<dyn Stream>>) -> Talk<String> {
        self.perform(self.next_act(verb), usual, stream)
    }

    fn next_act(&self, verb: &str) -> Act {
        let next = self.acts.lock().unwrap().get_mut(verb).and_then(VecDeque::pop_front);
        next.unwrap_or(Act::Usual)
    }

    fn perform(&self, act: Act, usual: &str, stream: &mut BufReader<Box<dyn Stream>>) -> Talk<String> {
        let words = match act {
            Act::Usual => usual.to_owned(),
            Act::Say(words) => words.to_owned(),
            Act::Close => return Err(io::ErrorKind::ConnectionAborted.into()),
            Act::Hang => return stream.read_to_end(&mut Vec::new()).and(Err(io::ErrorKind::TimedOut.into())),
            Act::Drip => return self.drip(stream),
        };
        stream.get_mut().write_all(format!("{words}\r\n").as_bytes())?;
        stream.get_mut().flush()?;
        Ok(words)
    }

    /// Sends bytes as fast as the client reads them, until the client is gone or the test is over.
    fn drip(&self, stream: &mut BufReader<Box<dyn Stream>>) -> Talk<String> {
        while !self.over.load(Ordering::Relaxed) {
            stream.get_mut().write_all(b"2")?;
            stream.get_mut().flush()?;
            thread::yield_now();
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

fn secured(tls: &Arc<ServerConfig>, stream: TcpStream) -> Box<dyn Stream> {
    Box::new(StreamOwned::new(ServerConnection::new(Arc::clone(tls)).unwrap(), stream))
}

fn line(stream: &mut impl BufRead) -> Talk<String> {
    let mut line = String::new();
    match stream.read_line(&mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim_end_matches(['\r', '\n']).to_owned()),
    }
}

/// Reads the message up to its terminating dot. A bare line feed ends a line, too, as on servers that are vulnerable to SMTP
/// smuggling.
fn text(stream: &mut impl BufRead) -> Talk<String> {
    let mut text = String::new();
    loop {
        let line = line(stream)?;
        if line == "." {
            return Ok(text);
        }
        text.push_str(line.strip_prefix('.').unwrap_or(&line));
        text.push_str("\r\n");
    }
}
