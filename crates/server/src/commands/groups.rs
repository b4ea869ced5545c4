//! All commands, as the command line has them.

use super::group::command_group;
use super::{
    company, distribution, event, import, ledger, mail, maintenance, occasion, provider, recognition,
    redemption, reserve, saml, user, wallet,
};

command_group! {
    /// A command over the database.
    enum Command {
        /// Check every ledger invariant, read-only; exit 1 and a line per violation.
        Verify(ledger::verify::Verify),
        /// Seal what is committed now, and print the head of the chain of seals.
        Seal(ledger::seal::Seal),
        /// Providers and their credentials.
        #[command(subcommand)]
        Provider(provider::ProviderCommand),
        /// Companies, their options, and whose they are.
        #[command(subcommand)]
        Company(company::CompanyCommand),
        /// Users of companies.
        #[command(subcommand)]
        User(user::UserCommand),
        /// Companies' reserves.
        #[command(subcommand)]
        Reserve(reserve::ReserveCommand),
        /// Points from a reserve to many wallets.
        #[command(subcommand)]
        Distribution(distribution::DistributionCommand),
        /// Points spent on rewards.
        #[command(subcommand)]
        Redemption(redemption::RedemptionCommand),
        /// What users' wallets hold.
        #[command(subcommand)]
        Wallet(wallet::WalletCommand),
        /// Recognitions that were sent.
        #[command(subcommand)]
        Recognition(recognition::RecognitionCommand),
        /// Occasions.
        #[command(subcommand)]
        Occasion(occasion::OccasionCommand),
        /// Events on their way to providers.
        #[command(subcommand)]
        Event(event::EventCommand),
        /// Behind `guerdon webhook send-example`.
        #[command(hide = true)]
        SendExample(event::send_example::SendExample),
        /// Turn maintenance on (the API answers 503) or off.
        Maintenance(maintenance::mode::Maintenance),
        /// Mails to administrators of companies.
        #[command(subcommand)]
        Mail(mail::MailCommand),
        /// Single sign-on of companies.
        #[command(subcommand)]
        Saml(saml::SamlCommand),
        /// Show who did what, newest first.
        Audit(ledger::audit::Audit),
        /// Every movement of a reserve or a wallet, with the balance after each.
        Statement(ledger::statement::Statement),
        /// Bring many things in at once.
        #[command(subcommand)]
        Import(ImportCommand),
        /// Let go what retention allows: delivered events, handed-over mails, answers kept for repeats.
        Prune(maintenance::prune::Prune),
    }
}

command_group! {
    enum ImportCommand {
        /// Create or update a company's users from a file.
        #[command(after_help = r"Examples:
  guerdon import users PEOPLE --company acme.example
  guerdon import users PEOPLE --company acme.example --atomic")]
        Users(import::Users),
    }
}
