//! A request that is sent to both services, and their common response.

/// A request. Its ids are placeholders of [`BodyNormalizer`](crate::support::body_normalizer::BodyNormalizer).
#[derive(Clone, Debug)]
pub struct RequestTemplate {
    /// The index of the caller: a provider, a second provider, or one that is not designated.
    pub caller: usize,
    pub method: &'static str,
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Option<String>,
}

/// The response of both services. Its ids are placeholders, as in the request.
pub struct AgreedResponse {
    pub status: u16,
    pub body: String,
}

pub fn get_request(caller: usize, path: &str) -> RequestTemplate {
    RequestTemplate { caller, method: "GET", path: path.to_owned(), headers: vec![], body: None }
}

pub fn post_request(caller: usize, path: &str, members: &[(&str, &str)]) -> RequestTemplate {
    let members: Vec<_> = members.iter().map(|(name, value)| (*name, format!("\"{value}\""))).collect();
    let headers = vec![("Content-Type", "application/json".to_owned())];
    RequestTemplate {
        caller,
        method: "POST",
        path: path.to_owned(),
        headers,
        body: Some(json_object(&members)),
    }
}

/// A JSON object of members whose values are raw JSON, valid or not.
pub fn json_object(members: &[(&str, String)]) -> String {
    let members: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", members.join(","))
}
