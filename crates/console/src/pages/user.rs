//! The page of one user: rights, wallets and movements, without name and address.

use maud::{Markup, html};

use crate::components::{self, Tone};
use crate::frame::{self, Frame, PagePosition, Section};
use crate::model::{Movement, User};
use crate::numbers;
use crate::time_format;

/// Renders the user.
pub fn render_page(user: &User, frame: &Frame) -> String {
    let main = html! {
        h1 { "User " span.id { (user.id) } }
        p.subtitle {
            "of " (components::company_link(&user.company)) " "
            @if user.deleted_at.is_some() { (components::badge(Tone::Warn, "deleted")) } @else { (components::badge(Tone::Good, "active")) }
        }
        section aria-labelledby="wallets" { h2 #wallets { "Wallets" } (wallet_table(user)) }
        section aria-labelledby="movements" {
            h2 #movements { "Last movements" }
            @if user.movements.is_empty() { (components::empty_message("No points have moved yet.")) }
            @else { (movement_table(&user.movements)) }
        }
        section aria-labelledby="facts" { h2 #facts { "Facts" } (user_facts(user, frame)) }
        (user_commands(user))
    };
    frame::render_frame(frame, PagePosition::Below(Section::Companies), &format!("User {}", user.id), &main)
}

fn wallet_table(user: &User) -> Markup {
    let rows = html! {
        @for wallet in &user.wallets {
            tr {
                th scope="row" { (components::wallet_label(&wallet.wallet)) }
                td.number { (numbers::format_integer(wallet.points)) }
                td.number { (wallet.dollars) }
                td.number { (numbers::format_integer(wallet.points_spent)) }
            }
        }
    };
    let head = components::column_headings(&["Wallet", "Points#", "Dollars#", "Points spent#"]);
    components::scrollable_table("Wallets", &head, &rows)
}

fn movement_table(movements: &[Movement]) -> Markup {
    let rows = html! {
        @for movement in movements {
            tr {
                td { (time_format::render_timestamp(movement.at)) }
                th scope="row" { (components::wallet_label(&movement.wallet)) }
                td.number { (if movement.is_credit { "+" } else { "−" }) (numbers::format_integer(movement.points)) }
                td { (movement.reason) }
            }
        }
    };
    let head = components::column_headings(&["At", "Wallet", "Points#", "Reason"]);
    components::scrollable_table("Last movements, newest first", &head, &rows)
}

fn user_facts(user: &User, frame: &Frame) -> Markup {
    let rights = if user.rights.is_empty() { "none".to_owned() } else { user.rights.join(", ") };
    let mut facts = vec![
        ("Company", components::company_link(&user.company)),
        ("Provider", components::provider_link(&user.provider)),
        ("Rights", html! { (rights) }),
        ("Created", time_format::render_timestamp_with_age(frame.now, user.created_at)),
        ("Updated", time_format::render_timestamp_with_age(frame.now, user.updated_at)),
    ];
    if let Some(at) = user.deleted_at {
        facts.push(("Deleted", time_format::render_timestamp_with_age(frame.now, at)));
    }
    components::fact_list(&facts)
}

fn user_commands(user: &User) -> Markup {
    let id = &user.id;
    components::command_list(&[
        ("Show it with name and address", format!("guerdon user show {id}")),
        (
            "Print a statement of a wallet",
            format!("guerdon statement {} --user {id} --wallet user_wallet", user.company.id),
        ),
        ("List the users of the company", format!("guerdon user list --company {}", user.company.id)),
    ])
}
