//! Splits a migration for PostgreSQL into its statements, each of which is sent separately: an error then
//! belongs to one statement, and servers that accept a single command per message (Citus, some proxies) work
//! as well.
//!
//! A statement ends at a semicolon outside of quotes, comments, parentheses and function bodies. The rules
//! are those of psql with `standard_conforming_strings` on.

use diesel::connection::SimpleConnection as _;
use diesel::{PgConnection, QueryResult};

use crate::failpoint::failpoint;

/// Sends the statements of a script one by one.
pub(super) fn run_each(conn: &mut PgConnection, script: &str) -> QueryResult<()> {
    split_statements(script).into_iter().try_for_each(|statement| {
        failpoint("postgres.migrate.statement")?;
        conn.batch_execute(statement)
    })
}

/// The statements of a script in order, each with its semicolon and the comments before it. A part without
/// any token, such as a comment at the end, is not a statement.
pub(super) fn split_statements(sql: &str) -> Vec<&str> {
    let (mut all, mut rest) = (Vec::new(), sql);
    while !rest.is_empty() {
        let (statement, after) = split_first(rest);
        all.extend(statement.map(str::trim));
        rest = after;
    }
    all
}

enum Token {
    /// White space or a comment.
    Blank,
    Word,
    Open,
    Close,
    Semicolon,
    /// A literal, a quoted identifier, a number or an operator.
    Other,
}

/// The first statement, if any, and the rest.
fn split_first(sql: &str) -> (Option<&str>, &str) {
    let (mut end, mut is_empty, mut nesting) = (0, true, Nesting::default());
    loop {
        let (head, rest) = sql.split_at(end);
        if rest.is_empty() {
            return ((!is_empty).then_some(head), rest);
        }
        let (token, length) = next_token(rest);
        let (text, _) = rest.split_at(length);
        end += length;
        is_empty &= matches!(token, Token::Blank | Token::Semicolon);
        if matches!(token, Token::Semicolon) && nesting.is_outermost() {
            let (statement, after) = sql.split_at(end);
            return ((!is_empty).then_some(statement), after);
        }
        nesting.enter_token(&token, text);
    }
}

/// Open parentheses and blocks. `BEGIN` opens a block only in `CREATE [OR REPLACE] FUNCTION | PROCEDURE`,
/// where it starts a body in standard SQL.
#[derive(Default)]
struct Nesting {
    parentheses: usize,
    blocks: usize,
    first_words: Vec<String>,
}

impl Nesting {
    fn is_outermost(&self) -> bool {
        self.parentheses == 0 && self.blocks == 0
    }

    fn enter_token(&mut self, token: &Token, text: &str) {
        match token {
            Token::Open => self.parentheses += 1,
            Token::Close => self.parentheses = self.parentheses.saturating_sub(1),
            Token::Word => self.enter_word(&text.to_ascii_uppercase()),
            Token::Blank | Token::Semicolon | Token::Other => {}
        }
    }

    fn enter_word(&mut self, word: &str) {
        if self.first_words.len() < 4 {
            self.first_words.push(word.to_owned());
        }
        let words: Vec<&str> = self.first_words.iter().map(String::as_str).collect();
        let makes_function = matches!(
            words.as_slice(),
            ["CREATE", "FUNCTION" | "PROCEDURE", ..]
                | ["CREATE", "OR", "REPLACE", "FUNCTION" | "PROCEDURE", ..]
        );
        match word {
            "BEGIN" if makes_function && self.parentheses == 0 => self.blocks += 1,
            "CASE" if self.blocks > 0 => self.blocks += 1,
            "END" => self.blocks = self.blocks.saturating_sub(1),
            _ => {}
        }
    }
}

