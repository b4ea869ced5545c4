//! All commands, in groups, as the command line has them.

use clap::Subcommand;
use serde::{Deserialize, Serialize};

use super::{CommandError, Output, Runnable, Workplace};
use super::{
    audit, company, distribution, event, import, mail, maintenance, occasion, provider, provider_create,
    provider_rotate, prune, recognition, redemption, reserve, saml, schedule, seal, send_example, statement,
    user, verify, wallet,
};

/// Commands, or groups of them, by the names that they have on the command line.
macro_rules! commands {
    ($(#[$doc:meta])* enum $group:ident { $($(#[$its:meta])* $name:ident($command:ty),)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Subcommand, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub(crate) enum $group {
            $($(#[$its])* $name($command),)+
        }

        impl Runnable for $group {
            fn run(&self, workplace: &Workplace) -> Result<Output, CommandError> {
                match self {
                    $(Self::$name(it) => it.run(workplace),)+
                }
            }

            fn may_take_long(&self) -> bool {
                match self {
                    $(Self::$name(it) => it.may_take_long(),)+
                }
            }

            fn is_reading(&self) -> bool {
                match self {
                    $(Self::$name(it) => it.is_reading(),)+
                }
            }

            fn is_logged(&self) -> bool {
                match self {
                    $(Self::$name(it) => it.is_logged(),)+
                }
            }
        }
    };
}

commands! {
    /// A command over the database.
    enum Command {
        /// Check every ledger invariant, read-only; exit 1 and a line per violation.
        Verify(verify::Verify),
        /// Seal what is committed now, and print the head of the chain of seals.
        Seal(seal::Seal),
        /// Providers and their credentials.
        #[command(subcommand)]
        Provider(ProviderCommand),
        /// Companies, their options, and whose they are.
        #[command(subcommand)]
        Company(CompanyCommand),
        /// Users of companies.
        #[command(subcommand)]
        User(UserCommand),
        /// Companies' reserves.
        #[command(subcommand)]
        Reserve(ReserveCommand),
        /// Points from a reserve to many wallets.
        #[command(subcommand)]
        Distribution(DistributionCommand),
        /// Points spent on rewards.
        #[command(subcommand)]
        Redemption(RedemptionCommand),
        /// What users' wallets hold.
        #[command(subcommand)]
        Wallet(WalletCommand),
        /// Recognitions that were sent.
        #[command(subcommand)]
        Recognition(RecognitionCommand),
        /// Occasions.
        #[command(subcommand)]
        Occasion(OccasionCommand),
        /// Events on their way to providers.
        #[command(subcommand)]
        Event(EventCommand),
        /// Behind `guerdon webhook send-example`.
        #[command(hide = true)]
        SendExample(send_example::SendExample),
        /// Turn maintenance on (the API answers 503) or off.
        Maintenance(maintenance::Maintenance),
        /// Mails to administrators of companies.
        #[command(subcommand)]
        Mail(MailCommand),
        /// Single sign-on of companies.
        #[command(subcommand)]
        Saml(SamlCommand),
        /// Show who did what, newest first.
        Audit(audit::Audit),
        /// Every movement of a reserve or a wallet, with the balance after each.
        Statement(statement::Statement),
        /// Bring many things in at once.
        #[command(subcommand)]
        Import(ImportCommand),
        /// Let go what retention allows: delivered events, handed-over mails, answers kept for repeats.
        Prune(prune::Prune),
    }
}

commands! {
    enum ProviderCommand {
        /// Add a provider; its secrets are shown this once.
        Create(provider_create::Create),
        /// Show all providers, oldest first.
        List(provider::List),
        /// Change a provider.
        Set(provider::Set),
        /// Replace a secret; the old one stops at once, or after a grace.
        Rotate(provider_rotate::Rotate),
    }
}

commands! {
    enum UserCommand {
        /// Show a company's active users, oldest first.
        List(user::List),
        /// Show one user, a deleted one too.
        Show(user::Show),
        /// Erase what is known of a deleted user; the movements of points stay.
        Erase(user::Erase),
    }
}

commands! {
    enum CompanyCommand {
        /// Show companies, oldest first.
        List(company::List),
        /// Show one company.
        Show(company::Show),
        /// Set options of a company.
        Options(company::Options),
        /// Hand a company to another provider.
        Transfer(company::Transfer),
    }
}

commands! {
    enum ReserveCommand {
        /// Show a company's reserve.
        Show(reserve::Show),
        /// Put points into a company's reserve.
        Deposit(reserve::Deposit),
        /// Take points out of a company's reserve.
        Withdraw(reserve::Withdraw),
    }
}

commands! {
    enum DistributionCommand {
        /// Give points to users, all or nothing, from the reserve.
        Run(distribution::Run),
        /// Give points again and again, every week or every month.
        Schedule(schedule::Schedule),
        /// Show a company's schedules.
        List(schedule::List),
        /// End a schedule.
        Cancel(schedule::Cancel),
    }
}

commands! {
    #[expect(clippy::enum_variant_names, reason = "a company's own occasions are its provider's")]
    enum OccasionCommand {
        /// Add an occasion that every provider can use.
        CreateGlobal(occasion::CreateGlobal),
        /// Show the occasions that every provider can use.
        ListGlobal(occasion::ListGlobal),
        /// Enable or disable one of them, show or hide it.
        SetGlobal(occasion::SetGlobal),
        /// Remove one of them.
        DeleteGlobal(occasion::DeleteGlobal),
    }
}

commands! {
    enum ImportCommand {
        /// Create or update a company's users from a file.
        Users(import::Users),
    }
}

commands! {
    enum SamlCommand {
        /// Take the settings out of an identity provider's metadata.
        Import(saml::Import),
        /// Show the settings, with what is to be entered at the identity provider.
        Show(saml::Show),
    }
}

commands! {
    enum MailCommand {
        /// Show mails, newest first.
        List(mail::List),
        /// Send mails again that were given up, or that wait.
        Retry(mail::Retry),
        /// Send a mail at once, to see whether mails arrive.
        Test(mail::Test),
    }
}

commands! {
    enum RedemptionCommand {
        /// Spend points of a user's earned wallet.
        Create(redemption::Create),
        /// Return what a redemption took, once.
        Refund(redemption::Refund),
    }
}

commands! {
    enum WalletCommand {
        /// Replace what a wallet holds; the difference comes from the reserve, or goes there.
        Override(wallet::Override),
    }
}

commands! {
    enum RecognitionCommand {
        /// Change what a recognition says, or whether it is public.
        Update(recognition::Update),
    }
}

commands! {
    enum EventCommand {
        /// Show events, newest first.
        List(event::List),
        /// Show one event, its body and the attempts to deliver it.
        Show(event::Show),
        /// Make events due at once.
        Replay(event::Replay),
    }
}
