//! The metrics that monitoring reads.

use super::{HASTY, Post};
use crate::support::on_each_with;
use crate::support::receiver::Reply;
use crate::support::service::Service;
use crate::support::until;

#[test]
fn metrics_move_with_what_happens() {
    on_each_with(&HASTY, |service| {
        let post = Post::make(service, 2);
        let sent = r#"guerdon_http_request_duration_seconds_count{method="POST",route="/v1/recognitions",status="201"}"#;
        let refused = sent.replace("201", "400");
        let attempts = |result: &str| {
            metric(service, &format!(r#"guerdon_webhook_attempts_total{{result="{result}"}}"#))
        };
        assert_eq!(metric(service, sent), None);
        assert_eq!(["delivered", "rejected", "failed"].map(attempts), [Some(0.0); 3]);

        post.receiver.script([Reply::Status(500), Reply::Reset]);
        post.recognise(service);
        post.receiver.take(3);
        let too_much = post.sample.send(service, &post.sample.users[0], &[&post.sample.users[1]], 99_999);
        assert_eq!(too_much.status, 400);
        assert_eq!((metric(service, sent), metric(service, &refused)), (Some(1.0), Some(1.0)));
        until("attempts should be counted by result", || {
            (["delivered", "rejected", "failed"].map(attempts) == [Some(1.0); 3]).then_some(())
        });
        mails(service, &post);
        outbox(service, &post);
        assert_eq!(metric(service, "guerdon_ledger_unbalanced_companies"), Some(0.0));
        assert_eq!(metric(service, "guerdon_webhook_events_exhausted_total"), Some(0.0));
    });
}

fn mails(service: &Service, post: &Post) {
    let path = format!("/v1/companies/{}", post.sample.company);
    post.sample.deposit(service, 1);
    let body = serde_json::json!({"reserve_alert": 2, "reserve_bcc": null});
    assert_eq!(service.put(&post.sample.provider, &path, &body).status, 200);
    until("a mail should be counted", || {
        (metric(service, r#"guerdon_mail_attempts_total{result="sent"}"#)? >= 1.0).then_some(())
    });
}

fn outbox(service: &Service, post: &Post) {
    let (pending, oldest) = ("guerdon_outbox_pending_events", "guerdon_outbox_oldest_event_age_seconds");
    post.receiver.answer(Reply::Held(200));
    post.recognise(service);
    until("an event should be pending", || {
        (metric(service, pending)? >= 1.0 && metric(service, oldest)? > 0.0).then_some(())
    });
    assert_eq!(metric(service, "guerdon_webhook_attempts_in_flight"), Some(1.0));
    assert!(metric(service, "guerdon_feed_held_seconds").is_some_and(|seconds| seconds < 60.0));
    post.receiver.release();
    until("no event should be pending", || {
        (metric(service, pending)? == 0.0 && metric(service, oldest)? == 0.0).then_some(())
    });
}

/// The value of one metric line.
pub(super) fn metric(service: &Service, name: &str) -> Option<f64> {
    metric_at(&service.running.operator, name)
}

pub(super) fn metric_at(operator: &str, name: &str) -> Option<f64> {
    let agent: ureq::Agent = ureq::Agent::config_builder().proxy(None).build().into();
    let mut answer = agent.get(format!("{operator}/metrics")).call().unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.map(|value| value.parse().unwrap())
}