/// The kind and the length of the token at the start of a non-empty string. An unterminated quote or comment
/// extends to the end; the server reports it.
fn next_token(text: &str) -> (Token, usize) {
    let first = text.chars().next().unwrap_or_default();
    if first.is_whitespace() {
        return (Token::Blank, length_while(text, char::is_whitespace));
    }
    if text.starts_with("--") {
        return (Token::Blank, text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return (Token::Blank, comment_length(text));
    }
    if text.starts_with("e'") || text.starts_with("E'") {
        return (Token::Other, 1 + quoted_length(text.trim_start_matches(['e', 'E']), '\'', true));
    }
    match first {
        ';' => (Token::Semicolon, 1),
        '(' => (Token::Open, 1),
        ')' => (Token::Close, 1),
        '\'' | '"' => (Token::Other, quoted_length(text, first, false)),
        '$' => (Token::Other, dollar_quoted_length(text).unwrap_or(1)),
        _ if first.is_ascii_digit() => (Token::Other, length_while(text, is_in_word)),
        _ if is_in_word(first) => (Token::Word, length_while(text, is_in_word)),
        _ => (Token::Other, first.len_utf8()),
    }
}

/// Whether a character can be part of an identifier. All non-ASCII characters can.
fn is_in_word(character: char) -> bool {
    character == '_' || character == '$' || character.is_ascii_alphanumeric() || !character.is_ascii()
}

fn length_while(text: &str, holds: impl Fn(char) -> bool) -> usize {
    text.find(|character: char| !holds(character)).unwrap_or(text.len())
}

/// The length of a comment. Comments nest.
fn comment_length(text: &str) -> usize {
    let (mut end, mut depth) = (0, 0_u32);
    while let Some(rest) = text.get(end..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("/*") {
            depth += 1;
            end += 2;
        } else if rest.starts_with("*/") {
            depth -= 1;
            end += 2;
            if depth == 0 {
                return end;
            }
        } else {
            end += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    text.len()
}

/// The length of a quoted string. A doubled quote does not end it.
fn quoted_length(text: &str, quote: char, has_escapes: bool) -> usize {
    let mut characters = text.char_indices().skip(1).peekable();
    while let Some((at, character)) = characters.next() {
        let is_doubled = character == quote && characters.peek().is_some_and(|(_, next)| *next == quote);
        if is_doubled || (has_escapes && character == '\\') {
            characters.next();
        } else if character == quote {
            return at + quote.len_utf8();
        }
    }
    text.len()
}

/// The length of a `$tag$ … $tag$`; `None` if the dollar does not start one, as in `$1`.
fn dollar_quoted_length(text: &str) -> Option<usize> {
    let tag = text.get(1..)?;
    let tag = tag.get(..tag.find('$')?)?;
    let is_tag =
        tag.chars().all(is_in_word) && !tag.starts_with(|character: char| character.is_ascii_digit());
    let quote = text.get(..tag.len() + 2).filter(|_| is_tag)?;
    let body = text.get(quote.len()..)?;
    Some(body.find(quote).map_or(text.len(), |end| quote.len() + end + quote.len()))
}

#[cfg(test)]
mod tests {
    use super::split_statements;
    use crate::migrations::embedded;

    fn assert_statements(sql: &str, expected: &[&str]) {
        assert_eq!(split_statements(sql), expected, "{sql}");
    }

    #[test]
    fn semicolons_end_statements() {
        assert_statements("SELECT 1; SELECT 2;", &["SELECT 1;", "SELECT 2;"]);
        assert_statements("SELECT 1;\nSELECT 2", &["SELECT 1;", "SELECT 2"]);
        assert_statements("", &[]);
        assert_statements(" ;; \n-- nothing\n ; /* nor here */", &[]);
    }

    #[test]
    fn quotes_hide_semicolons() {
        assert_statements("SELECT ';', 'it''s; so'; SELECT 2;", &["SELECT ';', 'it''s; so';", "SELECT 2;"]);
        assert_statements(r"SELECT '\'; SELECT 2;", &[r"SELECT '\';", "SELECT 2;"]);
        assert_statements(r"SELECT E'\';', e'\\'; SELECT 2;", &[r"SELECT E'\';', e'\\';", "SELECT 2;"]);
        assert_statements(r"SELECT E'a''b\';c'; SELECT 2;", &[r"SELECT E'a''b\';c';", "SELECT 2;"]);
        assert_statements(r"SELECT case';'; SELECT 2;", &["SELECT case';';", "SELECT 2;"]);
        assert_statements(r#"SELECT 1 AS "a;""b;"; SELECT 2;"#, &[r#"SELECT 1 AS "a;""b;";"#, "SELECT 2;"]);
        assert_statements("SELECT 'ends never; SELECT 2;", &["SELECT 'ends never; SELECT 2;"]);
    }

    #[test]
    fn dollar_quotes_end_at_the_same_tag() {
        assert_statements("DO $$ BEGIN NULL; END $$; SELECT 2;", &["DO $$ BEGIN NULL; END $$;", "SELECT 2;"]);
        assert_statements("DO $a$ ; $b$ ; $$ ; $a$; SELECT 2;", &["DO $a$ ; $b$ ; $$ ; $a$;", "SELECT 2;"]);
        assert_statements("DO $é1$ ; ' $é1$; SELECT 2;", &["DO $é1$ ; ' $é1$;", "SELECT 2;"]);
        assert_statements(
            "SELECT $1; SELECT a$b$; SELECT $2;",
            &["SELECT $1;", "SELECT a$b$;", "SELECT $2;"],
        );
        assert_statements("SELECT 'a'$$;$$; SELECT 2;", &["SELECT 'a'$$;$$;", "SELECT 2;"]);
    }

    #[test]
    fn comments_hide_semicolons_and_nest() {
        assert_statements("SELECT 1 -- ; it's\n; SELECT 2;", &["SELECT 1 -- ; it's\n;", "SELECT 2;"]);
        assert_statements(
            "/* a; /* b; */ c; */ SELECT 1; SELECT 2;",
            &["/* a; /* b; */ c; */ SELECT 1;", "SELECT 2;"],
        );
        assert_statements("SELECT '-- ;'; SELECT 2;", &["SELECT '-- ;';", "SELECT 2;"]);
        assert_statements("SELECT 4 /* é;", &["SELECT 4 /* é;"]);
    }

    #[test]
    fn function_bodies_and_parentheses_hide_semicolons() {
        assert_statements(
            "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN a THEN 1 END; SELECT 2; END; SELECT 3;",
            &[
                "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT CASE WHEN a THEN 1 END; SELECT 2; END;",
                "SELECT 3;",
            ],
        );
        assert_statements(
            "create or replace procedure p() begin atomic end; BEGIN; END;",
            &["create or replace procedure p() begin atomic end;", "BEGIN;", "END;"],
        );
        assert_statements(
            "CREATE RULE r AS ON INSERT TO a DO (SELECT 1; SELECT 2); SELECT 3;",
            &["CREATE RULE r AS ON INSERT TO a DO (SELECT 1; SELECT 2);", "SELECT 3;"],
        );
    }

    #[test]
    fn migrations_split_into_complete_statements() {
        for migration in embedded::POSTGRES {
            let parts = split_statements(migration.sql);
            assert!(parts.len() > 50, "{}: {}", migration.name, parts.len());
            for part in &parts {
                let tokens = part.lines().filter(|line| !line.trim_start().starts_with("--"));
                let text: Vec<&str> = tokens.collect();
                assert!(text.join(" ").trim_start().starts_with("CREATE "), "{part}");
                assert!(part.ends_with(';'), "{part}");
            }
        }
    }
}
