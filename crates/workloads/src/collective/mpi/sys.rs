//! Sums over all ranks that go on in the background. The safe interface of the crate `mpi` ties the buffers of such a sum
//! to a scope on the stack; here they are owned by the sum, which outlives the call that started it.

#![expect(unsafe_code, reason = "the C interface of MPI")]

use mpi::ffi;

/// Numbers of one call: its count is a C `int`.
const MOST: usize = 1 << 30;

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
        // SAFETY: as above; requests that are over are null, which counts as over.
        unsafe {
            ffi::MPI_Waitall(
                self.requests.len() as i32,
                self.requests.as_mut_ptr(),
                ffi::RSMPI_STATUSES_IGNORE,
            );
        }
        self.requests.clear();
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
