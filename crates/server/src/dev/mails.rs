//! Prints each email of the sandbox when it is sent.

use guerdon_mailer::{Mail, MailTransport, SendFailure};

use super::style::success_line;
use crate::terminal::{print_line, printable};

/// How many lines of an email are printed.
const PRINTED_LINES_MAX: usize = 12;

/// Wraps a transport so that each sent email is printed.
pub(super) fn print_sent_mails(transport: Box<dyn MailTransport>) -> Box<dyn MailTransport> {
    Box::new(PrintingTransport(transport))
}

struct PrintingTransport(Box<dyn MailTransport>);

impl MailTransport for PrintingTransport {
    fn send_mail(&mut self, mail: &Mail) -> Result<(), SendFailure> {
        self.0.send_mail(mail)?;
        print_line(success_line("mail", &format!("to {}: {}", mail.recipient, mail.subject)));
        for line in mail.body.lines().filter(|line| !line.trim().is_empty()).take(PRINTED_LINES_MAX) {
            print_line(format_args!("      {}", printable::escape_line(line)));
        }
        Ok(())
    }

    fn check_connection(&mut self) -> Result<(), SendFailure> {
        self.0.check_connection()
    }

    fn close_connection(&mut self) {
        self.0.close_connection();
    }
}
