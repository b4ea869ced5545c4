//! The operations, by name. An update takes the fields that change, as JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use crate::error::Error;
use crate::objects::{
    Balances, Company, Corporation, Event, Events, NewCompany, NewOccasion, NewRecognition, NewUser,
    Occasion, Recognition, Rehearsal, Reserve, SamlSettings, Transaction, User, WalletType,
};
use crate::pages::Pages;
use crate::transport::{Client, place};

/// Companies (behaviour 11, 18, 25).
impl Client {
    pub fn create_company(&self, company: &NewCompany) -> Result<Company, Error> {
        self.post("/companies", &json(company)?)
    }

    pub fn companies(&self) -> Pages<'_, Company> {
        Pages::of(self, "/companies".to_owned())
    }

    pub fn company(&self, id: Uuid) -> Result<Company, Error> {
        self.get(&place("companies", id))
    }

    pub fn company_by_domain(&self, domain: &str) -> Result<Company, Error> {
        self.get(&format!("/companies/{domain}"))
    }

    pub fn update_company(&self, id: Uuid, changes: &Value) -> Result<Company, Error> {
        self.put(&place("companies", id), changes)
    }

    /// The active users.
    pub fn company_users(&self, id: Uuid) -> Pages<'_, User> {
        Pages::of(self, format!("{}/users", place("companies", id)))
    }

    pub fn company_occasions(&self, id: Uuid) -> Pages<'_, Occasion> {
        Pages::of(self, format!("{}/occasions", place("companies", id)))
    }

    pub fn reserve(&self, id: Uuid) -> Result<Reserve, Error> {
        self.get(&format!("{}/reserve", place("companies", id)))
    }

    pub fn saml_settings(&self, id: Uuid) -> Result<SamlSettings, Error> {
        self.get(&format!("{}/saml", place("companies", id)))
    }

    pub fn update_saml_settings(&self, id: Uuid, changes: &Value) -> Result<SamlSettings, Error> {
        self.put(&format!("{}/saml", place("companies", id)), changes)
    }
}

/// Corporations (behaviour 12).
impl Client {
    pub fn create_corporation(&self, name: &str) -> Result<Corporation, Error> {
        self.post("/corporations", &serde_json::json!({"name": name}))
    }

    pub fn corporations(&self) -> Pages<'_, Corporation> {
        Pages::of(self, "/corporations".to_owned())
    }

    pub fn corporation(&self, id: Uuid) -> Result<Corporation, Error> {
        self.get(&place("corporations", id))
    }

    pub fn update_corporation(&self, id: Uuid, changes: &Value) -> Result<Corporation, Error> {
        self.put(&place("corporations", id), changes)
    }

    pub fn corporation_companies(&self, id: Uuid) -> Pages<'_, Company> {
        Pages::of(self, format!("{}/companies", place("corporations", id)))
    }
}

/// Users, their wallets and recognitions (behaviour 13, 15, 17).
impl Client {
    pub fn create_user(&self, user: &NewUser) -> Result<User, Error> {
        self.post("/users", &json(user)?)
    }

    pub fn user(&self, id: Uuid) -> Result<User, Error> {
        self.get(&place("users", id))
    }

    pub fn update_user(&self, id: Uuid, changes: &Value) -> Result<User, Error> {
        self.put(&place("users", id), changes)
    }

    pub fn delete_user(&self, id: Uuid) -> Result<(), Error> {
        self.delete(&place("users", id))
    }

    pub fn balances(&self, user: Uuid) -> Result<Balances, Error> {
        self.get(&format!("{}/balances", place("users", user)))
    }

    /// The newest movements of a wallet, as many as one page holds.
    pub fn transactions(&self, user: Uuid, wallet: WalletType) -> Result<Vec<Transaction>, Error> {
        #[derive(Deserialize)]
        struct Answer {
            transactions: Vec<Transaction>,
        }
        let path = format!("{}/transactions?type={}", place("users", user), wallet.name());
        Ok(self.get::<Answer>(&path)?.transactions)
    }

