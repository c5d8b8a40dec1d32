//! `run`: carry out what is missing of a campaign and print the answer.

use assay_judge::GateResult;
use assay_launch::{Ending, Outcome};
use assay_store::{Index, Record};

use crate::answer::print;
use crate::execute::{self, Assembled};
use crate::exit::Exit;
use crate::options::{self, How};
use crate::records;
use crate::registry::Purpose;
use crate::screen::Screen;

/// Expands a campaign, carries out what is missing, prints the answer.
pub fn run(options: &options::Run, screen: &mut Screen) -> anyhow::Result<Exit> {
    let assembled = execute::assemble_file(&options.campaign, options.how.record.as_deref(), Purpose::Run)?;
    carry_out(&assembled, &options.how, screen)
}

/// Carries out a plan and prints the answer.
pub fn carry_out(assembled: &Assembled, how: &How, screen: &mut Screen) -> anyhow::Result<Exit> {
    let (record, outcome) = execute::execute(assembled, how, screen)?;
    let index = record.index()?;
    let gates = print_answer(&record, &index, &outcome, screen)?;
    Ok(execute::exit(&outcome, execute::failed_runs(&index)?, &gates))
}

fn print_answer(
    record: &Record,
    index: &Index,
    outcome: &Outcome,
    screen: &mut Screen,
) -> anyhow::Result<Vec<GateResult>> {
    print::print_table(record, index, None, false, screen)?;
    let gates = print::print_gates(record, index, screen)?;
    print::print_failures(record, index, screen)?;
    if outcome.ending == Ending::Interrupted {
        screen.say("interrupted; what was measured is kept, and the same command goes on from here");
    } else if !outcome.precise {
        screen.warn("the asked precision was not reached in every cell");
        screen.hint("raise `[repeats] at_most` or `budget`, or look for noise with `assay doctor`");
    }
    screen.say(&format!("record: {}", records::shown(record.directory())));
    Ok(gates)
}
