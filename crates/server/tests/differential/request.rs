//! A request that is sent to both services, and their common response.

/// A request. Its ids are written as the scribe names them.
#[derive(Clone, Debug)]
pub struct Request {
    /// The index of the caller: a provider, a second provider, or one that is not designated.
    pub by: usize,
    pub method: &'static str,
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Option<String>,
}

/// The response of both services. Its ids are written as the scribe names them.
pub struct Agreed {
    pub status: u16,
    pub body: String,
}

pub fn get(by: usize, path: &str) -> Request {
    Request { by, method: "GET", path: path.to_owned(), headers: vec![], body: None }
}

pub fn post(by: usize, path: &str, members: &[(&str, &str)]) -> Request {
    let members: Vec<_> = members.iter().map(|(name, value)| (*name, format!("\"{value}\""))).collect();
    let headers = vec![("Content-Type", "application/json".to_owned())];
    Request { by, method: "POST", path: path.to_owned(), headers, body: Some(object(&members)) }
}

/// A JSON object of members whose values are raw JSON, valid or not.
pub fn object(members: &[(&str, String)]) -> String {
    let members: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}
