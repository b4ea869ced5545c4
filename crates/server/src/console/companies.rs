//! Companies and their schedules.

use std::collections::HashMap;

use guerdon_console::Listing;
use guerdon_console::model::{
    BucketSize, Circulation, Companies, Company, CompanyRow, ObjectReference, OccasionUse, Reserve, Schedule,
    ScheduleFailure, Schedules, Series,
};
use guerdon_console::pages::companies::{CompanyColumn, CompanyFilter};
use guerdon_console::pages::schedules::{ScheduleColumn, is_failing_only};
use guerdon_domain::companies::Company as CompanyRecord;
use guerdon_domain::distributions::Schedule as ScheduleRecord;
use guerdon_domain::money::{Amount, Points, PointsPerDollar};
use guerdon_domain::ports::{AuditLogQuery, CompanyDay, CompanySummary, Lookup, StoreError};
use guerdon_domain::values::{CompanyId, ProviderId};
use guerdon_domain::wallets::Account;

use super::{PageContext, audit, provider_reference, start_of_day, to_count, to_utc};
use crate::commands::{format_dollars, list_company_settings};

const RESERVE_CHART_DAYS: u16 = 90;
const RECENT_DAYS: i32 = 30;
const OCCASIONS_MAX: i64 = 10;
const AUDIT_ENTRIES_MAX: i64 = 10;

fn to_reserve(balance: Amount, rate: PointsPerDollar, alert: Option<Points>) -> Reserve {
    let points = rate.shown_points(balance);
    Reserve {
        points: points.get(),
        dollars: format_dollars(points, rate),
        alert_below: alert.map(Points::get),
    }
}

pub(super) fn load_companies(mut context: PageContext<'_>) -> Result<Companies, StoreError> {
    let names = context.provider_names()?;
    let filter = CompanyFilter::from_query(context.query);
    let lines = context.reads.list_company_summaries(context.days_back(RECENT_DAYS))?;
    let rows =
        lines.into_iter().map(|line| to_company_row(line, &names)).filter(|row| filter.matches_company(row));
    Ok(Companies {
        list: Listing::<CompanyColumn>::from_query(context.query).sort_and_paginate(rows.collect()),
    })
}

fn to_company_row(record: CompanySummary, names: &HashMap<ProviderId, String>) -> CompanyRow {
    CompanyRow {
        id: record.id.to_string(),
        provider: provider_reference(names, record.provider),
        users: to_count(record.users),
        reserve: to_reserve(record.reserve, record.rate, record.reserve_alert),
        recognitions_30d: to_count(record.recognitions),
        name: record.name,
        domain: record.domain,
    }
}

pub(super) fn load_company(mut context: PageContext<'_>, id: &str) -> Result<Option<Company>, StoreError> {
    let Ok(id) = id.parse::<CompanyId>() else { return Ok(None) };
    let Some(scope) = context.reads.provider_of_company(id)? else { return Ok(None) };
    let Lookup::Own(found) = context.reads.find_company(scope, id)? else { return Ok(None) };
    let company = found.company;
    let balance = context.reads.account_balance(Account::Reserve(id))?.unwrap_or_default();
    let days = context.reads.company_days(id, context.days_back(i32::from(RESERVE_CHART_DAYS)))?;
    let recent = context.days_back(RECENT_DAYS);
    let occasions = context.reads.list_occasion_usage(id, recent, OCCASIONS_MAX)?;
    let names = context.provider_names()?;
    let name = ObjectReference { id: id.to_string(), name: company.name.as_str().to_owned() };
    let skipped = context.reads.list_skipped_dates(id)?;
    let schedules =
        context.reads.list_schedules(id)?.into_iter().filter(|schedule| schedule.cancelled_at.is_none());
    let schedules = schedules.map(|schedule| {
        let skipped_count = skipped.iter().filter(|date| date.schedule_id == schedule.id).count();
        to_schedule(&schedule, name.clone(), i64::try_from(skipped_count).unwrap_or(0))
    });
    Ok(Some(Company {
        id: id.to_string(),
        domain: company.domain.as_str().to_owned(),
        provider: provider_reference(&names, company.provider_id),
        created_at: to_utc(company.created_at),
        allow_zero_points: company.allow_zero_points,
        users: to_count(context.reads.count_active_users(id)?),
        recognitions_30d: to_count(
            days.iter().filter(|day| day.day >= recent).map(|day| day.recognitions).sum(),
        ),
        facts: list_company_settings(&company),
        reserve: to_reserve(balance, company.rate, company.reserve_alert),
        reserve_by_day: reserve_history(&context, &company, &days, balance),
        circulation: build_circulation(&company, &days),
        occasions: occasions
            .into_iter()
            .map(|occasion| OccasionUse {
                name: occasion.name,
                recognitions: to_count(occasion.recognitions),
                points: occasion.points,
            })
            .collect(),
        schedules: schedules.collect(),
        audit: audit::load_entries(&mut context, &audit_query(id))?,
        name: name.name,
    }))
}

