//! Searches in virtual time, against queues whose capacity is known from many more loads than a search makes.

use assay_random::Random;

use super::*;

/// A queue with some servers; every load begins with an empty one, as a probe does.
#[derive(Debug, Clone, Copy)]
struct Queue {
    servers: usize,
    service_s: f64,
    /// Whether service times are exponential; else they are all the same.
    is_random: bool,
    slo_s: f64,
}

impl Queue {
    fn probe(&self, plan: &ProbePlan, random: &mut Random) -> Share {
        let mut free = vec![0.0_f64; self.servers];
        let (mut at_s, mut good) = (0.0, Share::default());
        loop {
            at_s += random.exponential() / plan.rate;
            if at_s > plan.seconds && good.all >= plan.requests {
                return good;
            }
            let service_s =
                if self.is_random { random.exponential() * self.service_s } else { self.service_s };
            let first = (0..free.len()).min_by(|a, b| free[*a].total_cmp(&free[*b])).unwrap();
            free[first] = free[first].max(at_s) + service_s;
            good.all += 1;
            good.of += u64::from(free[first] - at_s <= self.slo_s);
        }
    }

    /// The rate at which half of the loads hold.
    fn capacity(&self, search: &CapacitySearch) -> f64 {
        let limit = self.servers as f64 / self.service_s;
        let (mut low, mut high) = (limit / 2.0, limit * 1.5);
        let mut random = Random::item(7, "capacity", 0);
        for _ in 0..7 {
            let middle = (low * high).sqrt();
            let plan = ProbePlan { rate: middle, ..search.planned(1.0, false) };
            let held = (0..600).filter(|_| self.probe(&plan, &mut random).value().unwrap() >= search.share);
            if held.count() > 300 { low = middle } else { high = middle }
        }
        (low * high).sqrt()
    }

    fn searched(&self, mut search: CapacitySearch, seed: u64) -> (CapacitySearch, f64) {
        let mut random = Random::item(seed, "search", 0);
        let mut took_s = 0.0;
        while let Some(plan) = search.next_probe() {
            let good = self.probe(&plan, &mut random);
            took_s += plan.seconds.max(good.all as f64 / plan.rate);
            let ProbePlan { rate, is_short, .. } = plan;
            search.add(Probe { rate, is_short, good, validity: Validity::Valid });
        }
        (search, took_s)
    }
}

const QUEUES: [Queue; 4] = [
    Queue { servers: 2, service_s: 0.01, is_random: false, slo_s: 0.05 },
    Queue { servers: 1, service_s: 0.02, is_random: true, slo_s: 0.2 },
    Queue { servers: 8, service_s: 0.1, is_random: false, slo_s: 0.15 },
    Queue { servers: 4, service_s: 0.05, is_random: true, slo_s: 0.3 },
];

#[test]
fn of_a_thousand_searches_at_least_930_cover_the_capacity() {
    let (mut covered, mut all, mut longest_s) = (0, 0, Vec::new());
    for queue in QUEUES {
        let search = || CapacitySearch::new(4.0, 10_000.0, 0.95, 0.2, (20.0 * queue.slo_s).max(2.0));
        let truth = queue.capacity(&search());
        let mut own = 0;
        for seed in 0..250 {
            let (found, took_s) = queue.searched(search(), seed);
            let Capacity::Between { low, high, .. } = found.capacity() else {
                panic!("{:?}", found.capacity())
            };
            own += u32::from((low..=high).contains(&truth));
            all += 1;
            longest_s.push(took_s);
        }
        assert!(own >= 228, "{own} of 250 for {queue:?} with capacity {truth}");
        covered += own;
    }
    assert!(all == 1000 && covered >= 930, "{covered} of {all}");
    longest_s.sort_by(f64::total_cmp);
    println!(
        "{covered} of {all} cover, a search takes {:.0} s, 95 % take up to {:.0} s",
        longest_s[500], longest_s[950]
    );
}

