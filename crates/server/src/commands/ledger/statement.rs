//! `guerdon statement`.

use guerdon_domain::companies::Company;
use guerdon_domain::money::{Amount, PointsPerDollar};
use guerdon_domain::ports::{AccountEntry, StoreExt};
use guerdon_domain::statement::{StatementLine, StatementPeriod, visit_statement};
use guerdon_domain::values::Timestamp;
use guerdon_domain::wallets::Account;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::commands::arguments::WalletName;
use crate::commands::arguments::identifiers::{
    CompanyArgument, check_id_or_email, find_company_of_user, find_user,
};
use crate::commands::arguments::time::{check_time, parse_optional_time};
use crate::commands::{CommandEnvironment, CommandError, CommandOutput, RunnableCommand};

/// The maximum number of lines of a statement.
const LINES_MAX: usize = 200_000;

/// Print a statement of a company's reserve or a user's wallet: opening balance, every movement with the balance after
/// it, oldest first, and closing balance. Points are converted at the rate of each movement, so the statement of a past
/// period never changes.
#[derive(Debug, Clone, clap::Args, Serialize, Deserialize)]
#[command(after_help = r"Examples:
  guerdon statement acme.example --from 30d
  guerdon statement acme.example --user ann@acme.example --wallet user_wallet \
    --format json")]
pub(crate) struct Statement {
    /// The company: an id or a domain
    #[arg(value_name = "COMPANY")]
    company_id: CompanyArgument,
    /// Print the statement of this user's wallet instead of the reserve: an id or an email
    #[arg(long, value_name = "USER", value_parser = check_id_or_email, requires = "wallet")]
    user: Option<String>,
    /// The user's wallet
    #[arg(long, value_enum, requires = "user")]
    wallet: Option<WalletName>,
    /// Start of the period: a time, or an age such as 7d
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = check_time)]
    from: Option<String>,
    /// End of the period (exclusive): a time, or an age such as 7d
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = check_time)]
    to: Option<String>,
    /// Format of the statement
    #[arg(long, value_enum, default_value = "csv")]
    format: StatementFormat,
}

/// The format of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StatementFormat {
    /// Comma-separated values (RFC 4180)
    Csv,
    /// A JSON array
    Json,
}

/// One line of a statement, with exact amounts in dollars.
#[derive(Serialize)]
struct StatementRow {
    at: Option<String>,
    place: Option<i64>,
    reason: &'static str,
    r#type: Option<&'static str>,
    points: Option<i64>,
    dollars: Option<String>,
    balance_points: i64,
    balance_dollars: String,
    cause: Option<Uuid>,
}

impl StatementRow {
    fn from_line(line: StatementLine, period: StatementPeriod, now: PointsPerDollar) -> Self {
        let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
        match line {
            StatementLine::Opening { balance, rate } => {
                Self::from_balance(text(period.from), "opening balance", balance, rate.unwrap_or(now))
            }
            StatementLine::Closing { balance, rate } => {
                Self::from_balance(text(period.to), "closing balance", balance, rate.unwrap_or(now))
            }
            StatementLine::Entry { entry, balance } => Self::from_account_entry(&entry, balance),
        }
    }

    fn from_balance(
        at: Option<String>,
        reason: &'static str,
        balance: Amount,
        rate: PointsPerDollar,
    ) -> Self {
        Self {
            at,
            place: None,
            reason,
            r#type: None,
            points: None,
            dollars: None,
            balance_points: rate.shown_points(balance).get(),
            balance_dollars: balance.to_string(),
            cause: None,
        }
    }

    fn from_account_entry(entry: &AccountEntry, balance: Amount) -> Self {
        let AccountEntry { sequence, amount, rate, transaction } = entry;
        Self {
            place: Some(*sequence),
            r#type: Some(transaction.direction.name()),
            points: Some(transaction.points.get()),
            dollars: Some(amount.to_string()),
            cause: Some(transaction.journal_entry_id.as_uuid()),
            ..Self::from_balance(Some(transaction.at.to_string()), transaction.reason.name(), balance, *rate)
        }
    }
}

impl Statement {
    fn parse_period(&self) -> Result<StatementPeriod, CommandError> {
        let (from, to) = (parse_optional_time(self.from.as_ref())?, parse_optional_time(self.to.as_ref())?);
        match from.zip(to) {
            Some((from, to)) if from >= to => Err(CommandError::refused("--from must be before --to")),
            _ => Ok(StatementPeriod { from, to }),
        }
    }

    fn find_account(
        &self,
        environment: &CommandEnvironment,
        company: &Company,
    ) -> Result<Account, CommandError> {
        let (Some(name), Some(wallet)) = (&self.user, self.wallet) else {
            return Ok(Account::Reserve(company.id));
        };
        let user = find_user(environment, company.id, name)?;
        let owner = find_company_of_user(environment, user)?;
        if owner.id != company.id {
            return Err(CommandError::refused("the user belongs to another company"));
        }
        Ok(Account::Wallet(wallet.into(), user))
    }
}

impl RunnableCommand for Statement {
    fn is_read_only(&self) -> bool {
        true
    }

    fn may_take_long(&self) -> bool {
        true
    }

    fn execute_in(&self, environment: &CommandEnvironment) -> Result<CommandOutput, CommandError> {
        let company = self.company_id.find_company(environment)?;
        let (period, account) = (self.parse_period()?, self.find_account(environment, &company)?);
        let lines = environment.store.read_snapshot(|reads| {
            let mut lines = Vec::new();
            visit_statement(reads, account, period, &mut |line| {
                if lines.len() > LINES_MAX && matches!(line, StatementLine::Entry { .. }) {
                    let why =
                        format!("more than {LINES_MAX} movements: shorten the period with --from and --to");
                    return Err(CommandError::Refused(why));
                }
                lines.push(StatementRow::from_line(line, period, company.rate));
                Ok(())
            })?;
            Ok::<_, CommandError>(lines)
        })?;
        let json = serde_json::to_string(&lines)?;
        let text = match self.format {
            StatementFormat::Json => json.clone(),
            StatementFormat::Csv => to_csv(&lines)?,
        };
        Ok(CommandOutput { text, json, ..CommandOutput::default() })
    }
}

fn to_csv(lines: &[StatementRow]) -> Result<String, CommandError> {
    let failed = |cause: &dyn ToString| CommandError::Failed(cause.to_string());
    let mut writer = csv::Writer::from_writer(Vec::new());
    for line in lines {
        writer.serialize(line).map_err(|error| failed(&error))?;
    }
    let bytes = writer.into_inner().map_err(|error| failed(&error))?;
    String::from_utf8(bytes).map_err(|error| failed(&error))
}