fn audit_query(id: CompanyId) -> AuditLogQuery {
    AuditLogQuery {
        company: Some(id),
        without_recognitions: true,
        limit: AUDIT_ENTRIES_MAX,
        ..AuditLogQuery::default()
    }
}

/// The reserve's balance at the end of each day: the current balance minus all later changes.
fn reserve_history(
    context: &PageContext<'_>,
    company: &CompanyRecord,
    days: &[CompanyDay],
    balance: Amount,
) -> Series {
    let (mut balance_at_end, rate) = (balance, company.rate);
    let mut levels = Vec::new();
    for day in days.iter().rev().filter(|day| day.day > 0) {
        levels.push((start_of_day(day.day), rate.shown_points(balance_at_end).get()));
        balance_at_end = balance_at_end.checked_sub(day.reserve).unwrap_or(balance_at_end);
    }
    // The history begins with the balance before the first change, or on the day when the company was created.
    let first =
        start_of_day(context.days_back(i32::from(RESERVE_CHART_DAYS)) - 1).max(to_utc(company.created_at));
    levels.push((first, rate.shown_points(balance_at_end).get()));
    levels.reverse();
    Series::from_levels(BucketSize::Day, context.now_utc(), RESERVE_CHART_DAYS, levels)
}

fn build_circulation(record: &CompanyRecord, days: &[CompanyDay]) -> Vec<Circulation> {
    let totals = days.iter().find(|day| day.day == 0).copied().unwrap_or_default();
    let wallets = [
        ("user_wallet", totals.user_wallets),
        ("peer_wallet", totals.peer_wallets),
        ("manager_wallet", totals.manager_wallets),
    ];
    let to_circulation = |(name, amount): (&str, Amount)| {
        let points = record.rate.shown_points(amount);
        let dollars = format_dollars(points, record.rate);
        Circulation { wallet: name.to_owned(), points: points.get(), dollars }
    };
    wallets.into_iter().map(to_circulation).collect()
}

fn to_schedule(record: &ScheduleRecord, company: ObjectReference, skipped: i64) -> Schedule {
    Schedule {
        id: record.id.to_string(),
        company,
        wallet: record.wallet.name().to_owned(),
        points: record.points.get(),
        every: record.period.name().to_owned(),
        next_on: record.next_on.to_date(),
        failing: record
            .failed_attempts
            .as_ref()
            .map(|failing| ScheduleFailure { since: to_utc(failing.since), reason: failing.reason.clone() }),
        skipped: to_count(skipped),
    }
}

pub(super) fn load_schedules(mut context: PageContext<'_>) -> Result<Schedules, StoreError> {
    let mut rows = Vec::new();
    for (schedule, skipped) in context.reads.list_active_schedules()? {
        if schedule.failed_attempts.is_some() || !is_failing_only(context.query) {
            let company = context.company_name(schedule.company_id)?;
            rows.push(to_schedule(&schedule, company, skipped));
        }
    }
    Ok(Schedules { list: Listing::<ScheduleColumn>::from_query(context.query).sort_and_paginate(rows) })
}
