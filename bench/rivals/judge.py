"""The work of bench/judge by scipy and ruptures: one line `NAME CPU_SECONDS RESULT` each."""

import math
import sys
import time

import numpy as np
import ruptures
import scipy.stats

values = np.array([float(word) for word in sys.argv[1].split()])

begin = time.process_time()
ends = ruptures.Pelt(model="normal", min_size=20, jump=1).fit(values).predict(pen=15 * math.log(len(values)))
print("ruptures", time.process_time() - begin, ",".join(str(end) for end in ends))

begin = time.process_time()
interval = scipy.stats.bootstrap(
    (values[:1000],), np.mean, n_resamples=10000, method="percentile", rng=np.random.default_rng(1)
).confidence_interval
print("scipy", time.process_time() - begin, interval.low, interval.high)
