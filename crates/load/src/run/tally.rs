//! How well the client itself does: samples of how late it was, and counts.

use crate::record::Health;

/// The most values that a sample keeps.
const MOST_VALUES: usize = 1 << 14;

/// An even sample of a long row of values: every value at first, then every second one, every fourth, and so on.
#[derive(Debug)]
pub(super) struct EvenSample {
    values: Vec<f64>,
    stride: u64,
    seen: u64,
}

impl Default for EvenSample {
    fn default() -> EvenSample {
        EvenSample { values: Vec::new(), stride: 1, seen: 0 }
    }
}

impl EvenSample {
    pub(super) fn add(&mut self, value: f64) {
        if self.seen.is_multiple_of(self.stride) {
            if self.values.len() == MOST_VALUES {
                let mut index = 0_u64;
                self.values.retain(|_| {
                    index += 1;
                    !index.is_multiple_of(2)
                });
                self.stride *= 2;
            }
            if self.seen.is_multiple_of(self.stride) {
                self.values.push(value);
            }
        }
        self.seen += 1;
    }

    pub(super) fn into_values(self) -> Vec<f64> {
        self.values
    }
}

/// Keeps a row of samples short: every second one goes when there are too many.
pub(super) fn thin(samples: &mut Vec<(f64, u32, u32)>) {
    const MOST: usize = 4096;
    if samples.len() >= MOST {
        let mut index = 0_u32;
        samples.retain(|_| {
            index += 1;
            index % 2 == 1
        });
    }
}

/// The health of all threads as one.
pub(super) fn together(threads: Vec<Health>) -> Health {
    let mut all = Health::default();
    for thread in threads {
        all.client_lag_s.extend(thread.client_lag_s);
        all.schedule_lag_s.extend(thread.schedule_lag_s);
        all.in_flight.extend(thread.in_flight);
        all.cpu_s.extend(thread.cpu_s);
        all.wall_s.extend(thread.wall_s);
        all.connections += thread.connections;
        all.requests += thread.requests;
        all.events += thread.events;
        all.merged += thread.merged;
        all.unstamped += thread.unstamped;
        all.sent_again += thread.sent_again;
        all.reads += thread.reads;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_row_is_sampled_evenly() {
        let mut sample = EvenSample::default();
        let many = 5 * MOST_VALUES;
        (0..many).for_each(|value| sample.add(value as f64));
        let values = sample.into_values();
        assert!(values.len() > MOST_VALUES / 2 && values.len() <= MOST_VALUES, "{}", values.len());
        let step = values[1] - values[0];
        assert!(values.windows(2).all(|pair| pair[1] - pair[0] == step), "{step}");
    }
}
