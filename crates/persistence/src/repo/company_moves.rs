//! Moves of companies between cells.

use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::Bool;
use guerdon_domain::companies::{CompanyMove, HANDED_OVER_DELIVERY_STATE, MoveDirection};
use guerdon_domain::events::EventState;
use guerdon_domain::ports::{CompanyMoves, ReadCompanyMoves, StoreError, Timestamp};
use guerdon_domain::values::{CompanyId, ProviderId};
use uuid::Uuid;

use super::Unit;
use crate::rows::conditions::{HANDED_OVER, PENDING};
use crate::rows::schema::{company_moves, deliveries};
use crate::rows::{CompanyMoveRow, DbTimestamp, Id, Identifier};

impl ReadCompanyMoves for Unit<'_> {
    fn find_company_move(&mut self, token: Uuid) -> Result<Option<CompanyMove>, StoreError> {
        self.find(CompanyMoveRow::into_move, |conn| {
            company_moves::table.find(Id(token)).select(CompanyMoveRow::as_select()).get_result(conn)
        })
    }

    fn find_latest_hand_over(&mut self, company: CompanyId) -> Result<Option<CompanyMove>, StoreError> {
        self.find(CompanyMoveRow::into_move, |conn| {
            company_moves::table
                .filter(company_moves::company_id.eq(Id(company)))
                .filter(company_moves::direction.eq(MoveDirection::Outgoing.code()))
                .order((
                    // The open move may have an earlier time than a completed one, if the clock was set back.
                    company_moves::completed_at.is_null().desc(),
                    company_moves::created_at.desc(),
                    company_moves::token.desc(),
                ))
                .select(CompanyMoveRow::as_select())
                .first(conn)
        })
    }

    fn has_unfinished_distribution(&mut self, company: CompanyId) -> Result<bool, StoreError> {
        let exists = sql::<Bool>(
            "EXISTS (SELECT 1 FROM unfinished_distributions AS u JOIN journal_entries AS j ON j.id = u.id \
             WHERE j.company_id = ",
        )
        .bind::<Identifier, _>(Id(company))
        .sql(")");
        self.query(|conn| diesel::select(exists).get_result(conn))
    }

    fn is_company_sealed(&mut self, company: CompanyId) -> Result<bool, StoreError> {
        self.query(super::disable_statement_timeout)?; // many entries may have been written since the last seal
        let is_sealed = sql::<Bool>(
            "NOT EXISTS (SELECT 1 FROM journal_entries WHERE position >= \
             COALESCE((SELECT journal_before FROM seals ORDER BY sequence DESC LIMIT 1), 0) AND company_id = ",
        )
        .bind::<Identifier, _>(Id(company))
        .sql(")");
        self.query(|conn| diesel::select(is_sealed).get_result(conn))
    }
}

impl CompanyMoves for Unit<'_> {
    fn insert_company_move(&mut self, company_move: &CompanyMove) -> Result<(), StoreError> {
        let row = CompanyMoveRow::from_move(company_move);
        self.execute(|conn| diesel::insert_into(company_moves::table).values(&row).execute(conn))
    }

    fn complete_company_move(&mut self, token: Uuid, at: Timestamp) -> Result<(), StoreError> {
        self.execute(|conn| {
            diesel::update(company_moves::table.find(Id(token)))
                .set(company_moves::completed_at.eq(Some(DbTimestamp(at))))
                .execute(conn)
        })
    }

    fn replace_move_token(
        &mut self,
        token: Uuid,
        new_token: Uuid,
        release_code: &str,
    ) -> Result<bool, StoreError> {
        let changed = self.query(|conn| {
            diesel::update(company_moves::table.find(Id(token)))
                .filter(company_moves::completed_at.is_null().and(company_moves::archived_at.is_null()))
                .set((
                    company_moves::token.eq(Id(new_token)),
                    company_moves::release_code.eq(Some(release_code)),
                ))
                .execute(conn)
        })?;
        Ok(changed == 1)
    }

    fn record_move_archived(&mut self, token: Uuid, at: Timestamp) -> Result<bool, StoreError> {
        let changed = self.query(|conn| {
            diesel::update(company_moves::table.find(Id(token)))
                .filter(company_moves::completed_at.is_null())
                .set(company_moves::archived_at.eq(Some(DbTimestamp(at))))
                .execute(conn)
        })?;
        Ok(changed == 1)
    }

    fn hand_over_deliveries(&mut self, company: CompanyId, provider: ProviderId) -> Result<(), StoreError> {
        self.query(super::disable_statement_timeout)?; // after a long outage, many deliveries are pending
        // Deliveries in flight come last, because the dispatcher writes their results together with those of other
        // companies, and must not wait until all rows have been updated.
        for condition in [" AND lease_id IS NULL", ""] {
            self.execute(|conn| {
                diesel::update(deliveries::table)
                    .filter(
                        deliveries::provider_id.eq(Id(provider)).and(deliveries::company_id.eq(Id(company))),
                    )
                    .filter(sql::<Bool>(&format!("{PENDING}{condition}")))
                    .set((
                        deliveries::state.eq(HANDED_OVER_DELIVERY_STATE),
                        deliveries::next_attempt_at.eq(None::<DbTimestamp>),
                        deliveries::lease_id.eq(None::<Id>),
                    ))
                    .execute(conn)
            })?;
        }
        Ok(())
    }

    fn take_back_deliveries(&mut self, company: CompanyId, now: Timestamp) -> Result<(), StoreError> {
        self.query(super::disable_statement_timeout)?;
        let changed = self.query(|conn| {
            diesel::update(deliveries::table)
                .filter(deliveries::company_id.eq(Id(company)).and(sql::<Bool>(HANDED_OVER)))
                .set((
                    deliveries::state.eq(EventState::Pending.code()),
                    deliveries::next_attempt_at.eq(Some(DbTimestamp(now))),
                ))
                .execute(conn)
        })?;
        self.queued.events |= changed > 0;
        Ok(())
    }
}
