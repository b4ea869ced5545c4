//! A minimal server, built from the same libraries as the service, that serves one kind of read: TLS, HTTP Basic, one
//! diesel query in `web::block`, JSON. It reads the service's own database.

use std::fmt::Display;
use std::net::SocketAddr;
use std::path::PathBuf;

use actix_web::error::ErrorInternalServerError;
use actix_web::http::header::AUTHORIZATION;
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, web};
use anyhow::{Context as _, Result};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use diesel::prelude::*;
use diesel::r2d2::{ConnectionManager, Pool, PooledConnection};
use ring::digest::{Digest, SHA256, digest};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde::Serialize;
use uuid::Uuid;

use crate::queries::{Id, ReadQueries};

const CONNECTIONS: u32 = 8;

#[derive(clap::Args)]
pub struct Arguments {
    #[arg(long)]
    listen: SocketAddr,
    #[arg(long)]
    certificate: PathBuf,
    #[arg(long)]
    key: PathBuf,
    /// The service's database: a PostgreSQL URL, or an SQLite file
    #[arg(long)]
    database: String,
    /// Key and secret of the client, separated by a colon
    #[arg(long)]
    credentials: String,
    /// The user to read
    #[arg(long)]
    user: Uuid,
}

type Connections<C> = Pool<ConnectionManager<C>>;

struct ServerState<C: ReadQueries> {
    key: String,
    secret: Digest,
    user: Id,
    pool: Connections<C>,
}

/// Serves until the process ends.
pub fn serve_reads(arguments: &Arguments) -> Result<()> {
    if arguments.database.starts_with("postgres:") {
        run_server::<PgConnection>(arguments)
    } else {
        run_server::<SqliteConnection>(arguments)
    }
}

fn run_server<C: ReadQueries>(arguments: &Arguments) -> Result<()> {
    let certificate = CertificateDer::from_pem_file(&arguments.certificate)?;
    let key = PrivateKeyDer::from_pem_file(&arguments.key)?;
    let tls = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![certificate], key)?;
    let state = web::Data::new(ServerState::<C>::new(arguments)?);
    let server = HttpServer::new(move || {
        App::new()
            .app_data(state.clone())
            .route("/user", web::get().to(|request, state| respond(request, state, C::load_user)))
            .route("/balances", web::get().to(|request, state| respond(request, state, C::load_balances)))
            .route(
                "/transactions",
                web::get().to(|request, state| respond(request, state, C::load_transactions)),
            )
    });
    let server = server.bind_rustls_0_23(arguments.listen, tls)?.run();
    Ok(actix_web::rt::System::new().block_on(server)?)
}

impl<C: ReadQueries> ServerState<C> {
    fn new(arguments: &Arguments) -> Result<Self> {
        let (key, secret) = arguments.credentials.split_once(':').context("credentials without a colon")?;
        let manager = ConnectionManager::new(&arguments.database);
        Ok(Self {
            key: key.to_owned(),
            secret: digest(&SHA256, secret.as_bytes()),
            user: Id(arguments.user),
            pool: Pool::builder().max_size(CONNECTIONS).test_on_check_out(false).build(manager)?,
        })
    }

    /// Returns `Some` if a request has the right credentials.
    fn check_credentials(&self, request: &HttpRequest) -> Option<()> {
        let header = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
        let pair = BASE64.decode(header.strip_prefix("Basic ")?).ok()?;
        let mut parts = pair.splitn(2, |byte| *byte == b':');
        let (key, secret) = (parts.next()?, parts.next()?);
        let given = digest(&SHA256, secret);
        (key == self.key.as_bytes() && given.as_ref() == self.secret.as_ref()).then_some(())
    }
}

async fn respond<C: ReadQueries, T: Serialize + Send + 'static>(
    request: HttpRequest,
    state: web::Data<ServerState<C>>,
    query: fn(&mut C, Id) -> QueryResult<T>,
) -> actix_web::Result<HttpResponse> {
    if state.check_credentials(&request).is_none() {
        return Ok(HttpResponse::Unauthorized().finish());
    }
    let run_query = move || {
        let mut conn: PooledConnection<ConnectionManager<C>> = state.pool.get().map_err(to_text)?;
        query(&mut conn, state.user).map_err(to_text)
    };
    let rows = web::block(run_query).await?.map_err(ErrorInternalServerError)?;
    Ok(HttpResponse::Ok().json(rows))
}

fn to_text(error: impl Display) -> String {
    error.to_string()
}
