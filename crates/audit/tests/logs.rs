//! Statements about logs: durations with the wait inside, epochs that never ran.

use assay_audit::{Level, audit};
use assay_model::Document;

fn wrong(text: &str) -> Vec<String> {
    let document = Document { file: "a.md".to_owned(), text: text.to_owned(), ..Document::default() };
    let bad = |level: Level| matches!(level, Level::Contradicted | Level::Doubtful);
    let found = audit(&[document]).findings.into_iter().filter(|finding| bad(finding.level));
    found.map(|finding| finding.summary).collect()
}

const JOB: &str = "```\n2025-03-04 18:20:05  job 71 created\n2025-03-04 19:26:41  job 71 scheduled\n\
                   2025-03-04 20:09:12  step 0     loss 10.91\n2025-03-04 20:50:48  step 1000  loss 4.127\n\
                   2025-03-04 21:32:22  step 2000  loss 3.652\n2025-03-04 21:33:40  job 71 completed\n```\n";

#[test]
fn a_duration_of_the_whole_job_is_not_that_of_its_steps() {
    let found = wrong(&format!("# Run\n\n{JOB}\nTraining took 3 h 13 min for 2000 steps.\n"));
    assert!(found.iter().any(|summary| summary.contains("1 h 23 min")), "{found:?}");
    let right = wrong(&format!("# Run\n\n{JOB}\nTraining took 1 h 23 min for 2000 steps.\n"));
    assert_eq!(right, Vec::<String>::new());
    let whole = wrong(&format!("# Run\n\n{JOB}\nThe job took 3 h 13 min from start to end.\n"));
    assert_eq!(whole, Vec::<String>::new());
}

#[test]
fn more_epochs_than_the_log_counts_to_did_not_run() {
    let log: Vec<String> = (1..=12)
        .map(|epoch| format!("2025-03-04 {:02}:15:00  epoch {epoch}/12  loss 0.{}", 6 + epoch, 90 - epoch))
        .collect();
    let text = |epochs: u32| format!("# Job\n\nSettings: {epochs} epochs\n\n```\n{}\n```\n", log.join("\n"));
    assert!(wrong(&text(20)).iter().any(|summary| summary.contains("epoch = 12")), "{:?}", wrong(&text(20)));
    assert_eq!(wrong(&text(12)), Vec::<String>::new());
}
