//! Timers of many streams: a wheel of slots, a few microseconds each. Putting in and taking out cost the same for one
//! stream and for ten thousand, and all that is due comes out in one batch.

/// Length of a slot: two to this power nanoseconds, about 8 µs.
const SLOT_BITS: u32 = 13;
/// Slots of the wheel, a power of two: one turn is about a second. Timers further away stay in their slot for as many
/// turns as they need.
const SLOTS: usize = 1 << 17;

/// A timer: when it is due, and whose it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Timer {
    pub due_ns: i64,
    pub slot: u32,
    /// Distinguishes a stream from an earlier one that had the same slot.
    pub generation: u32,
}

/// The wheel.
#[derive(Debug)]
pub(super) struct Wheel {
    slots: Vec<Vec<Timer>>,
    /// One bit for each slot that is not empty.
    filled: Vec<u64>,
    /// The slot up to which everything was taken out, counted from the beginning of time.
    taken: i64,
    /// What was due already when it was put in.
    overdue: Vec<Timer>,
    count: usize,
}

impl Wheel {
    /// An empty wheel at this time.
    pub(super) fn new(now_ns: i64) -> Self {
        Self {
            slots: vec![Vec::new(); SLOTS],
            filled: vec![0; SLOTS / 64],
            taken: now_ns >> SLOT_BITS,
            overdue: Vec::new(),
            count: 0,
        }
    }

    /// Puts a timer in.
    pub(super) fn insert(&mut self, timer: Timer) {
        let slot = timer.due_ns >> SLOT_BITS;
        if slot < self.taken {
            self.overdue.push(timer);
            return;
        }
        let place = slot as usize % SLOTS;
        self.slots[place].push(timer);
        self.filled[place / 64] |= 1 << (place % 64);
        self.count += 1;
    }

    /// Takes out everything that is due, by slot; within a slot in the order in which it was put in.
    pub(super) fn take(&mut self, now_ns: i64, due: &mut Vec<Timer>) {
        due.append(&mut self.overdue);
        let last = now_ns >> SLOT_BITS;
        // After a long pause every slot is looked at once; more turns would find nothing new.
        let mut slot = self.taken.max(last - SLOTS as i64 + 1);
        while self.count > 0 {
            match self.next_filled(slot) {
                Some(found) if found <= last => {
                    self.take_slot(found, now_ns, due);
                    slot = found + 1;
                }
                _ => break,
            }
        }
        // The last slot is not over yet: it is looked at again.
        self.taken = self.taken.max(last);
    }

    /// When the next timer may be due; at most one turn from now, and never later than it is.
    pub(super) fn next_due(&self) -> Option<i64> {
        if let Some(timer) = self.overdue.first() {
            return Some(timer.due_ns);
        }
        if self.count == 0 {
            return None;
        }
        let found = self.next_filled(self.taken)?;
        let begin = found << SLOT_BITS;
        let end = begin + (1 << SLOT_BITS);
        let place = &self.slots[found as usize % SLOTS];
        // Where all timers of the slot belong to a later turn, its end is early enough to look again.
        Some(place.iter().map(|timer| timer.due_ns).min().map_or(end, |due| due.clamp(begin, end)))
    }

    /// The first slot at or after `slot`, within one turn, that is not empty.
    fn next_filled(&self, slot: i64) -> Option<i64> {
        let place = slot as usize % SLOTS;
        let words = self.filled.len();
        let mut word = place / 64;
        let mut bits = self.filled[word] & (u64::MAX << (place % 64));
        for _ in 0..=words {
            if bits != 0 {
                let found = word * 64 + bits.trailing_zeros() as usize;
                let ahead = (found + SLOTS - place) % SLOTS;
                return Some(slot + ahead as i64);
            }
            word = (word + 1) % words;
            bits = self.filled[word];
        }
        None
    }

    fn take_slot(&mut self, slot: i64, now_ns: i64, due: &mut Vec<Timer>) {
        let place = slot as usize % SLOTS;
        let timers = &mut self.slots[place];
        let before = due.len();
        timers.retain(|timer| {
            let is_due = timer.due_ns <= now_ns;
            if is_due {
                due.push(*timer);
            }
            !is_due
        });
        self.count -= due.len() - before;
        if timers.is_empty() {
            self.filled[place / 64] &= !(1 << (place % 64));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn timer(due_ns: i64) -> Timer {
        Timer { due_ns, slot: 0, generation: 0 }
    }

    #[test]
    fn the_next_timer_is_told_exactly() {
        let mut wheel = Wheel::new(5_000_000);
        assert_eq!(wheel.next_due(), None);
        wheel.insert(timer(6_000_001));
        wheel.insert(timer(5_900_000));
        assert_eq!(wheel.next_due(), Some(5_900_000));
        let mut due = Vec::new();
        wheel.take(5_899_999, &mut due);
        assert!(due.is_empty());
        wheel.take(5_900_000, &mut due);
        assert_eq!(due, [timer(5_900_000)]);
    }

    #[test]
    fn what_is_due_already_comes_out_at_once() {
        let mut wheel = Wheel::new(5_000_000);
        wheel.insert(timer(1));
        assert_eq!(wheel.next_due(), Some(1));
        let mut due = Vec::new();
        wheel.take(5_000_000, &mut due);
        assert_eq!(due, [timer(1)]);
        assert_eq!(wheel.next_due(), None);
    }

    #[test]
    fn far_timers_stay_for_as_many_turns_as_they_need() {
        let mut wheel = Wheel::new(0);
        let far = 3_500_000_000;
        wheel.insert(timer(far));
        let (mut due, mut now, mut looks) = (Vec::new(), 0, 0);
        while due.is_empty() {
            now = wheel.next_due().unwrap();
            wheel.take(now, &mut due);
            looks += 1;
        }
        assert_eq!(now, far);
        assert!(looks < 12, "{looks}");
    }

    proptest! {
        #[test]
        fn every_timer_comes_out_once_and_never_early(
            dues in prop::collection::vec(0_i64..4_000_000_000, 1..200),
            steps in prop::collection::vec(1_i64..900_000_000, 1..20),
        ) {
            let mut wheel = Wheel::new(0);
            for due in &dues {
                wheel.insert(timer(*due));
            }
            let (mut now, mut taken) = (0, Vec::new());
            for step in steps.iter().chain([&4_000_000_000]) {
                now += step;
                wheel.take(now, &mut taken);
                prop_assert_eq!(taken.len(), dues.iter().filter(|due| **due <= now).count());
            }
            let mut taken: Vec<i64> = taken.iter().map(|timer| timer.due_ns).collect();
            let mut dues = dues;
            taken.sort_unstable();
            dues.sort_unstable();
            prop_assert_eq!(taken, dues);
        }
    }
}
