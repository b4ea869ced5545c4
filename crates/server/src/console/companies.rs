//! Companies and their schedules.

use std::collections::HashMap;

use guerdon_console::Listing;
use guerdon_console::model::{
    Circulation, Companies, Company, CompanyRow, Failing, Named, OccasionUse, Reserve, Schedule, Schedules,
    Series, Step,
};
use guerdon_console::pages::companies::{CompanyColumn, CompanyFilter};
use guerdon_console::pages::schedules::{ScheduleColumn, is_failing_only};
use guerdon_domain::companies::Company as Whole;
use guerdon_domain::distributions::Schedule as Repeating;
use guerdon_domain::money::{Amount, Points, PointsPerDollar};
use guerdon_domain::ports::{AuditWanted, CompanyDay, CompanyLine, Lookup, StoreError};
use guerdon_domain::values::{CompanyId, ProviderId};
use guerdon_domain::wallets::Account;

use super::{Look, audit, count, day_begins, named, when};
use crate::commands::format_dollars;

const RESERVE_DAYS: u16 = 90;
const RECENT_DAYS: i32 = 30;
const OCCASIONS: i64 = 10;
const ENTRIES: i64 = 10;

fn reserve(balance: Amount, rate: PointsPerDollar, alert: Option<Points>) -> Reserve {
    let points = rate.points(balance);
    Reserve {
        points: points.get(),
        dollars: format_dollars(points, rate),
        alert_below: alert.map(Points::get),
    }
}

pub(super) fn companies(mut look: Look<'_>) -> Result<Companies, StoreError> {
    let names = look.provider_names()?;
    let filter = CompanyFilter::read(look.query);
    let lines = look.reads.company_lines(look.days_back(RECENT_DAYS))?;
    let rows = lines.into_iter().map(|line| row(line, &names)).filter(|row| filter.admits(row));
    Ok(Companies { list: Listing::<CompanyColumn>::read(look.query).cut(rows.collect()) })
}

fn row(it: CompanyLine, names: &HashMap<ProviderId, String>) -> CompanyRow {
    CompanyRow {
        id: it.id.to_string(),
        provider: named(names, it.provider),
        users: count(it.users),
        reserve: reserve(it.reserve, it.rate, it.reserve_alert),
        recognitions_30d: count(it.recognitions),
        name: it.name,
        domain: it.domain,
    }
}

pub(super) fn company(mut look: Look<'_>, id: &str) -> Result<Option<Company>, StoreError> {
    let Ok(id) = id.parse::<CompanyId>() else { return Ok(None) };
    let Some(scope) = look.reads.provider_of_company(id)? else { return Ok(None) };
    let Lookup::Own(found) = look.reads.company(scope, id)? else { return Ok(None) };
    let company = found.company;
    let balance = look.reads.balance(Account::Reserve(id))?.unwrap_or_default();
    let days = look.reads.company_days(id, look.days_back(i32::from(RESERVE_DAYS)))?;
    let recent = look.days_back(RECENT_DAYS);
    let used = look.reads.occasion_lines(id, recent, OCCASIONS)?;
    let names = look.provider_names()?;
    let name = Named { id: id.to_string(), name: company.name.as_str().to_owned() };
    let missed = look.reads.missed_dates(id)?;
    let schedules =
        look.reads.schedules(id)?.into_iter().filter(|repeating| repeating.cancelled_at.is_none());
    let schedules = schedules.map(|repeating| {
        let given_up = missed.iter().filter(|date| date.schedule_id == repeating.id).count();
        schedule(&repeating, name.clone(), i64::try_from(given_up).unwrap_or(0))
    });
    Ok(Some(Company {
        id: id.to_string(),
        domain: company.domain.as_str().to_owned(),
        provider: named(&names, company.provider_id),
        created_at: when(company.created_at),
        points_per_dollar: u32::try_from(company.rate.get()).unwrap_or(0),
        allow_zero_points: company.allow_zero_points,
        users: count(look.reads.active_user_count(id)?),
        recognitions_30d: count(
            days.iter().filter(|day| day.day >= recent).map(|day| day.recognitions).sum(),
        ),
        reserve: reserve(balance, company.rate, company.reserve_alert),
        reserve_by_day: past(&look, &company, &days, balance),
        circulation: circulation(&company, &days),
        occasions: used
            .into_iter()
            .map(|occasion| OccasionUse {
                name: occasion.name,
                recognitions: count(occasion.recognitions),
                points: occasion.points,
            })
            .collect(),
        schedules: schedules.collect(),
        audit: audit::entries(&mut look, &wanted(id))?,
        name: name.name,
    }))
}

fn wanted(id: CompanyId) -> AuditWanted {
    AuditWanted { company: Some(id), limit: ENTRIES, ..AuditWanted::default() }
}

/// The reserve's balance at the end of each day: the current balance minus all later changes.
fn past(look: &Look<'_>, company: &Whole, days: &[CompanyDay], balance: Amount) -> Series {
    let (mut held, rate) = (balance, company.rate);
    let mut levels = Vec::new();
    for day in days.iter().rev().filter(|day| day.day > 0) {
        levels.push((day_begins(day.day), rate.points(held).get()));
        held = held.checked_sub(day.reserve).unwrap_or(held);
    }
    // The series begins with the balance before the first change, or when the company was created.
    let first = day_begins(look.days_back(i32::from(RESERVE_DAYS)) - 1).max(when(company.created_at));
    levels.push((first, rate.points(held).get()));
    levels.reverse();
    Series::levels(Step::Day, look.time(), RESERVE_DAYS, levels)
}

fn circulation(it: &Whole, days: &[CompanyDay]) -> Vec<Circulation> {
    let ever = days.iter().find(|day| day.day == 0).copied().unwrap_or_default();
    let wallets = [
        ("user_wallet", ever.user_wallets),
        ("peer_wallet", ever.peer_wallets),
        ("manager_wallet", ever.manager_wallets),
    ];
    let one = |(name, amount): (&str, Amount)| {
        let points = it.rate.points(amount);
        let dollars = format_dollars(points, it.rate);
        Circulation { wallet: name.to_owned(), points: points.get(), dollars }
    };
    wallets.into_iter().map(one).collect()
}

fn schedule(it: &Repeating, company: Named, missed: i64) -> Schedule {
    Schedule {
        id: it.id.to_string(),
        company,
        wallet: it.wallet.name().to_owned(),
        points: it.points.get(),
        every: it.every.name().to_owned(),
        next_on: it.next_on.date(),
        failing: it
            .failing
            .as_ref()
            .map(|failing| Failing { since: when(failing.since), reason: failing.reason.clone() }),
        missed: count(missed),
    }
}

pub(super) fn schedules(mut look: Look<'_>) -> Result<Schedules, StoreError> {
    let mut rows = Vec::new();
    for (repeating, missed) in look.reads.active_schedules()? {
        if repeating.failing.is_some() || !is_failing_only(look.query) {
            let company = look.company_name(repeating.company_id)?;
            rows.push(schedule(&repeating, company, missed));
        }
    }
    Ok(Schedules { list: Listing::<ScheduleColumn>::read(look.query).cut(rows) })
}
