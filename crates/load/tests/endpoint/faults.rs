//! Requests that fail: each by its kind, none of them a success, none of them spoiling the others.

use std::net::TcpListener;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_load::FaultKind;
use assay_load::arrivals::Arrivals;
use assay_load::calibration::{Failure, FailureKind, MockSchedule, Server, When};
use assay_load::request::Endpoint;
use assay_load::run::{Live, Load, LoadEnd, run};
use assay_load::token::TokenSource;

use super::support::{Numbered, failing, measure, perform};

#[test]
fn a_cut_stream_is_no_success() {
    for kind in [
        FailureKind::Cut { after: 5 },
        FailureKind::Reset { after: 5 },
        FailureKind::Unfinished { after: 5 },
        FailureKind::Unfinished { after: 10 },
    ] {
        let seen = measure(failing(kind), |_| {});
        assert_eq!(seen.fault().kind, FaultKind::Cut, "{kind:?}: {}", seen.fault().message);
        assert!(seen.only().first_token_at_s.is_some(), "what came is kept");
    }
}

#[test]
fn a_host_without_an_address_fails_alone_where_others_answer() {
    let server = Server::bind("127.0.0.1:0", MockSchedule { tokens: 3, ..MockSchedule::default() });
    let server = server.unwrap().start().unwrap();
    let lost = Endpoint::new("http://no-such-host.invalid/v1", "m");
    let mut load = Load::closed(lost, 1, 2);
    let unfound = run(&load, &Numbered, &Live::default(), &AtomicBool::new(false), &|_| {}).unwrap_err();
    assert!(unfound.to_string().contains("no-such-host.invalid"), "{unfound}");
    load.endpoints.push(Endpoint::new(server.url(), "m"));
    // Were failures made as fast as they can be, the other endpoint would get no turn.
    (load.requests, load.duration) = (None, Some(Duration::from_millis(400)));
    let (exchanges, _) = perform(&load, &Numbered);
    let (lost, well): (Vec<_>, Vec<_>) = exchanges.iter().partition(|exchange| exchange.endpoint == 0);
    assert!((1..20).contains(&lost.len()) && well.len() > 2, "{} {}", lost.len(), well.len());
    assert!(lost.iter().all(|one| one.fault.as_ref().is_some_and(|fault| fault.kind == FaultKind::Dns)));
    assert!(well.iter().all(|exchange| exchange.is_success()));
}

#[test]
fn an_error_inside_the_stream_is_told() {
    let seen = measure(failing(FailureKind::ErrorEvent { after: 5 }), |_| {});
    assert_eq!(seen.fault().kind, FaultKind::ErrorEvent);
    assert!(seen.fault().message.contains("the engine stopped"), "{}", seen.fault().message);
}

#[test]
fn an_event_that_is_no_json_is_malformed() {
    let seen = measure(failing(FailureKind::Malformed { after: 5 }), |_| {});
    assert_eq!(seen.fault().kind, FaultKind::Malformed);
}

#[test]
fn statuses_have_their_kinds() {
    for (status, kind) in [
        (401, FaultKind::Unauthorized),
        (403, FaultKind::Forbidden),
        (404, FaultKind::NotFound),
        (422, FaultKind::Rejected),
        (429, FaultKind::TooMany),
        (500, FaultKind::Server),
        (503, FaultKind::Server),
    ] {
        let seen = measure(failing(FailureKind::Status { status, retry_after: None }), |_| {});
        assert_eq!((seen.fault().kind, seen.only().status), (kind, Some(status)));
    }
}

#[test]
fn too_many_requests_are_counted_and_not_sent_again_unasked() {
    let retry = FailureKind::Status { status: 429, retry_after: Some(7) };
    let seen = measure(failing(retry), |_| {});
    assert_eq!((seen.fault().kind, seen.fault().retry_after_s), (FaultKind::TooMany, Some(7.0)));
    assert_eq!((seen.only().attempts, seen.server.requests), (1, 1));
}

#[test]
fn retries_are_made_if_asked_for_and_seen() {
    let kind = FailureKind::Status { status: 503, retry_after: None };
    let failures = vec![Failure { when: When::First(2), kind }];
    let seen =
        measure(MockSchedule { tokens: 5, failures, ..MockSchedule::default() }, |load| load.retries = 3);
    let exchange = seen.only();
    assert_eq!((exchange.fault.as_ref(), exchange.attempts), (None, 3));
    assert_eq!(seen.server.requests, 3);
    assert!(
        exchange.first_token_at_s.unwrap() - exchange.intended_at_s > 0.5,
        "latency counts from the intended time"
    );
}

