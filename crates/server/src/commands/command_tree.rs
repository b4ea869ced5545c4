//! The tree of commands.

use super::group_macro::command_group;
use super::{
    company, distribution, event, import, ledger, mail, maintenance, occasion, provider, recognition,
    redemption, request, reserve, saml, user, wallet,
};

command_group! {
    /// A command that uses the database.
    enum Command {
        /// Verify the ledger; changes nothing in it. If there are violations, prints at most a hundred per
        /// invariant and exits with 1.
        Verify(ledger::verify::Verify),
        /// Seal all committed journal entries and print the head of the hash chain.
        Seal(ledger::seal::Seal),
        /// Manage providers and their credentials.
        #[command(subcommand)]
        Provider(provider::ProviderCommand),
        /// Manage companies.
        #[command(subcommand)]
        Company(company::CompanyCommand),
        /// List, show or erase users.
        #[command(subcommand)]
        User(user::UserCommand),
        /// Show a company's reserve, or deposit or withdraw points.
        #[command(subcommand)]
        Reserve(reserve::ReserveCommand),
        /// Distribute points from a reserve to users, once or on a schedule.
        #[command(subcommand)]
        Distribution(distribution::DistributionCommand),
        /// Create or refund redemptions.
        #[command(subcommand)]
        Redemption(redemption::RedemptionCommand),
        /// Override wallet balances.
        #[command(subcommand)]
        Wallet(wallet::WalletCommand),
        /// Update recognitions.
        #[command(subcommand)]
        Recognition(recognition::RecognitionCommand),
        /// Manage global occasions.
        #[command(subcommand)]
        Occasion(occasion::OccasionCommand),
        /// List, show or replay events.
        #[command(subcommand)]
        Event(event::EventCommand),
        /// Implements `guerdon webhook send-example`.
        #[command(hide = true)]
        SendExample(event::send_example::SendExample),
        /// List failed requests.
        #[command(subcommand)]
        Request(request::RequestCommand),
        /// Turn maintenance mode on (the API responds with 503) or off, or show it.
        Maintenance(maintenance::mode::Maintenance),
        /// List, retry or test emails to administrators.
        #[command(subcommand)]
        Mail(mail::MailCommand),
        /// Manage single sign-on of companies.
        #[command(subcommand)]
        Saml(saml::SamlCommand),
        /// Show the audit log, newest first.
        Audit(ledger::audit::Audit),
        /// Print a statement of a reserve or a wallet.
        Statement(ledger::statement::Statement),
        /// Import data in bulk.
        #[command(subcommand)]
        Import(ImportCommand),
        /// Delete delivered events, sent emails and expired idempotency records past their retention.
        Prune(maintenance::prune::Prune),
        /// Implements `guerdon backup`.
        #[command(hide = true)]
        RecordBackup(maintenance::record_backup::RecordBackup),
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
