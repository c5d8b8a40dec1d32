//! The other interfaces, answers in one piece, and connections that do not last.

use std::time::Duration;

use assay_load::arrivals::Arrivals;
use assay_load::calibration::{Close, FailureKind, MockSchedule, Server};
use assay_load::prompts::{Prompt, Prompts};
use assay_load::request::{Api, Endpoint};
use assay_load::run::Load;
use assay_load::score::Score;
use assay_load::{ChunkKind, FaultKind};

use super::support::{assert_near, failing, measure, perform};

#[test]
fn completions_stream_texts() {
    let seen = measure(MockSchedule { tokens: 7, ..MockSchedule::default() }, |load| {
        load.endpoints[0].api = Api::Completions;
        load.keep_answers = true;
    });
    let exchange = seen.only();
    assert_eq!((exchange.fault.as_ref(), exchange.usage.unwrap().output), (None, Some(7)));
    let content = exchange.chunks.iter().filter(|chunk| chunk.kind == ChunkKind::Content);
    assert_eq!(content.map(|chunk| chunk.events).sum::<u32>(), 7);
    seen.assert_times(exchange);
}

#[test]
fn an_answer_in_one_piece_comes_with_its_last_token() {
    for api in [Api::Chat, Api::Completions] {
        let text = Some("gold is where you find it".to_owned());
        let schedule = MockSchedule { text, gap: Duration::from_millis(50), ..MockSchedule::default() };
        let seen = measure(schedule, |load| {
            load.endpoints[0].api = api;
            load.endpoints[0].stream = false;
            load.keep_answers = true;
        });
        let exchange = seen.only();
        assert_eq!(exchange.fault, None);
        assert_eq!(exchange.answer.as_deref().map(str::trim), Some("gold is where you find it"));
        assert_eq!(exchange.usage.unwrap().output, Some(6));
        assert_near(exchange.end_at_s - exchange.sent_at_s, 0.27);
    }
}

#[test]
fn answers_are_scored_and_forgotten_unless_they_are_kept() {
    let schedule = MockSchedule { text: Some("The gold.".to_owned()), ..MockSchedule::default() };
    let server = Server::bind("127.0.0.1:0", schedule).unwrap().start().unwrap();
    let mut prompt = Prompt::text("what?");
    prompt.answers = vec!["gold".to_owned()];
    let asked = Prompts::new(vec![prompt], 1).unwrap();
    for keep in [false, true] {
        let load = Load { keep_answers: keep, ..Load::closed(Endpoint::new(server.url(), "m"), 1, 2) };
        let (exchanges, _) = perform(&load, &asked);
        for exchange in &exchanges {
            assert_eq!(exchange.score, Some(Score { exact: true, f1: 1.0 }));
            assert_eq!(exchange.answer.is_some(), keep);
        }
    }
}

#[test]
fn an_answer_in_one_piece_may_be_cut_too() {
    let kind = FailureKind::Cut { after: 1 };
    let seen = measure(failing(kind), |load| load.endpoints[0].stream = false);
    assert_eq!(seen.fault().kind, FaultKind::Cut);
    let kind = FailureKind::Malformed { after: 1 };
    let seen = measure(failing(kind), |load| load.endpoints[0].stream = false);
    assert_eq!(seen.fault().kind, FaultKind::Malformed);
}

#[test]
fn embeddings_are_answered() {
    let seen = measure(MockSchedule::default(), |load| load.endpoints[0].api = Api::Embeddings);
    let exchange = seen.only();
    assert_eq!((exchange.fault.as_ref(), exchange.status), (None, Some(200)));
    assert!(exchange.usage.unwrap().prompt.unwrap() > 0);
}

#[test]
fn connections_are_reused_unless_told_otherwise() {
    let schedule = || MockSchedule { tokens: 3, ..MockSchedule::default() };
    let reused = measure(schedule(), |load| load.requests = Some(6));
    assert_eq!((reused.server.connections, reused.outcome.health.connections), (1, 1));
    let fresh = measure(schedule(), |load| {
        load.requests = Some(6);
        load.new_connections = true;
    });
    assert_eq!(fresh.server.connections, 6);
    assert!(fresh.exchanges.iter().all(|one| one.fault.is_none() && one.connected_at_s.is_some()));
}

#[test]
fn a_server_that_closes_after_every_answer_is_no_fault() {
    let seen =
        measure(MockSchedule { tokens: 3, close: Close::Announced, ..MockSchedule::default() }, |load| {
            load.requests = Some(8);
            load.arrivals = Arrivals::Closed { streams: 2 };
        });
    assert_eq!(seen.server.connections, 8);
    assert!(seen.exchanges.iter().all(|one| one.fault.is_none()), "{:?}", seen.exchanges);
}

/// llama.cpp's server promises to keep a connection, and closes it after a stream. A request that was sent on such a
/// connection, and of which not a byte was answered, is sent again on a new one.
#[test]
fn a_server_that_closes_without_saying_so_is_no_fault() {
    let seen =
        measure(MockSchedule { tokens: 3, close: Close::Unannounced, ..MockSchedule::default() }, |load| {
            load.requests = Some(8);
            load.arrivals = Arrivals::Closed { streams: 2 };
        });
    assert!(seen.exchanges.iter().all(|one| one.fault.is_none()), "{:?}", seen.exchanges);
    assert_eq!((seen.server.requests, seen.server.connections), (8, 8));
}

#[test]
fn several_endpoints_are_asked_at_the_same_time() {
    let fast = MockSchedule { tokens: 5, ..MockSchedule::default() };
    let other = Server::bind("127.0.0.1:0", MockSchedule { tokens: 9, ..fast.clone() });
    let other = other.unwrap().start().unwrap();
    let seen = measure(fast, |load| {
        load.endpoints.push(Endpoint::new(other.url(), "other"));
        load.requests = Some(5);
    });
    let outputs = |endpoint: u16| {
        let of = seen.exchanges.iter().filter(|one| one.endpoint == endpoint);
        of.map(|one| one.usage.unwrap().output.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((outputs(0), outputs(1)), (vec![5; 5], vec![9; 5]));
}
