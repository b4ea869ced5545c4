//! HAProxy in front of two cells, with the configuration in `packaging/cells`.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

use crate::https::HttpsClient;
use crate::process_guard::{ProcessGuard, Signal, StopSignal};

const CONFIGURATION: &str = include_str!("../../../packaging/cells/haproxy.cfg");
/// The folders in the configuration, which are replaced by a temporary one.
const PACKAGE_FOLDERS: [&str; 2] = ["/etc/haproxy", "/run/haproxy"];
/// The names of the cells in the configuration.
pub const ROUTED_CELLS: [&str; 2] = ["eu-1", "eu-2"];
const START_TIMEOUT: Duration = Duration::from_secs(20);

/// A cell behind the router: the addresses of its two instances, and the folders with their certificates. If a cell has
/// only one instance, both elements describe it.
pub struct RoutedCell {
    pub instances: [(SocketAddr, PathBuf); 2],
}

/// A running HAProxy. It is stopped when this guard is dropped.
pub struct CellRouter {
    guard: ProcessGuard,
    folder: TempDir,
    client: HttpsClient,
}

impl RoutedCell {
    /// The settings of the instances of a cell. Their certificates are valid for `<name>.internal`.
    pub fn settings(name: &str) -> [(&'static str, String); 4] {
        [
            ("GUERDON_CELL", name.to_owned()),
            ("GUERDON_SERVICE_URL", format!("https://{name}.internal")),
            ("GUERDON_HTTP__TRUSTED_PROXIES", "127.0.0.1".to_owned()),
            ("GUERDON_HTTP__DRAIN_SECONDS", "5".to_owned()),
        ]
    }
}

impl CellRouter {
    /// Starts `haproxy` in front of these cells, which are called [`ROUTED_CELLS`]. `map` assigns a cell to each API
    /// key. Clients see the certificate of the first cell.
    pub fn start(program: &Path, cells: &[RoutedCell; 2], map: &[(&str, &str)]) -> Result<Self> {
        let folder = TempDir::new()?;
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        let first = &cells[0].instances[0].1;
        let own = read(&certificate_of(first))? + &read(&first.join("tls/private_key.pem"))?;
        std::fs::write(folder.path().join("api.pem"), own)?;
        let lines: String = map.iter().map(|(key, cell)| format!("{key} {cell}\n")).collect();
        std::fs::write(folder.path().join("cells.map"), lines)?;
        let mut text = CONFIGURATION.replace("bind :8443", &format!("bind {address}"));
        text = text.replace("maxconn 10000", "maxconn 1000"); // within the usual limit of descriptors
        for packaged in PACKAGE_FOLDERS {
            text = text.replace(packaged, &folder.path().to_string_lossy());
        }
        for (number, cell) in (1..).zip(cells) {
            for (server, (instance, data)) in (1..).zip(&cell.instances) {
                // The self-signed certificates have the same subject, so each needs a separate file.
                let trusted = certificate_of(data);
                let packaged = format!("10.0.{number}.{server}:8443");
                text = text.replace(&packaged, &format!("{instance} ca-file {}", trusted.display()));
            }
        }
        std::fs::copy(certificate_of(first), folder.path().join("cells-ca.pem"))?; // replaced for each instance
        let file = folder.path().join("haproxy.cfg");
        std::fs::write(&file, text)?;
        let mut command = Command::new(program);
        command.arg("-W").arg("-f").arg(&file).stdout(Stdio::null());
        let mut guard = ProcessGuard::start(command, StopSignal::Terminate, None)?;
        guard.wait_until(START_TIMEOUT, || TcpStream::connect(address).is_ok()).context("haproxy")?;
        let client = HttpsClient::new(address, Some(&certificate_of(first)))?;
        Ok(Self { guard, folder, client })
    }

    /// A client that connects to the router.
    pub fn https(&self) -> &HttpsClient {
        &self.client
    }

    /// Assigns an API key that is in the map to another cell, without a reload.
    pub fn reassign_key(&self, key: &str, cell: &str) -> Result<()> {
        let map = self.folder.path().join("cells.map");
        let response = self.send_command(&format!("set map {} {key} {cell}", map.display()))?;
        ensure!(response.is_empty(), "haproxy: {response}");
        Ok(())
    }

    /// Reads the configuration and the map again.
    pub fn reload(&self) -> Result<()> {
        self.guard.send_signal(Signal::USR2)
    }

    fn send_command(&self, command: &str) -> Result<String> {
        let mut socket = UnixStream::connect(self.folder.path().join("admin.sock"))?;
        writeln!(socket, "{command}")?;
        let mut response = String::new();
        socket.read_to_string(&mut response)?;
        Ok(response.trim().to_owned())
    }
}

fn certificate_of(data: &Path) -> PathBuf {
    data.join("tls/certificate.pem")
}

fn read(file: &Path) -> Result<String> {
    std::fs::read_to_string(file).with_context(|| file.display().to_string())
}