    pub fn recognitions_received(&self, user: Uuid) -> Pages<'_, Recognition> {
        Pages::of(self, format!("{}/recognitions_received", place("users", user)))
    }

    pub fn recognitions_sent(&self, user: Uuid) -> Pages<'_, Recognition> {
        Pages::of(self, format!("{}/recognitions_sent", place("users", user)))
    }
}

/// Occasions (behaviour 14).
impl Client {
    pub fn create_occasion(&self, occasion: &NewOccasion) -> Result<Occasion, Error> {
        self.post("/occasions", &json(occasion)?)
    }

    pub fn occasion(&self, id: Uuid) -> Result<Occasion, Error> {
        self.get(&place("occasions", id))
    }

    pub fn update_occasion(&self, id: Uuid, changes: &Value) -> Result<Occasion, Error> {
        self.put(&place("occasions", id), changes)
    }

    pub fn delete_occasion(&self, id: Uuid) -> Result<(), Error> {
        self.delete(&place("occasions", id))
    }
}

/// Recognitions (behaviour 15, 25.3).
impl Client {
    /// Sends one to each receiver, all or none, in the order of the receivers.
    pub fn send_recognition(&self, recognition: &NewRecognition) -> Result<Vec<Recognition>, Error> {
        Ok(self.post::<Sent>("/recognitions", &json(recognition)?)?.recognitions)
    }

    /// The same under a key that the caller has kept.
    pub fn send_recognition_keyed(
        &self,
        recognition: &NewRecognition,
        key: &str,
    ) -> Result<Vec<Recognition>, Error> {
        Ok(self.post_keyed::<Sent>("/recognitions", &json(recognition)?, key)?.recognitions)
    }

    pub fn rehearse_recognition(&self, recognition: &NewRecognition) -> Result<Rehearsal, Error> {
        self.post("/recognitions/dry_run", &json(recognition)?)
    }
}

/// Where events begin.
#[derive(Debug, Clone, Copy)]
pub enum Start<'a> {
    /// With what was caused then or later, and what may be up to a minute older.
    Moment(&'a str),
    /// Behind what an answer had as its `next`.
    Cursor(&'a str),
}

/// Events (behaviour 25.5, 25.6).
impl Client {
    /// Those behind a cursor; from the beginning where there is none.
    pub fn events(&self, after: Option<&str>) -> Result<Events, Error> {
        let after = after.map(|it| format!("?after={it}")).unwrap_or_default();
        self.get(&format!("/events{after}"))
    }

    /// Those that were caused at a moment or later, such as `2026-11-20T20:01:02.345Z`; some may be up to a minute older.
    pub fn events_since(&self, moment: &str) -> Result<Events, Error> {
        self.get(&format!("/events?since={moment}"))
    }

    /// The first of them alone, if there is one: then `next` is the place behind it, to be kept as soon as it is handled.
    pub fn next_event(&self, start: Start<'_>) -> Result<Events, Error> {
        match start {
            Start::Moment(moment) => self.get(&format!("/events?limit=1&since={moment}")),
            Start::Cursor(cursor) => self.get(&format!("/events?limit=1&after={cursor}")),
        }
    }

    pub fn event(&self, id: Uuid) -> Result<Event, Error> {
        self.get(&place("events", id))
    }

    /// Sends one again; how many are.
    pub fn replay_event(&self, id: Uuid) -> Result<u64, Error> {
        #[derive(Deserialize)]
        struct Replayed {
            replayed: u64,
        }
        let path = format!("{}/replay", place("events", id));
        Ok(self.post::<Replayed>(&path, &serde_json::json!({}))?.replayed)
    }
}

#[derive(Deserialize)]
struct Sent {
    recognitions: Vec<Recognition>,
}

fn json(body: &impl Serialize) -> Result<Value, Error> {
    Ok(serde_json::to_value(body)?)
}
