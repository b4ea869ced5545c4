//! Sample models of the user page and of the search.

use guerdon_console::model::{FoundKind, FoundObject, Movement, SearchOutcome, User, UserWallet};
use time::Duration;

use super::{HOSTILE_NAME, NOW, sample_id, sample_reference};

const WALLETS: [&str; 3] = ["user_wallet", "peer_wallet", "manager_wallet"];

fn movement(number: u32) -> Movement {
    let wallet =
        WALLETS.iter().cycle().nth(usize::try_from(number).unwrap_or(0)).copied().unwrap_or_default();
    Movement {
        at: NOW - Duration::minutes(i64::from(number) * 97),
        wallet: wallet.to_owned(),
        is_credit: number.is_multiple_of(2),
        points: i64::from(number) * 15 + 5,
        reason: if number.is_multiple_of(5) { "point distribution" } else { "recognition" }.to_owned(),
    }
}

pub fn active_user() -> User {
    let wallet = |(number, name): (i64, &&str)| UserWallet {
        wallet: (*name).to_owned(),
        points: 1_234_567 * number,
        dollars: "24,691.34".to_owned(),
        points_spent: 98_765 * number,
    };
    User {
        id: sample_id(8_001),
        company: sample_reference(101, HOSTILE_NAME),
        provider: sample_reference(1, "Acme Rewards"),
        rights: vec!["manager".to_owned(), "company administrator".to_owned()],
        created_at: NOW - Duration::days(400),
        updated_at: NOW - Duration::days(3),
        deleted_at: None,
        wallets: (0..).zip(&WALLETS).map(wallet).collect(),
        movements: (0..20).map(movement).collect(),
    }
}

pub fn deleted_user() -> User {
    User {
        rights: Vec::new(),
        deleted_at: Some(NOW - Duration::hours(2)),
        wallets: Vec::new(),
        movements: Vec::new(),
        ..active_user()
    }
}

pub fn search_outcomes() -> Vec<(&'static str, SearchOutcome)> {
    let found = |(number, kind, place): (u32, FoundKind, &str)| FoundObject {
        kind,
        path: format!("/{place}/{}", sample_id(number)),
        name: HOSTILE_NAME.to_owned(),
        detail: "acme.example".to_owned(),
    };
    let kinds = [
        (1, FoundKind::Company, "companies"),
        (2, FoundKind::User, "users"),
        (3, FoundKind::Event, "events"),
        (4, FoundKind::Provider, "providers"),
    ];
    vec![
        ("search", SearchOutcome::Found(kinds.into_iter().map(found).collect())),
        ("search_nothing", SearchOutcome::Found(Vec::new())),
        ("search_address", SearchOutcome::AddressInUrl),
        ("search_empty", SearchOutcome::NoQuery),
    ]
}
