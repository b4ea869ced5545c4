//! Sample models of the company pages.

use guerdon_console::model::{
    BucketSize, Circulation, Companies, Company, CompanyRow, OccasionUse, Reserve, Series, TablePage,
};
use time::Duration;
use time::macros::datetime;

use super::{
    HOSTILE_NAME, NOW, sample_audit_entry, sample_history, sample_id, sample_reference, sample_schedule,
    sample_wave,
};

fn sample_reserve(points: i64, alert_below: Option<i64>) -> Reserve {
    Reserve { points, dollars: "12,345.60".to_owned(), alert_below }
}

fn company_row(number: u32) -> CompanyRow {
    let name = match number {
        3 => HOSTILE_NAME.to_owned(),
        5 => {
            "Gesellschaft für außerordentlich lange Firmenbezeichnungen und deren Abkürzungen mbH".to_owned()
        }
        _ => format!("Company {number}"),
    };
    CompanyRow {
        id: sample_id(100 + number),
        name,
        domain: format!("company-{number}.example.com"),
        provider: sample_reference(1, "Acme Rewards"),
        users: u64::from(sample_wave(number, 90_000)),
        reserve: sample_reserve(if number == 1 { i64::MAX } else { i64::from(number) * 1_200 }, Some(2_500)),
        recognitions_30d: u64::from(sample_wave(number + 5, 12_000)),
    }
}

pub fn company_list(total: u32) -> Companies {
    Companies {
        list: TablePage { rows: (0..total.min(50)).map(company_row).collect(), total: u64::from(total) },
    }
}

pub fn page_past_the_end() -> Companies {
    Companies { list: TablePage { rows: Vec::new(), total: 130 } }
}

pub fn large_company() -> Company {
    let reserve_by_day = sample_history(90, Duration::DAY, |age| {
        let spent = i64::from((90 - age) % 31) * 2_700;
        92_000 - spent - i64::from(sample_wave(age, 3_000))
    });
    let wallets = [("user_wallet", 1_204_411), ("peer_wallet", 402_000), ("manager_wallet", 88_250)];
    let circulation = wallets.map(|(wallet, points)| Circulation {
        wallet: wallet.to_owned(),
        points,
        dollars: "10,036.76".to_owned(),
    });
    let occasions = ["Thank you", "Above and beyond", "Work anniversary", HOSTILE_NAME, "Birthday"];
    let occasions = occasions.iter().zip(1..).map(|(name, place)| OccasionUse {
        name: (*name).to_owned(),
        recognitions: 4_200 / place,
        points: 1_200_000 / i64::try_from(place).unwrap_or(1),
    });
    Company {
        id: sample_id(101),
        name: "Northwind Traders".to_owned(),
        domain: "northwind.example.com".to_owned(),
        provider: sample_reference(1, "Acme Rewards"),
        created_at: datetime!(2024-02-29 09:30 UTC),
        allow_zero_points: false,
        facts: vec![
            ("Points per dollar", "120".to_owned()),
            ("Reserve alert", "below 20,000 points".to_owned()),
            ("Recognitions of 0 points", "not allowed".to_owned()),
        ],
        users: 8_120,
        recognitions_30d: 9_733,
        reserve: sample_reserve(16_270, Some(20_000)),
        reserve_by_day: Series::from_levels(BucketSize::Day, NOW, 90, reserve_by_day),
        circulation: circulation.to_vec(),
        occasions: occasions.collect(),
        schedules: (1..4).map(sample_schedule).collect(),
        audit: (0..10).map(sample_audit_entry).collect(),
    }
}

pub fn empty_company() -> Company {
    Company {
        id: sample_id(102),
        name: "New".to_owned(),
        domain: "new.example".to_owned(),
        provider: sample_reference(1, HOSTILE_NAME),
        created_at: NOW,
        allow_zero_points: true,
        facts: vec![("Points per dollar", "100".to_owned())],
        users: 0,
        recognitions_30d: 0,
        reserve: Reserve { points: 0, dollars: "0.00".to_owned(), alert_below: None },
        reserve_by_day: Series::from_levels(BucketSize::Day, NOW, 90, []),
        circulation: Vec::new(),
        occasions: Vec::new(),
        schedules: Vec::new(),
        audit: Vec::new(),
    }
}
