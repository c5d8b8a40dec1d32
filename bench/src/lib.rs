//! What the benches share. They measure the shipped binary `assay`, with its defaults, against goals and rivals.
//!
//! | file | holds |
//! |---|---|
//! | `bin/overhead.rs` | what one run costs, beside other programs that run commands |
//! | `bin/scale.rs` | whether many runs, cells and entries stay cheap |
//! | `bin/cluster.rs` | what campaigns through a scheduler cost, many simulated runs, ranks over MPI |
//! | `bin/crash.rs` | whether a killed coordinator or a loss of power costs anything |
//! | `bin/abuse.rs` | whether deliberate abuse loses, leaks, hangs, swells or steers anything |
//! | `bin/read.rs` | how fast logs are read, beside other programs that search text |
//! | `bin/audit.rs` | how many planted errors and changed numbers the audit finds, and its false alarms |
//! | `bin/lm.rs`, `bin/mnist.rs` | the native engine beside PyTorch |
//! | `bin/load.rs` | the load client beside others, on one core each |
//! | `bin/judge.rs` | error rates of verdicts, coverage of intervals, and their speed |
//! | `bin/bert.rs` | the native engine beside PyTorch for single sentences |
//! | `bin/page.rs` | whether reports and the page stay fast and small |
//! | `browser.rs` | when a browser paints a page first |
//! | `place.rs` | where a bench works, and the binary it measures |
//! | `measure.rs` | CPU and wall-clock time of commands, and what `/proc` reports of a process |
//! | `figures.rs` | medians, ranges and tables |
//! | `goal.rs` | goals and whether they hold |
//! | `campaign.rs` | the campaigns that are run |
//! | `records.rs` | records larger than anybody would wait for |
//! | `heavy.rs` | a run that prints much, beside the same command with its output in a file |
//! | `rivals.rs` | other programs that run commands |
//! | `random.rs` | a small generator that is the same everywhere |
//! | `reading.rs` | large logs, what they hold, and programs that search them |
//! | `planted.rs` | write-ups with planted errors, and how many of them an audit finds |
//! | `written.rs`, `written/` | write-ups with known truth, and one number of them changed at a time |
//! | `engines.rs` | peers that compute a built-in workload, and their contest |
//! | `lm.rs`, `mnist.rs` | the cases of these workloads in which goals are set |
//! | `load.rs`, `load/` | load clients and the endpoint that they ask |
//! | `bert.rs` | peers that answer sentences, and their contest |
//! | `abuse/` | attacks on the binary, and what came of them |
//! | `judge.rs`, `judge/` | simulated tables and intervals |
//! | `cluster/` | a real Slurm, rivals on it, a simulated cluster, ranks |
//! | `crash/` | scenes, kills, the audit of a record, and the loss of power |

pub mod abuse;
pub mod bert;
pub mod browser;
pub mod campaign;
pub mod cluster;
pub mod crash;
pub mod engines;
pub mod figures;
pub mod goal;
pub mod heavy;
pub mod judge;
pub mod lm;
pub mod load;
pub mod measure;
pub mod mnist;
pub mod place;
pub mod planted;
pub mod random;
pub mod reading;
pub mod records;
pub mod rivals;
pub mod written;
