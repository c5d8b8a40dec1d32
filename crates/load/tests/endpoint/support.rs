//! A load against a calibration endpoint, and what both sides say about it.

use std::sync::Mutex;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use assay_load::calibration::{
    CalibrationSummary, Failure, FailureKind, MockSchedule, Server, StreamSends, When,
};
use assay_load::request::{Content, Endpoint, Question};
use assay_load::run::{Live, Load, LoadOutcome, Questions, run};
use assay_load::{Exchange, Fault};

/// How far the client's times may be from the endpoint's on a busy machine.
pub const MARGIN_S: f64 = 0.06;

/// Questions that carry their number, so that the endpoint's record can be matched with the client's.
pub struct Numbered;

impl Questions for Numbered {
    fn warm_up(&self, index: u64) -> Option<Question> {
        let content = Content::Text(format!("warm-up #{index}"));
        Some(Question { content, output_tokens: None })
    }

    fn question(&self, index: u64, turn: u32) -> Option<Question> {
        let content = Content::Text(format!("calibration, turn {turn} #{index}"));
        Some(Question { content, output_tokens: None })
    }
}

/// What both sides say.
pub struct Seen {
    pub exchanges: Vec<Exchange>,
    pub outcome: LoadOutcome,
    pub server: CalibrationSummary,
}

/// Makes a load on an endpoint of this schedule. `shape` changes what is asked for.
pub fn measure(schedule: MockSchedule, shape: impl FnOnce(&mut Load)) -> Seen {
    let server = Server::bind("127.0.0.1:0", schedule).unwrap().keeping_sends().start().unwrap();
    let mut load = Load::closed(Endpoint::new(server.url(), "calibration"), 1, 1);
    load.timeout = Duration::from_secs(20);
    shape(&mut load);
    let (exchanges, outcome) = perform(&load, &Numbered);
    Seen { exchanges, outcome, server: server.stop().unwrap() }
}

/// Runs a load. Gives its requests in their order.
pub fn perform(load: &Load, questions: &dyn Questions) -> (Vec<Exchange>, LoadOutcome) {
    let kept = Mutex::new(Vec::new());
    let keep = |exchange: &Exchange| kept.lock().unwrap().push(exchange.clone());
    let outcome = run(load, questions, &Live::default(), &AtomicBool::new(false), &keep).unwrap();
    let mut exchanges = kept.into_inner().unwrap();
    exchanges.sort_by_key(|exchange| (exchange.endpoint, exchange.index));
    (exchanges, outcome)
}

/// A schedule on which every request fails in this way.
pub fn failing(kind: FailureKind) -> MockSchedule {
    MockSchedule {
        tokens: 10,
        failures: vec![Failure { when: When::Every(1), kind }],
        ..MockSchedule::default()
    }
}

impl Seen {
    /// The only request.
    pub fn only(&self) -> &Exchange {
        assert_eq!(self.exchanges.len(), 1);
        &self.exchanges[0]
    }

    /// What went wrong with the only request.
    pub fn fault(&self) -> &Fault {
        self.only().fault.as_ref().expect("a fault")
    }

    /// What the endpoint sent for a request.
    pub fn sends(&self, exchange: &Exchange) -> &StreamSends {
        let mut streams = self.server.streams.iter();
        streams.find(|stream| stream.client == Some(exchange.index)).expect("a stream of this request")
    }

    /// A moment of the endpoint's clock on the client's.
    pub fn on_client_s(&self, at_ns: i64) -> f64 {
        (at_ns - self.outcome.zero_ns) as f64 * 1e-9
    }

    /// Asserts that the times of first and last token are those at which they were really sent.
    pub fn assert_times(&self, exchange: &Exchange) {
        let sends = self.sends(exchange);
        assert_near(exchange.first_token_at_s.unwrap(), self.on_client_s(sends.first_token_ns().unwrap()));
        assert_near(exchange.last_token_at_s.unwrap(), self.on_client_s(sends.last_token_ns().unwrap()));
    }
}

/// Asserts that two times are the same, up to the margin.
pub fn assert_near(seen_s: f64, true_s: f64) {
    assert!((seen_s - true_s).abs() < MARGIN_S, "seen {seen_s}, truth {true_s}");
}
