//! Prints each mail of the sandbox when it is sent.

use guerdon_domain::ports::ClaimedMail;
use guerdon_mailer::{Failure, Transport};

use super::paint::good;
use crate::terminal::{print_line, printable};

/// How many lines of a mail are printed.
const LINES_MAX: usize = 12;

/// Makes a transport print each mail that it has sent.
pub(super) fn print_mails(transport: Box<dyn Transport>) -> Box<dyn Transport> {
    Box::new(PrintingTransport(transport))
}

struct PrintingTransport(Box<dyn Transport>);

impl Transport for PrintingTransport {
    fn send(&mut self, mail: &ClaimedMail) -> Result<(), Failure> {
        self.0.send(mail)?;
        print_line(good("mail", &format!("to {}: {}", mail.recipient, mail.subject)));
        for line in mail.body.lines().filter(|line| !line.trim().is_empty()).take(LINES_MAX) {
            print_line(format_args!("      {}", printable::one_line(line)));
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), Failure> {
        self.0.check()
    }

    fn rest(&mut self) {
        self.0.rest();
    }
}
