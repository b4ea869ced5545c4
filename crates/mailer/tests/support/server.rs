//! A mail server for tests. It supports the required part of SMTP, and misbehaves as the test prescribes.

use std::collections::{HashMap, VecDeque};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// The properties of a server.
#[derive(Clone, Default)]
pub struct ServerOptions {
    /// Its certificate, if it supports TLS.
    pub tls: Option<Arc<ServerConfig>>,
    /// Whether TLS starts with the first byte instead of STARTTLS.
    pub wrapped: bool,
    /// Base64 of `\0user\0password`, if it requires a sign-in.
    pub sign_in: Option<&'static str>,
}

/// What the server does in response to a command.
#[derive(Clone, Copy)]
pub enum ServerAction {
    Respond(&'static str),
    RespondNormally,
    Close,
    Hang,
    /// Sends a response that never ends, byte by byte.
    Drip,
}

/// What the server has received.
#[derive(Default)]
pub struct ServerLog {
    pub connections: usize,
    pub verbs: Vec<String>,
    pub mails: Vec<ReceivedMail>,
}

/// An email that the server accepted.
#[derive(Clone)]
pub struct ReceivedMail {
    pub from: String,
    pub to: String,
    pub text: String,
    pub encrypted: bool,
}

pub struct Server {
    pub port: u16,
    shared: Arc<ServerState>,
}

struct ServerState {
    options: ServerOptions,
    actions: Mutex<HashMap<&'static str, VecDeque<ServerAction>>>,
    log: Mutex<ServerLog>,
    is_stopped: AtomicBool,
}

trait Stream: Read + Write {}

impl<T: Read + Write> Stream for T {}

impl Server {
    /// Starts a server. `actions` are used once each, by command: an SMTP command, `GREETING`, or `END` for the end of
    /// a message.
    pub fn start(options: ServerOptions, actions: &[(&'static str, &[ServerAction])]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let actions =
            actions.iter().map(|(verb, actions)| (*verb, actions.iter().copied().collect())).collect();
        let shared = Arc::new(ServerState {
            options,
            actions: Mutex::new(actions),
            log: Mutex::default(),
            is_stopped: AtomicBool::new(false),
        });
        let state = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming() {
                if state.is_stopped.load(Ordering::Relaxed) {
                    return;
                }
                let connection = Arc::clone(&state);
                thread::spawn(move || connection.accept_client(stream.unwrap()));
            }
        });
        Self { port, shared }
    }

    pub fn inspect_log<T>(&self, read: impl FnOnce(&ServerLog) -> T) -> T {
        read(&self.shared.log.lock().unwrap())
    }

    pub fn received_mails(&self) -> Vec<ReceivedMail> {
        self.inspect_log(|log| log.mails.clone())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_stopped.store(true, Ordering::Relaxed);
        let _knock = TcpStream::connect(("127.0.0.1", self.port));
    }
}

/// An error ends the connection.
type Dialogue<T> = io::Result<T>;

impl ServerState {
    fn accept_client(&self, stream: TcpStream) {
        self.log.lock().unwrap().connections += 1;
        let plain = stream.try_clone().unwrap();
        let _ended = match (&self.options.tls, self.options.wrapped) {
            (Some(tls), true) => self.serve_connection(wrap_tls(tls, stream), true, true),
            _ => self.serve_connection(Box::new(stream), false, true).and_then(|upgrade| {
                match &self.options.tls {
                    Some(tls) if upgrade => self.serve_connection(wrap_tls(tls, plain), true, false),
                    _ => Ok(false),
                }
            }),
        };
    }