#[test]
fn a_server_that_never_answers_or_stops_in_the_middle_times_out() {
    let short = |load: &mut Load| load.timeout = Duration::from_millis(400);
    let silent = measure(failing(FailureKind::Silence), short);
    assert_eq!(silent.fault().kind, FaultKind::NoAnswer);
    let stalled = measure(failing(FailureKind::Stall { after: 5 }), short);
    assert_eq!(stalled.fault().kind, FaultKind::Timeout);
    assert!(stalled.only().first_token_at_s.is_some());
}

#[test]
fn one_failure_in_four_leaves_the_others_alone() {
    let failures = vec![
        Failure { when: When::Every(8), kind: FailureKind::Status { status: 429, retry_after: None } },
        Failure { when: When::Every(4), kind: FailureKind::Cut { after: 3 } },
    ];
    let seen = measure(MockSchedule { tokens: 10, failures, ..MockSchedule::default() }, |load| {
        load.arrivals = Arrivals::Closed { streams: 4 };
        load.requests = Some(40);
    });
    let count = |kind: Option<FaultKind>| {
        seen.exchanges.iter().filter(|one| one.fault.as_ref().map(|fault| fault.kind) == kind).count()
    };
    assert_eq!((count(None), count(Some(FaultKind::TooMany)), count(Some(FaultKind::Cut))), (30, 5, 5));
    assert_eq!(seen.outcome.ended, LoadEnd::Complete);
}

#[test]
fn a_spent_error_budget_stops_the_load() {
    let kind = FailureKind::Status { status: 500, retry_after: None };
    let seen = measure(failing(kind), |load| {
        load.requests = Some(1000);
        load.error_budget = Some(10);
    });
    assert_eq!(seen.outcome.ended, LoadEnd::BudgetSpent);
    assert!((10..100).contains(&seen.exchanges.len()), "{}", seen.exchanges.len());
}

#[test]
fn nobody_listening_is_a_refusal() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let load = Load::closed(Endpoint::new(format!("http://{address}/v1"), "m"), 2, 3);
    let (exchanges, _) = perform(&load, &Numbered);
    assert_eq!(exchanges.len(), 3);
    assert!(
        exchanges.iter().all(|one| one.fault.as_ref().is_some_and(|fault| fault.kind == FaultKind::Refused))
    );
}

#[test]
fn a_warm_up_that_fails_for_good_ends_the_load() {
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut load = Load::closed(Endpoint::new(format!("http://{address}/v1"), "m"), 4, 1000);
    load.warm_up = 4;
    let (exchanges, outcome) = perform(&load, &Numbered);
    assert_eq!((outcome.ended, exchanges.len()), (LoadEnd::WarmUpFailed, 4));
    // A busy server may have room later.
    let busy = FailureKind::Status { status: 429, retry_after: None };
    let seen = measure(failing(busy), |load| (load.warm_up, load.requests) = (2, Some(3)));
    assert_eq!((seen.outcome.ended, seen.exchanges.len()), (LoadEnd::Complete, 5));
}

#[test]
fn a_server_that_vanishes_ends_the_load_and_the_moment_is_known() {
    let server = Server::bind("127.0.0.1:0", MockSchedule { tokens: 3, ..MockSchedule::default() });
    let server = server.unwrap().start().unwrap();
    let mut load = Load::closed(Endpoint::new(server.url(), "m"), 2, 1_000_000);
    load.gone_after = Duration::from_millis(500);
    let stop = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(400));
        server.stop().unwrap();
    });
    let (exchanges, outcome) = perform(&load, &Numbered);
    stop.join().unwrap();
    assert_eq!(outcome.ended, LoadEnd::Gone);
    let since = outcome.gone_since_s.unwrap();
    assert!((0.3..5.0).contains(&since) && outcome.took_s >= since + 0.5, "{since} {}", outcome.took_s);
    assert!(exchanges.iter().any(|one| one.is_success()), "what was measured is kept");
}

#[test]
fn a_token_that_expires_is_got_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("asked");
    let bearers = vec!["first".to_owned(), "second".to_owned()];
    let schedule = MockSchedule { tokens: 10, bearers, bearer_requests: 4, ..MockSchedule::default() };
    // The command prints the second token from its second time on.
    let file = path.display();
    let command = format!("if [ -e '{file}' ]; then echo second; else touch '{file}'; echo first; fi");
    let seen = measure(schedule, |load| {
        load.endpoints[0].token = Some(TokenSource::Command(command));
        load.endpoints[0].token_lifetime = Some(Duration::from_millis(60));
        load.requests = Some(12);
    });
    let late: Vec<_> = seen.exchanges[4..].iter().filter(|one| one.fault.is_some()).collect();
    assert!(seen.exchanges[..4].iter().all(|one| one.fault.is_none()));
    assert!(late.len() <= 2, "{late:?}");
    let without = measure(MockSchedule { bearers: vec!["one".into()], ..MockSchedule::default() }, |_| {});
    assert_eq!(without.fault().kind, FaultKind::Unauthorized);
}
