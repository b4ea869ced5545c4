//! What `--help` shows at its end: lines that can be typed as they stand, but for words in capitals, which are ids of one's
//! own. A test runs them.

use clap::Command;

/// How wide a line is at most, behind its two blanks and before the sign that it goes on.
const WIDTH: usize = 75;

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
        ],
    ),
    ("webhook send-example", &["guerdon webhook send-example Acme --type recognition.received"]),
    (
        "listen",
        &[
            "guerdon listen --base-url https://guerdon.example --forward-to http://127.0.0.1:8080/hook",
            "guerdon listen --base-url https://guerdon.example --forward-to http://127.0.0.1:8080/hook --since 2h",
        ],
    ),
    ("restore", &["guerdon restore COPY"]),
    ("status", &["guerdon status", "guerdon --output json status"]),
    ("healthcheck", &["guerdon healthcheck"]),
    ("openapi", &["guerdon openapi"]),
    ("completions", &["guerdon completions bash", "guerdon completions zsh"]),
    ("man", &["guerdon man"]),
    ("verify", &["guerdon verify", "guerdon verify --head HEAD"]),
    ("seal", &["guerdon seal"]),
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
    ("company show", &["guerdon company show acme.example"]),
    ("company options", &["guerdon company options acme.example --allow-zero-points true"]),
    ("company transfer", &["guerdon company transfer acme.example --to Other"]),
    ("user list", &["guerdon user list --company acme.example"]),
    (
        "user show",
        &["guerdon user show ann@acme.example --company acme.example", "guerdon user show USER_ID"],
    ),
    ("user erase", &["guerdon user erase DELETED_USER_ID"]),
    ("reserve show", &["guerdon reserve show acme.example"]),
    (
        "reserve deposit",
        &[
            "guerdon reserve deposit acme.example --points 100000 --key invoice-117",
            "guerdon reserve deposit acme.example --dollars 2000",
        ],
    ),
    ("reserve withdraw", &["guerdon reserve withdraw acme.example --points 500 --key correction-11"]),
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
        ],
    ),
    ("distribution list", &["guerdon distribution list acme.example"]),
    ("distribution cancel", &["guerdon distribution cancel SCHEDULE_ID"]),
    (
        "redemption create",
        &["guerdon redemption create ann@acme.example --company acme.example --points 5 --key order-4711"],
    ),
    ("redemption refund", &["guerdon redemption refund REDEMPTION_ID"]),
    (
        "wallet override",
        &["guerdon wallet override ann@acme.example --company acme.example --wallet peer_wallet --points 30"],
    ),
    ("recognition update", &["guerdon recognition update RECOGNITION_ID --share false"]),
    (
        "occasion create-global",
        &["guerdon occasion create-global --name Thanks --title Thanks --default-message Thanks"],
    ),
    ("occasion list-global", &["guerdon occasion list-global"]),
    ("occasion set-global", &["guerdon occasion set-global OCCASION_ID --enabled false"]),
    ("occasion delete-global", &["guerdon occasion delete-global OCCASION_ID"]),
    (
        "event list",
        &["guerdon event list --state exhausted", "guerdon event list --provider Acme --since 2h --limit 20"],
    ),
    ("event show", &["guerdon event show EVENT_ID"]),
    (
        "event replay",
        &["guerdon event replay EVENT_ID", "guerdon event replay --provider Acme --state exhausted"],
    ),
    ("maintenance", &["guerdon maintenance status", "guerdon maintenance off"]),
    ("mail list", &["guerdon mail list --state given-up", "guerdon mail list --since 7d"]),
    ("mail retry", &["guerdon mail retry MAIL_ID"]),
    ("mail test", &["guerdon mail test admin@acme.example"]),
    ("saml import", &["guerdon saml import acme.example METADATA"]),
    ("saml show", &["guerdon saml show acme.example"]),
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
    ("backup", &["guerdon backup NEW_COPY"]),
    (
        "import users",
        &[
            "guerdon import users PEOPLE --company acme.example",
            "guerdon import users PEOPLE --company acme.example --atomic",
        ],
    ),
    ("prune", &["guerdon prune"]),
];

/// The command line with its examples.
pub(crate) fn shown(program: Command) -> Command {
    with(program, "")
}

fn with(mut command: Command, path: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|it| it.get_name().to_owned()).collect();
    for name in names {
        let path = format!("{path} {name}").trim_start().to_owned();
        command = command.mut_subcommand(&name, |it| with(it, &path));
    }
    match EXAMPLES.iter().find(|it| it.0 == path) {
        Some((_, lines)) => {
            let lines: Vec<String> = lines.iter().map(|it| folded(it)).collect();
            command.after_help(format!("Examples:\n  {}", lines.join("\n  ")))
        }
        None => command,
    }
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

    use super::*;
    use crate::cli::Cli;

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
        look(&shown(Cli::command()), "");
    }
}
