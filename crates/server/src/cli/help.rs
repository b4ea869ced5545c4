//! What `--help` shows at its end: lines that can be typed as they stand, but for words in capitals, which are ids of one's
//! own. A test runs them.

use clap::Command;

/// How wide a line is at most, behind its two blanks and before the sign that it goes on.
const WIDTH: usize = 75;
/// How wide any line of a help is at most.
const LINE: usize = 80;

/// A command and its lines.
type Example = (&'static str, &'static [&'static str]);

const EXAMPLES: &[Example] = &[
    ("serve", &["guerdon serve", "guerdon --config /etc/guerdon/guerdon.toml serve"]),
    ("dev", &["guerdon dev", "guerdon dev --speed 10000"]),
    ("migrate", &["guerdon migrate", "guerdon --output json migrate"]),
    ("config check", &["guerdon config check", "guerdon config check --connect"]),
    ("config show", &["guerdon config show", "guerdon --output json config show"]),
    (
        "webhook verify",
        &[
            "guerdon webhook verify --url https://acme.example/hook --shared-secret gw_1 --headers HEADERS --body BODY",
            "guerdon --output json webhook verify --url https://acme.example/hook --shared-secret gw_1 --headers HEADERS --body BODY",
        ],
    ),
    (
        "webhook send-example",
        &[
            "guerdon webhook send-example Acme --type recognition.received",
            "guerdon webhook send-example Acme --type redemption.created",
        ],
    ),
    (
        "listen",
        &[
            "guerdon listen --base-url https://guerdon.example --forward-to http://127.0.0.1:8080/hook",
            "guerdon listen --base-url https://guerdon.example --forward-to http://127.0.0.1:8080/hook --since 2h",
        ],
    ),
    ("restore", &["guerdon restore COPY", "guerdon --output json restore COPY"]),
    ("status", &["guerdon status", "guerdon --output json status"]),
    ("healthcheck", &["guerdon healthcheck", "guerdon --output json healthcheck"]),
    ("openapi", &["guerdon openapi", "guerdon --output json openapi"]),
    ("completions", &["guerdon completions bash", "guerdon completions zsh"]),
    ("man", &["guerdon man", "guerdon --output json man"]),
    ("verify", &["guerdon verify", "guerdon verify --head HEAD"]),
    ("seal", &["guerdon seal", "guerdon --output json seal"]),
    (
        "provider create",
        &[
            "guerdon provider create --name Beta --callback-url https://acme.example/hook",
            "guerdon provider create --name Gamma --manages-all-domain-resources",
        ],
    ),
    ("provider list", &["guerdon provider list", "guerdon --output json provider list"]),
    (
        "provider set",
        &[
            "guerdon provider set Acme --callback-url https://acme.example/hooks",
            "guerdon provider set Acme --suspended true",
        ],
    ),
    (
        "provider rotate",
        &[
            "guerdon provider rotate Acme --api-secret --grace 24",
            "guerdon provider rotate Acme --shared-secret",
        ],
    ),
    ("company list", &["guerdon company list", "guerdon company list --provider Acme"]),
    (
        "company show",
        &["guerdon company show acme.example", "guerdon --output json company show acme.example"],
    ),
    (
        "company options",
        &[
            "guerdon company options acme.example --allow-zero-points true",
            "guerdon company options acme.example --allow-zero-points false",
        ],
    ),
    (
        "company transfer",
        &[
            "guerdon company transfer acme.example --to Other",
            "guerdon --output json company transfer acme.example --to Acme",
        ],
    ),
    (
        "user list",
        &[
            "guerdon user list --company acme.example",
            "guerdon user list --company acme.example --email ann@acme.example --deleted",
        ],
    ),
    (
        "user show",
        &["guerdon user show ann@acme.example --company acme.example", "guerdon user show USER_ID"],
    ),
    (
        "user erase",
        &["guerdon user erase DELETED_USER_ID", "guerdon --output json user erase DELETED_USER_ID"],
    ),
    (
        "reserve show",
        &["guerdon reserve show acme.example", "guerdon --output json reserve show acme.example"],
    ),
    (
        "reserve deposit",
        &[
            "guerdon reserve deposit acme.example --points 100000 --key invoice-117",
            "guerdon reserve deposit acme.example --dollars 2000",
        ],
    ),
    (
        "reserve withdraw",
        &[
            "guerdon reserve withdraw acme.example --points 500 --key correction-11",
            "guerdon reserve withdraw acme.example --dollars 10",
        ],
    ),
    (
        "distribution run",
        &[
            "guerdon distribution run acme.example --wallet peer_wallet --points 50 --key november",
            "guerdon distribution run acme.example --wallet peer_wallet --points 50 --user ann@acme.example",
        ],
    ),
    (
        "distribution schedule",
        &[
            "guerdon distribution schedule acme.example --wallet peer_wallet --points 50 --every month --start 2100-01-31",
            "guerdon distribution schedule acme.example --wallet user_wallet --points 10 --every week --start 2100-02-01",
        ],
    ),
    (
        "distribution list",
        &["guerdon distribution list acme.example", "guerdon --output json distribution list acme.example"],
    ),
    (
        "distribution cancel",
        &[
            "guerdon distribution cancel SCHEDULE_ID",
            "guerdon --output json distribution cancel OTHER_SCHEDULE_ID",
        ],
    ),
    (
        "redemption create",
        &[
            "guerdon redemption create ann@acme.example --company acme.example --points 5 --key order-4711",
            "guerdon redemption create USER_ID --points 5",
        ],
    ),
    (
        "redemption refund",
        &[
            "guerdon redemption refund REDEMPTION_ID",
            "guerdon --output json redemption refund OTHER_REDEMPTION_ID",
        ],
    ),
    (
        "wallet override",
        &[
            "guerdon wallet override ann@acme.example --company acme.example --wallet peer_wallet --points 30",
            "guerdon wallet override USER_ID --wallet user_wallet --points 40 --key correction-12",
        ],
    ),
    (
        "recognition update",
        &[
            "guerdon recognition update RECOGNITION_ID --share false",
            "guerdon recognition update RECOGNITION_ID --message Thanks",
        ],
    ),
    (
        "occasion create-global",
        &[
            "guerdon occasion create-global --name Thanks --title Thanks --default-message Thanks",
            "guerdon occasion create-global --name Welcome --title Welcome --default-message Welcome",
        ],
    ),
    ("occasion list-global", &["guerdon occasion list-global", "guerdon --output json occasion list-global"]),
    (
        "occasion set-global",
        &[
            "guerdon occasion set-global OCCASION_ID --enabled false",
            "guerdon occasion set-global OCCASION_ID --visible false",
        ],
    ),
    (
        "occasion delete-global",
        &[
            "guerdon occasion delete-global OCCASION_ID",
            "guerdon --output json occasion delete-global OTHER_OCCASION_ID",
        ],
    ),
    (
        "event list",
        &["guerdon event list --state exhausted", "guerdon event list --provider Acme --since 2h --limit 20"],
    ),
    ("event show", &["guerdon event show EVENT_ID", "guerdon --output json event show EVENT_ID"]),
    (
        "event replay",
        &["guerdon event replay EVENT_ID", "guerdon event replay --provider Acme --state exhausted"],
    ),
    ("maintenance", &["guerdon maintenance status", "guerdon maintenance off"]),
    ("mail list", &["guerdon mail list --state given-up", "guerdon mail list --since 7d"]),
    ("mail retry", &["guerdon mail retry MAIL_ID", "guerdon --output json mail retry OTHER_MAIL_ID"]),
    (
        "mail test",
        &["guerdon mail test admin@acme.example", "guerdon --output json mail test admin@acme.example"],
    ),
    (
        "saml import",
        &[
            "guerdon saml import acme.example METADATA",
            "guerdon --output json saml import acme.example METADATA",
        ],
    ),
    ("saml show", &["guerdon saml show acme.example", "guerdon --output json saml show acme.example"]),
    (
        "audit",
        &[
            "guerdon audit --company acme.example --since 7d",
            "guerdon audit --action provider.rotate --limit 20",
        ],
    ),
    (
        "statement",
        &[
            "guerdon statement acme.example --from 30d",
            "guerdon statement acme.example --user ann@acme.example --wallet user_wallet --format json",
        ],
    ),
    ("backup", &["guerdon backup NEW_COPY", "guerdon --output json backup NEW_COPY-2"]),
    (
        "import users",
        &[
            "guerdon import users PEOPLE --company acme.example",
            "guerdon import users PEOPLE --company acme.example --atomic",
        ],
    ),
    ("prune", &["guerdon prune", "guerdon --output json prune"]),
];

/// The command line with its examples.
pub(super) fn prepare_help(program: Command) -> Command {
    with(program, "")
}

fn with(mut command: Command, path: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    for name in names {
        let path = format!("{path} {name}").trim_start().to_owned();
        command = command.mut_subcommand(&name, |it| with(it, &path));
    }
    if !path.is_empty() {
        let name = format!("guerdon {path}");
        let usage = command.clone().bin_name(&name).render_usage().to_string();
        let mut usage = usage.trim_start_matches("Usage: ").to_owned();
        if !usage.contains("[OPTIONS]") {
            usage = usage.replacen(&name, &format!("{name} [OPTIONS]"), 1); // the global ones
        }
        if "Usage: ".len() + usage.chars().count() > LINE {
            command = command.override_usage(narrow(&usage));
        }
    }
    match EXAMPLES.iter().find(|it| it.0 == path) {
        Some((_, lines)) => {
            let lines: Vec<String> = lines.iter().map(|it| folded(it)).collect();
            command.after_help(format!("Examples:\n  {}", lines.join("\n  ")))
        }
        None => command,
    }
}

/// What a usage line takes, in as many lines as fit.
fn narrow(usage: &str) -> String {
    let (mut narrow, mut width) = (String::new(), "Usage: ".len());
    for word in parts(usage) {
        if !narrow.is_empty() && width + 1 + word.chars().count() > LINE {
            narrow.push_str("\n           ");
            width = 11;
        } else if !narrow.is_empty() {
            narrow.push(' ');
            width += 1;
        }
        narrow.push_str(&word);
        width += word.chars().count();
    }
    narrow
}

/// The words of a usage line, each option with its value.
fn parts(usage: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for word in usage.split(' ') {
        match parts.last_mut() {
            Some(option) if word.starts_with('<') && option.starts_with("--") && !option.contains(' ') => {
                option.push(' ');
                option.push_str(word);
            }
            _ => parts.push(word.to_owned()),
        }
    }
    parts
}

/// A line in as many as it takes, each but the last with the sign that it goes on.
fn folded(line: &str) -> String {
    let (mut folded, mut width) = (String::new(), 0);
    for (at, part) in line.split(" --").enumerate() {
        let option = if at == 0 { part.to_owned() } else { format!("--{part}") };
        if at > 0 && width + option.len() + 1 > WIDTH {
            folded.push_str(" \\\n    ");
            width = 2;
        } else if at > 0 {
            folded.push(' ');
            width += 1;
        }
        width += option.len();
        folded.push_str(&option);
    }
    folded
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::super::Cli;
    use super::*;

    #[test]
    fn every_command_has_an_example_of_its_own() {
        fn look(command: &Command, path: &str) {
            for it in command.get_subcommands().filter(|it| it.get_name() != "help" && !it.is_hide_set()) {
                let path = format!("{path} {}", it.get_name()).trim_start().to_owned();
                if it.has_subcommands() {
                    look(it, &path);
                    continue;
                }
                let help = it.get_after_help().map(ToString::to_string).unwrap_or_default();
                assert!(help.contains(&path), "`guerdon {path}` has no example");
            }
        }
        look(&prepare_help(Cli::command()), "");
    }
}
