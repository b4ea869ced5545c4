//! Plans claims and accepts claimed events.

use std::collections::HashMap;
use std::sync::Arc;

use guerdon_domain::ports::{Claim, Claimed, Fate, Ids};
use guerdon_domain::values::ProviderId;
use uuid::Uuid;

use super::line::{Pace, ProviderLine, Waiting};
use super::{Core, Held, Now};
use crate::dispatcher::journal::Look;

impl Core {
    /// Plans the claims for the providers that have due events. Each gets as many events as it may hold and as
    /// free senders can start. The first provider is the successor of the last one in the previous round.
    pub(in crate::dispatcher) fn plan(&self, due: &[ProviderId], now: Now, ids: &dyn Ids) -> Vec<Claim> {
        if self.is_stopping {
            return Vec::new();
        }
        let mut room = self.limits.claimed.saturating_sub(self.held.len()).min(self.limits.claimed_at_once);
        let mut senders = self.free_senders();
        let mut turns = due.to_vec();
        turns.sort_unstable();
        let first = turns.partition_point(|provider| Some(*provider) <= self.claimed_last);
        turns.rotate_left(first);
        let mut claims = Vec::new();
        for provider in &turns {
            let line = self.lines.get(provider);
            let pace = line.map_or(Pace::Steady, ProviderLine::pace);
            let wanted = line.map_or(self.limits.under_way_per_provider, ProviderLine::room);
            let limit = wanted.min(room).min(senders.room(pace));
            let Ok(limit @ 1..) = u16::try_from(limit) else { continue };
            room = room.saturating_sub(limit.into());
            senders.take(pace, usize::from(limit).min(self.limits.under_way_per_provider));
            claims.push(Claim {
                provider: *provider,
                limit,
                now: now.wall,
                until: now.wall + self.limits.lease,
                lease: ids.next(),
            });
        }
        claims
    }

    /// Accepts claimed events. `before` is the time when the claims were planned, `now` the time when the events
    /// arrived.
    pub(in crate::dispatcher) fn accept(&mut self, due: Look, claims: &[Claim], before: Now, now: Now) {
        self.claimed_last = claims.last().map(|claim| claim.provider).or(self.claimed_last);
        let claims: HashMap<_, _> = claims.iter().map(|claim| (claim.provider, claim)).collect();
        for provider in &due.providers {
            if let Some(line) = self.lines.get_mut(provider) {
                line.has_more = !claims.contains_key(provider);
            }
        }
        for claimed in due.claimed {
            if let Some(claim) = claims.get(&claimed.provider.id) {
                self.take_over(claimed, claim, before, now);
            }
        }
    }

    fn take_over(&mut self, claimed: Claimed, claim: &Claim, before: Now, now: Now) {
        let Claimed { provider, events } = claimed;
        let id = provider.id;
        let provider = Arc::new(provider);
        let line =
            self.lines.entry(id).or_insert_with(|| ProviderLine::new(Arc::clone(&provider), &self.limits));
        line.provider = provider;
        line.has_more = events.len() >= usize::from(claim.limit);
        if line.has_more {
            line.filled(now.steady);
        }
        let lease_over = before.steady + self.limits.lease.saturating_sub(self.limits.lease_left_min);
        let until = lease_over.min(now.steady + self.limits.wait_max);
        for event in events {
            let known = self.held.get_mut(&event.id);
            if let Some(held) = known {
                held.lease = claim.lease;
                held.claimed_at = claim.now;
                if held.is_settling {
                    self.claimed_anew.insert(event.id, Waiting { event, until });
                }
                // Otherwise the event was claimed again because its lease expired or the clock was set. It keeps
                // its state and is settled under the new lease.
                continue;
            }
            self.hold(id, claim.lease, Waiting { event, until }, now);
        }
        self.enqueue(id);
    }

    /// Queues a claimed event for its turn. Without a callback URL it is settled as unaddressed, and released while the
    /// dispatcher stops.
    pub(super) fn hold(&mut self, provider: ProviderId, lease: Uuid, waiting: Waiting, now: Now) {
        let event = waiting.event.id;
        self.held.insert(event, Held { provider, lease, claimed_at: now.wall, is_settling: false });
        let line = self.lines.get_mut(&provider).filter(|_| !self.is_stopping);
        match line {
            Some(line) if line.provider.callback_url.is_some() => line.waiting.push_back(waiting),
            Some(_unaddressed) => {
                let settlement = self.settlement(event, None, Fate::Unaddressed);
                self.to_settle.push_back(settlement);
            }
            None => self.release(&waiting.event, now),
        }
    }

    fn free_senders(&self) -> FreeSenders {
        let mut free = FreeSenders {
            steady: self.senders.room(Pace::Steady, &self.limits),
            stuck: self.senders.room(Pace::Stuck, &self.limits),
        };
        for line in self.lines.values() {
            free.take(line.pace(), line.about_to_start(&self.limits));
        }
        free
    }
}

/// Senders that neither make an attempt nor are about to start one.
struct FreeSenders {
    steady: usize,
    stuck: usize,
}

impl FreeSenders {
    /// Brisk attempts follow each other so quickly that a few senders serve many providers.
    fn room(&self, pace: Pace) -> usize {
        match pace {
            Pace::Brisk => usize::MAX,
            Pace::Steady => self.steady,
            Pace::Stuck => self.stuck.min(self.steady),
        }
    }

    fn take(&mut self, pace: Pace, count: usize) {
        if pace == Pace::Stuck {
            self.stuck = self.stuck.saturating_sub(count);
        }
        if pace != Pace::Brisk {
            self.steady = self.steady.saturating_sub(count);
        }
    }
}
