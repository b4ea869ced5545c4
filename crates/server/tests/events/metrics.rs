//! The metrics that monitoring reads.

use super::{FAST_RETRIES, WebhookFixture};
use crate::support::for_each_database_with;
use crate::support::receiver::Reply;
use crate::support::service::TestService;
use crate::support::wait_until;

#[test]
fn metrics_follow_deliveries_mails_and_requests() {
    for_each_database_with(&FAST_RETRIES, |service| {
        let fixture = WebhookFixture::create(service, 2);
        let sent = r#"guerdon_http_request_duration_seconds_count{method="POST",route="/v1/recognitions",status="201"}"#;
        let refused = sent.replace("201", "400");
        let attempts = |result: &str| {
            service.running.metric(&format!(r#"guerdon_webhook_attempts_total{{result="{result}"}}"#))
        };
        assert_eq!(service.running.metric(sent), None);
        assert_eq!(["delivered", "rejected", "failed"].map(attempts), [Some(0.0); 3]);

        fixture.receiver.queue_replies([Reply::Status(500), Reply::Reset]);
        fixture.send_recognition(service);
        fixture.receiver.take_requests(3);
        let too_much = fixture.sample.send_recognition(
            service,
            &fixture.sample.users[0],
            &[&fixture.sample.users[1]],
            99_999,
        );
        assert_eq!(too_much.status, 400);
        assert_eq!((service.running.metric(sent), service.running.metric(&refused)), (Some(1.0), Some(1.0)));
        wait_until("attempts should be counted by result", || {
            (["delivered", "rejected", "failed"].map(attempts) == [Some(1.0); 3]).then_some(())
        });
        check_mail_metrics(service, &fixture);
        check_outbox_metrics(service, &fixture);
        assert_eq!(service.running.metric("guerdon_ledger_unbalanced_companies"), Some(0.0));
        assert_eq!(service.running.metric("guerdon_webhook_events_exhausted_total"), Some(0.0));
    });
}

fn check_mail_metrics(service: &TestService, fixture: &WebhookFixture) {
    let path = format!("/v1/companies/{}", fixture.sample.company);
    fixture.sample.deposit_points(service, 1);
    let body = serde_json::json!({"reserve_alert": 2, "reserve_bcc": null});
    assert_eq!(service.put(&fixture.sample.provider, &path, &body).status, 200);
    wait_until("an email should be counted", || {
        (service.running.metric(r#"guerdon_mail_attempts_total{result="sent"}"#)? >= 1.0).then_some(())
    });
}

fn check_outbox_metrics(service: &TestService, fixture: &WebhookFixture) {
    let (pending, oldest) = ("guerdon_outbox_pending_events", "guerdon_outbox_oldest_event_age_seconds");
    fixture.receiver.set_default_reply(Reply::AfterRelease(200));
    fixture.send_recognition(service);
    wait_until("an event should be pending", || {
        (service.running.metric(pending)? >= 1.0 && service.running.metric(oldest)? > 0.0).then_some(())
    });
    assert_eq!(service.running.metric("guerdon_webhook_attempts_in_flight"), Some(1.0));
    assert!(service.running.metric("guerdon_event_feed_delay_seconds").is_some_and(|seconds| seconds < 60.0));
    fixture.receiver.release_held_replies();
    wait_until("no event should be pending", || {
        (service.running.metric(pending)? == 0.0 && service.running.metric(oldest)? == 0.0).then_some(())
    });
}
