//! Sums over all ranks that go on in the background. The safe interface of the crate `mpi` ties the buffers of such a sum
//! to a scope on the stack; here they are owned by the sum, which outlives the call that started it.

#![expect(unsafe_code, reason = "the C interface of MPI")]

use std::time::{Duration, Instant};

use mpi::ffi;

/// Numbers of one call: its count is a C `int`.
const MOST: usize = 1 << 30;

/// How long a rank waits awake: what comes this soon comes without a delay.
const AWAKE: Duration = Duration::from_micros(20);
/// How long it sleeps then, before it lets MPI work again.
const PAUSE: Duration = Duration::from_micros(20);

/// Waits until MPI is done. Its own calls wait awake, and take the core from whoever has work: where there are other
/// programs, in the end from the rank that is waited for.
fn wait_until(mut is_done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_done() {
        if began.elapsed() > AWAKE {
            std::thread::sleep(PAUSE);
        } else {
            std::hint::spin_loop();
        }
    }
}

/// The numbers of all ranks, in their order; `all` has a place for each.
pub(super) fn gather(number: f64, all: &mut [f64]) {
    // SAFETY: MPI was initialized by whoever has a rank. There is one number to send and one place for that of each rank;
    // both live until the request is over.
    let mut request = unsafe {
        let mut request = ffi::RSMPI_REQUEST_NULL;
        ffi::MPI_Iallgather(
            std::ptr::from_ref(&number).cast(),
            1,
            ffi::RSMPI_DOUBLE,
            all.as_mut_ptr().cast(),
            1,
            ffi::RSMPI_DOUBLE,
            ffi::RSMPI_COMM_WORLD,
            &mut request,
        );
        request
    };
    wait_until(|| {
        let mut is_over = 0;
        // SAFETY: the request is the one above; it is null once it is over, which counts as over.
        unsafe { ffi::MPI_Test(&mut request, &mut is_over, ffi::RSMPI_STATUS_IGNORE) };
        is_over != 0
    });
}

/// A sum under way.
pub(super) struct Sum {
    given: Vec<f32>,
    sum: Vec<f32>,
    /// What is not known to be over.
    requests: Vec<ffi::MPI_Request>,
}

impl Sum {
    /// Starts to add up `given` over all ranks, into a buffer of the same length.
    pub(super) fn start(given: Vec<f32>, mut sum: Vec<f32>) -> Sum {
        let mut requests = Vec::new();
        for (given, sum) in given.chunks(MOST).zip(sum.chunks_mut(MOST)) {
            // SAFETY: MPI was initialized by whoever has a rank. Both buffers have the given number of 32-bit floats.
            // They belong to the value that is returned, where nothing touches them until `wait` has seen the end of
            // the request; moving a vector does not move its numbers.
            let request = unsafe {
                let mut request = ffi::RSMPI_REQUEST_NULL;
                ffi::MPI_Iallreduce(
                    given.as_ptr().cast(),
                    sum.as_mut_ptr().cast(),
                    sum.len() as i32,
                    ffi::RSMPI_FLOAT,
                    ffi::RSMPI_SUM,
                    ffi::RSMPI_COMM_WORLD,
                    &mut request,
                );
                request
            };
            requests.push(request);
        }
        Sum { given, sum, requests }
    }

    /// Lets MPI work on it, without waiting.
    pub(super) fn advance(&mut self) {
        if self.requests.is_empty() {
            return;
        }
        let mut is_over = 0;
        // SAFETY: the requests are those that `start` was given.
        unsafe {
            ffi::MPI_Testall(
                self.requests.len() as i32,
                self.requests.as_mut_ptr(),
                &mut is_over,
                ffi::RSMPI_STATUSES_IGNORE,
            );
        }
        if is_over != 0 {
            self.requests.clear();
        }
    }

    fn wait(&mut self) {
        wait_until(|| {
            self.advance();
            self.requests.is_empty()
        });
    }

    /// Waits for its end; gives what was handed in, and the sum.
    pub(super) fn finish(mut self) -> (Vec<f32>, Vec<f32>) {
        self.wait();
        (std::mem::take(&mut self.given), std::mem::take(&mut self.sum))
    }
}

impl Drop for Sum {
    fn drop(&mut self) {
        if self.requests.is_empty() {
            return;
        }
        if std::thread::panicking() {
            // The other ranks may never come: MPI keeps the buffers.
            std::mem::forget((std::mem::take(&mut self.given), std::mem::take(&mut self.sum)));
        } else {
            self.wait();
        }
    }
}