    /// Serves a connection. Returns true if the client asked for TLS.
    fn serve_connection(
        &self,
        stream: Box<dyn Stream>,
        encrypted: bool,
        sends_greeting: bool,
    ) -> Dialogue<bool> {
        let mut stream = BufReader::new(stream);
        if sends_greeting {
            self.respond_to("GREETING", "220 mail.test ready", &mut stream)?;
        }
        let mut mail =
            ReceivedMail { from: String::new(), to: String::new(), text: String::new(), encrypted };
        loop {
            let line = read_line_trimmed(&mut stream)?;
            let (verb, rest) = line.split_at(line.find([' ', ':']).unwrap_or(line.len()));
            self.log.lock().unwrap().verbs.push(verb.to_owned());
            let normal_response = match verb {
                "EHLO" => self.ehlo_response(encrypted),
                "AUTH" if rest.split_whitespace().last() == self.options.sign_in => "235 welcome".into(),
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
            let response = self.respond_to(verb, &normal_response, &mut stream)?;
            match verb {
                "STARTTLS" if response.starts_with('2') => return Ok(true),
                "DATA" if response.starts_with('3') => {
                    mail.text = read_message(&mut stream)?;
                    let end = self.next_action("END");
                    if let ServerAction::RespondNormally = end {
                        self.log.lock().unwrap().mails.push(mail.clone());
                    }
                    self.perform_action(end, "250 taken", &mut stream)?;
                }
                "QUIT" => return Ok(false),
                _ => {}
            }
        }
    }

    fn ehlo_response(&self, encrypted: bool) -> String {
        let mut lines = vec!["mail.test"];
        if self.options.tls.is_some() && !encrypted {
            lines.push("STARTTLS");
        }
        if self.options.sign_in.is_some() {
            lines.push("AUTH PLAIN LOGIN");
        }
        let last = lines.pop().unwrap();
        lines.iter().map(|line| format!("250-{line}\r\n")).chain([format!("250 {last}")]).collect()
    }

    fn respond_to(
        &self,
        verb: &str,
        normal_response: &str,
        stream: &mut BufReader<Box<dyn Stream>>,
    ) -> Dialogue<String> {
        self.perform_action(self.next_action(verb), normal_response, stream)
    }

    fn next_action(&self, verb: &str) -> ServerAction {
        let next = self.actions.lock().unwrap().get_mut(verb).and_then(VecDeque::pop_front);
        next.unwrap_or(ServerAction::RespondNormally)
    }

    fn perform_action(
        &self,
        action: ServerAction,
        normal_response: &str,
        stream: &mut BufReader<Box<dyn Stream>>,
    ) -> Dialogue<String> {
        let response = match action {
            ServerAction::RespondNormally => normal_response.to_owned(),
            ServerAction::Respond(response) => response.to_owned(),
            ServerAction::Close => return Err(io::ErrorKind::ConnectionAborted.into()),
            ServerAction::Hang => {
                return stream.read_to_end(&mut Vec::new()).and(Err(io::ErrorKind::TimedOut.into()));
            }
            ServerAction::Drip => return self.drip_response(stream),
        };
        stream.get_mut().write_all(format!("{response}\r\n").as_bytes())?;
        stream.get_mut().flush()?;
        Ok(response)
    }

    /// Sends bytes as fast as the client reads them, until the client disconnects or the test ends.
    fn drip_response(&self, stream: &mut BufReader<Box<dyn Stream>>) -> Dialogue<String> {
        while !self.is_stopped.load(Ordering::Relaxed) {
            stream.get_mut().write_all(b"2")?;
            stream.get_mut().flush()?;
            thread::yield_now();
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

fn wrap_tls(tls: &Arc<ServerConfig>, stream: TcpStream) -> Box<dyn Stream> {
    Box::new(StreamOwned::new(ServerConnection::new(Arc::clone(tls)).unwrap(), stream))
}

fn read_line_trimmed(stream: &mut impl BufRead) -> Dialogue<String> {
    let mut line = String::new();
    match stream.read_line(&mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line.trim_end_matches(['\r', '\n']).to_owned()),
    }
}

/// Reads the message up to its terminating dot. A bare line feed ends a line, too, as on servers that are vulnerable to
/// SMTP smuggling.
fn read_message(stream: &mut impl BufRead) -> Dialogue<String> {
    let mut text = String::new();
    loop {
        let line = read_line_trimmed(stream)?;
        if line == "." {
            return Ok(text);
        }
        text.push_str(line.strip_prefix('.').unwrap_or(&line));
        text.push_str("\r\n");
    }
}
