//! Searches over companies, users, providers, events, recognitions and failed requests.

use guerdon_console::model::{FoundKind, FoundObject, SearchOutcome, SearchResult};
use guerdon_console::{Frame, SEARCH_PATH, pages};
use guerdon_domain::any_provider;
use guerdon_domain::ports::{FailedRequestQuery, StoreError};
use guerdon_domain::values::{
    CompanyId, EmailAddress, EventId, ProviderId, RecognitionId, UserId, checked_cast,
};
use uuid::Uuid;

use super::{PageContext, Rendered};

/// Renders the objects that a text identifies. If it identifies exactly one object, redirects to the page of that
/// object.
pub(super) fn render_results(
    context: &mut PageContext<'_>,
    text: &str,
    is_from_url: bool,
    frame: &Frame,
) -> Result<Rendered, StoreError> {
    let result = find_objects(context, text, is_from_url)?;
    if let SearchOutcome::Found(all) = &result.outcome
        && let [one] = all.as_slice()
    {
        return Ok(Rendered::Redirect(one.path.clone()));
    }
    Ok(Rendered::Page(pages::search::render_page(&result, frame)))
}

/// Returns the path of the search page for a text.
pub(super) fn search_path(text: &str) -> String {
    format!("{SEARCH_PATH}?q={}", encode_parameter(text))
}

/// Finds the objects that a search text identifies. The text comes from a form or a URL. An email address in a URL is
/// not searched for.
fn find_objects(
    context: &mut PageContext<'_>,
    text: &str,
    is_from_url: bool,
) -> Result<SearchResult, StoreError> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(SearchResult { text: None, outcome: SearchOutcome::NoQuery });
    }
    if text.contains('@') {
        let outcome = match EmailAddress::parse(text) {
            _ if is_from_url => SearchOutcome::AddressInUrl,
            Ok(email) => SearchOutcome::Found(find_users(context, &email)?),
            Err(_) => SearchOutcome::Found(Vec::new()),
        };
        return Ok(SearchResult { text: None, outcome });
    }
    let mut found = match text.parse::<Uuid>() {
        Ok(id) => find_by_id(context, id)?,
        Err(_) => find_by_name(context, text)?,
    };
    found.extend(find_failed_requests(context, text)?);
    Ok(SearchResult { text: Some(text.to_owned()), outcome: SearchOutcome::Found(found) })
}

fn find_users(context: &mut PageContext<'_>, email: &EmailAddress) -> Result<Vec<FoundObject>, StoreError> {
    let found = context.reads.find_users_by_email(email, checked_cast(SearchResult::OBJECTS_MAX))?;
    found.into_iter().map(|(user, company)| to_user(context, user, company)).collect()
}

fn to_user(
    context: &mut PageContext<'_>,
    user: UserId,
    company: CompanyId,
) -> Result<FoundObject, StoreError> {
    let company = context.company_name(company)?;
    Ok(FoundObject {
        kind: FoundKind::User,
        path: format!("/users/{user}"),
        name: user.to_string(),
        detail: format!("of {}", company.name),
    })
}

/// Returns every object with this id.
fn find_by_id(context: &mut PageContext<'_>, id: Uuid) -> Result<Vec<FoundObject>, StoreError> {
    let mut all = Vec::new();
    let found = |kind, path: String, name: String, detail: String| FoundObject { kind, path, name, detail };
    if let Some(provider) = context.reads.find_provider(ProviderId::from_uuid(id))? {
        all.push(found(FoundKind::Provider, format!("/providers/{id}"), provider.name, String::new()));
    }
    if let Some(company) = any_provider::find_company(context.reads, CompanyId::from_uuid(id))? {
        let (name, domain) = (company.name.as_str().to_owned(), company.domain.as_str().to_owned());
        all.push(found(FoundKind::Company, format!("/companies/{id}"), name, domain));
    }
    if let Some(user) = any_provider::find_user(context.reads, UserId::from_uuid(id))? {
        all.push(to_user(context, user.id, user.company_id)?);
    }
    if let Some(event) = context.reads.find_event_any_provider(EventId::from_uuid(id))? {
        let detail = format!("{}, {}", event.event.kind.name(), event.event.state.name());
        all.push(found(FoundKind::Event, format!("/events/{id}"), id.to_string(), detail));
    }
    if let Some(recognition) = context.reads.find_recognition_any_provider(RecognitionId::from_uuid(id))? {
        let points = recognition.points.to_text();
        let detail = format!("{points} on {}; opens the receiver", recognition.created_at);
        let path = format!("/users/{}", recognition.receiver_id);
        all.push(found(FoundKind::Recognition, path, id.to_string(), detail));
    }
    Ok(all)
}

/// Returns the providers and companies whose name, or domain, contains the text. If the text is the whole name or
/// domain of exactly one of them, returns only that one.
fn find_by_name(context: &mut PageContext<'_>, text: &str) -> Result<Vec<FoundObject>, StoreError> {
    let lowercase = text.to_lowercase();
    let providers = context.reads.list_providers()?;
    let providers =
        providers.into_iter().filter(|provider| provider.name.to_lowercase().contains(&lowercase));
    let mut all: Vec<FoundObject> = providers
        .map(|provider| FoundObject {
            kind: FoundKind::Provider,
            path: format!("/providers/{}", provider.id),
            name: provider.name,
            detail: String::new(),
        })
        .collect();
    let companies = context.reads.search_companies(text, checked_cast(SearchResult::OBJECTS_MAX))?;
    all.extend(companies.into_iter().map(|company| FoundObject {
        kind: FoundKind::Company,
        path: format!("/companies/{}", company.id),
        name: company.name,
        detail: company.domain,
    }));
    let is_exact = |found: &FoundObject| {
        [&found.name, &found.detail].iter().any(|name| name.to_lowercase() == lowercase)
    };
    if all.iter().filter(|found| is_exact(found)).count() == 1 {
        all.retain(is_exact);
    }
    all.sort_by_key(|found| !is_exact(found));
    all.truncate(SearchResult::OBJECTS_MAX);
    Ok(all)
}

/// Returns a link to the failed requests with this request id. The id may be any string, because clients can choose it.
fn find_failed_requests(
    context: &mut PageContext<'_>,
    text: &str,
) -> Result<Option<FoundObject>, StoreError> {
    let query =
        FailedRequestQuery { request_id: Some(text.to_owned()), limit: 1, ..FailedRequestQuery::default() };
    let found = context.reads.list_failed_requests(&query)?;
    Ok(found.first().map(|request| FoundObject {
        kind: FoundKind::FailedRequest,
        path: format!("/requests?request_id={}", encode_parameter(text)),
        name: text.to_owned(),
        detail: format!("{} at {}", request.status, request.at),
    }))
}

fn encode_parameter(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}