#[test]
fn a_simple_endpoint_takes_at_most_a_minute() {
    let queue = QUEUES[0];
    let mut took: Vec<f64> = (0..40)
        .map(|seed| queue.searched(CapacitySearch::new(4.0, 10_000.0, 0.95, 0.2, 2.0), seed).1)
        .collect();
    took.sort_by(f64::total_cmp);
    assert!(took[38] <= 60.0, "{took:?}");
}

/// A probe of 200 requests at an endpoint that serves `capacity` a second well, and no more of a higher rate.
fn probe(capacity: f64, plan: ProbePlan) -> Probe {
    let of = ((capacity / plan.rate).min(1.0) * 200.0) as u64;
    Probe {
        rate: plan.rate,
        is_short: plan.is_short,
        good: Share { of, all: 200 },
        validity: Validity::Valid,
    }
}

fn searched(capacity: f64, mut search: CapacitySearch) -> CapacitySearch {
    while let Some(plan) = search.next_probe() {
        search.add(probe(capacity, plan));
    }
    search
}

#[test]
fn ends_of_the_search_are_reported() {
    let far = searched(1e9, CapacitySearch::new(10.0, 100.0, 0.95, 0.05, 2.0));
    assert_eq!(far.capacity(), Capacity::AtLeast(100.0));
    assert!(far.probes().len() <= 5, "{:?}", far.probes());
    let none = searched(0.0, CapacitySearch::new(10.0, 100.0, 0.95, 0.05, 2.0));
    assert!(matches!(none.capacity(), Capacity::None { below } if below < 0.5), "{:?}", none.capacity());
    assert_eq!(CapacitySearch::new(1.0, 2.0, 0.9, 0.1, 2.0).capacity(), Capacity::Unknown);
}

#[test]
fn a_sharp_limit_is_found_to_the_precision() {
    for capacity in [0.7, 13.0, 900.0] {
        let search = searched(capacity, CapacitySearch::new(4.0, 10_000.0, 0.95, 0.1, 2.0));
        let Capacity::Between { low, high, center } = search.capacity() else {
            panic!("{:?}", search.capacity())
        };
        let truth = capacity / 0.95;
        assert!(low <= truth && truth <= high && (high - low) / center <= 0.1, "{low} {truth} {high}");
        assert_eq!(search.probes_left(), Some(0));
    }
}

#[test]
fn a_client_that_cannot_go_on_is_no_capacity() {
    let mut search = CapacitySearch::new(10.0, 1000.0, 0.95, 0.05, 2.0);
    while let Some(plan) = search.next_probe() {
        // The endpoint would serve any rate; the client does not get beyond 200.
        let validity = if plan.rate > 200.0 { Validity::Invalid } else { Validity::Valid };
        let served = if plan.rate > 200.0 { 1.0 } else { 1e9 };
        search.add(Probe { validity, ..probe(served, plan) });
    }
    assert!(search.is_limited_by_client());
    assert!(matches!(search.capacity(), Capacity::AtLeast(rate) if rate <= 200.0), "{:?}", search.capacity());
}

#[test]
fn a_client_that_limits_every_rate_is_given_up() {
    let mut search = CapacitySearch::new(80.0, 1000.0, 0.95, 0.05, 2.0);
    while let Some(plan) = search.next_probe() {
        search.add(Probe { validity: Validity::Invalid, ..probe(0.0, plan) });
    }
    assert_eq!((search.probes().len(), search.capacity()), (MOST_CLIENT_LIMITED, Capacity::Unknown));
}

#[test]
fn an_accident_of_the_client_does_not_hold_the_search_down() {
    let mut search = CapacitySearch::new(4.0, 10_000.0, 0.95, 0.2, 2.0);
    let mut count = 0;
    while let Some(plan) = search.next_probe() {
        count += 1;
        // The machine stands still now and then, at whatever rate.
        let fine = probe(50.0, plan);
        let disturbed = Probe { validity: Validity::Invalid, ..probe(0.0, plan) };
        search.add(if count % 5 == 0 { disturbed } else { fine });
    }
    let Capacity::Between { low, high, .. } = search.capacity() else { panic!("{:?}", search.capacity()) };
    assert!(low < 50.0 && high > 50.0 && high < 75.0, "{low} {high}");
    assert!(!search.is_limited_by_client());
}
