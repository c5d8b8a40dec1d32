//! The measured window: the time in which the load was what was asked for.

use std::collections::BinaryHeap;

use super::RequestResult;

/// The time in which the load was what was asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    /// Its beginning, in seconds since the load began.
    pub begin_s: f64,
    /// Its end.
    pub end_at_s: f64,
    /// Whether ramp and drain are inside, because the load was too short to have anything else.
    pub is_whole: bool,
}

impl Window {
    /// Its length in seconds.
    pub fn length_s(&self) -> f64 {
        (self.end_at_s - self.begin_s).max(0.0)
    }

    /// Whether a time lies in it.
    pub(super) fn has(&self, time_s: f64) -> bool {
        (self.begin_s..=self.end_at_s).contains(&time_s)
    }
}

/// Finds the measured window in a first pass over the requests.
#[derive(Debug, Clone)]
pub struct WindowFinder {
    /// Streams of a closed loop; none for an open one.
    streams: Option<usize>,
    /// The earliest send times, as many as there are streams.
    earliest: BinaryHeap<Ordered>,
    first_s: f64,
    last_sent_s: f64,
    last_intended_s: f64,
    last_end_s: f64,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Ordered(f64);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Ordered) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Ordered) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl WindowFinder {
    /// Begins; `streams` are those of a closed loop.
    pub fn new(streams: Option<usize>) -> WindowFinder {
        WindowFinder {
            streams,
            earliest: BinaryHeap::new(),
            first_s: f64::INFINITY,
            last_sent_s: f64::NEG_INFINITY,
            last_intended_s: f64::NEG_INFINITY,
            last_end_s: f64::NEG_INFINITY,
        }
    }

    /// Looks at a request.
    pub fn add(&mut self, request: &RequestResult) {
        if request.warm_up {
            return;
        }
        self.first_s = self.first_s.min(request.intended_at_s);
        self.last_sent_s = self.last_sent_s.max(request.sent_at_s);
        self.last_intended_s = self.last_intended_s.max(request.intended_at_s);
        self.last_end_s = self.last_end_s.max(request.end_at_s);
        if let Some(streams) = self.streams {
            self.earliest.push(Ordered(request.sent_at_s));
            if self.earliest.len() > streams {
                self.earliest.pop();
            }
        }
    }

    /// The window, if there was a request.
    pub fn finish(self) -> Option<Window> {
        if !self.first_s.is_finite() {
            return None;
        }
        let (begin_s, end_at_s) = match self.streams {
            Some(_) => (self.earliest.peek().map_or(self.first_s, |time| time.0), self.last_sent_s),
            None => (self.first_s, self.last_intended_s),
        };
        let whole = Window { begin_s: self.first_s, end_at_s: self.last_end_s, is_whole: true };
        // What is left must be the larger part, or it says little about the load.
        let is_enough = end_at_s - begin_s >= 0.5 * whole.length_s();
        Some(if is_enough { Window { begin_s, end_at_s, is_whole: false } } else { whole })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ramp_and_drain_are_cut_from_a_closed_loop() {
        let request = |sent_at_s: f64| RequestResult {
            intended_at_s: sent_at_s,
            sent_at_s,
            end_at_s: sent_at_s + 2.0,
            ..RequestResult::default()
        };
        let mut finder = WindowFinder::new(Some(2));
        [0.0, 0.1, 2.0, 2.1, 4.0, 4.1, 6.0].into_iter().for_each(|sent| finder.add(&request(sent)));
        assert_eq!(finder.finish(), Some(Window { begin_s: 0.1, end_at_s: 6.0, is_whole: false }));
        let mut short = WindowFinder::new(Some(2));
        [0.0, 0.1].into_iter().for_each(|sent| short.add(&request(sent)));
        assert_eq!(short.finish(), Some(Window { begin_s: 0.0, end_at_s: 2.1, is_whole: true }));
        assert_eq!(WindowFinder::new(None).finish(), None);
    }
}
