//! The clients under docs/clients, started as the guide describes.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Command;
use std::thread::JoinHandle;

use guerdon_test_support::require_program;

use crate::support::service::ProviderCredentials;
use crate::support::{SampleCompany, for_each_database};

#[test]
fn the_sample_clients_work_and_report_missing_settings() {
    for (program, script) in [("python3", "client.py"), ("node", "client.mjs")] {
        let Some(program) = require_program(program) else { continue };
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients").join(script);
        let bare = Command::new(&program)
            .arg(&file)
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap())
            .output();
        let bare = bare.unwrap();
        assert!(!bare.status.success());
        assert!(
            String::from_utf8_lossy(&bare.stderr).starts_with("set URL, API_KEY, API_SECRET"),
            "{bare:?}"
        );
        for_each_database(|service| {
            let provider = service.create_provider("Sample", true);
            let walk = |provider: &ProviderCredentials, named: &[(&str, &str)]| {
                let output = Command::new(&program)
                    .arg(&file)
                    .env_remove("COMPANY_ID")
                    .envs(named.iter().copied())
                    .env("URL", format!("{}/v1", service.running.api_url))
                    .env("CERTIFICATE", service.data_dir.path().join("tls/certificate.pem"))
                    .env("API_KEY", &provider.api_key)
                    .env("API_SECRET", &provider.api_secret)
                    .output()
                    .unwrap();
                assert!(output.status.success(), "{output:?}");
                String::from_utf8(output.stdout).unwrap()
            };
            let printed = walk(&provider, &[]);
            assert!(printed.starts_with("the reserve is empty"), "{printed}");
            assert!(printed.contains("users ada@walk-"), "{printed}");
            let sample = SampleCompany::create(service, 2);
            sample.deposit_points(service, 100);
            let named = [
                ("COMPANY_ID", &*sample.company),
                ("OCCASION_ID", &*sample.occasion),
                ("RECEIVER_ID", &*sample.users[1]),
            ];
            let printed = walk(&sample.provider, &named);
            assert!(printed.starts_with("sent "), "{printed}");
        });
    }
}

#[test]
fn the_sample_clients_read_every_page_of_every_kind_of_list() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients");
    let python = "import os, sys; from client import Client; env = os.environ\n\
                  client = Client(env['URL'], env['API_KEY'], env['API_SECRET'], env['CERTIFICATE'])\n\
                  print(*(len(list(client.pages(path))) for path in sys.argv[1:]))";
    let javascript = "const { Client } = await import(`file://${process.cwd()}/client.mjs`); const env = process.env;\n\
                      const client = new Client(env.URL, env.API_KEY, env.API_SECRET, env.CERTIFICATE);\n\
                      const counts = [];\n\
                      for (const path of process.argv.slice(1)) {\n\
                        let count = 0; for await (const item of client.pages(path)) count += 1; counts.push(count);\n\
                      }\n\
                      console.log(counts.join(' ')); client.agent.destroy();";
    let scripts = [
        ("python3", vec!["-B", "-c", python]),
        ("node", vec!["--input-type=module", "-e", javascript, "--"]),
    ];
    for_each_database(|service| {
        let sample = SampleCompany::create(service, 1);
        sample.deposit_points(service, 200);
        for _ in 0..101 {
            let sent = sample.send_recognition(service, &sample.company, &[&sample.users[0]], 1);
            assert_eq!(sent.status, 201, "{}", sent.body);
        }
        let paths = [
            format!("/users/{}/transactions?type=user_wallet", sample.users[0]),
            format!("/companies/{}/reserve/transactions", sample.company),
            format!("/companies/{}/users/balances", sample.company),
            format!("/companies/{}/users", sample.company),
        ];
        for (program, arguments) in &scripts {
            let Some(program) = require_program(program) else { continue };
            let output = Command::new(program)
                .args(arguments)
                .args(&paths)
                .current_dir(&folder)
                .env("URL", format!("{}/v1", service.running.api_url))
                .env("CERTIFICATE", service.data_dir.path().join("tls/certificate.pem"))
                .env("API_KEY", &sample.provider.api_key)
                .env("API_SECRET", &sample.provider.api_secret)
                .output()
                .unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout), "101 102 2 2\n", "{output:?}");
        }
    });
}

/// A service that sends these responses, one per connection, and returns the idempotency keys that it received.
fn start_scripted_server(responses: &'static [&'static str]) -> (String, JoinHandle<Vec<String>>) {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let served = std::thread::spawn(move || {
        let serve_one = |response: &&str| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = String::new();
            while !request.ends_with("\r\n\r\n{}") {
                let mut part = [0; 4_096];
                let length = stream.read(&mut part).unwrap();
                request.push_str(std::str::from_utf8(&part[..length]).unwrap());
            }
            stream.write_all(response.as_bytes()).unwrap();
            let key = request.lines().find_map(|line| line.strip_prefix("Idempotency-Key: "));
            key.unwrap_or_else(|| panic!("{request}")).to_owned()
        };
        responses.iter().map(serve_one).collect()
    });
    (base, served)
}

#[test]
fn the_python_sample_retries_with_one_key_and_follows_no_redirect() {
    let Some(python) = require_program("python3") else { return };
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients");
    let post_with_client = |base: &str| {
        let script = "import client, random, sys; random.uniform = lambda *_: 0\n\
                      try: print(client.Client(sys.argv[1], 'gk', 'gs').post('/x', {}))\n\
                      except client.Refused as refused: print(refused)";
        let result =
            Command::new(&python).args(["-B", "-c", script, base]).env("PYTHONPATH", &folder).output();
        let result = result.unwrap();
        assert!(result.status.success(), "{result:?}");
        String::from_utf8(result.stdout).unwrap()
    };
    let (base, served) = start_scripted_server(&[
        "",
        "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{\"half\"",
        "no HTTP\r\n\r\n",
        "HTTP/1.1 502 Bad Gateway\r\nRetry-After: soon\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
        "HTTP/1.1 429 Too Many\r\nRetry-After: Fri, 20 Nov 2020 20:01:02 GMT\r\nContent-Length: 0\r\n\
         Connection: close\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 8\r\nConnection: close\r\n\r\n{\"a\": 1}",
    ]);
    assert_eq!(post_with_client(&base), "{'a': 1}\n");
    let keys = served.join().unwrap();
    assert_eq!((keys.len(), keys.iter().all(|key| *key == keys[0])), (6, true), "{keys:?}");
    let (base, served) = start_scripted_server(&[
        "HTTP/1.1 302 Found\r\nLocation: http://localhost:1/\r\nContent-Length: 4\r\n\
         Connection: close\r\n\r\naway",
    ]);
    assert_eq!(post_with_client(&base), "302: away\n");
    assert_eq!(served.join().unwrap().len(), 1);
}
