//! `run`: run or resume a campaign and print the result.

use crate::detach;
use crate::execute::{self, run_and_print};
use crate::exit::Exit;
use crate::options;
use crate::registry::Purpose;
use crate::screen::Screen;

/// Expands a campaign, runs what is missing, prints the result.
pub fn run(options: &options::Run, screen: &mut Screen) -> anyhow::Result<Exit> {
    let assembled = execute::assemble_file(
        &options.campaign,
        options.on.as_deref(),
        options.how.record.as_deref(),
        Purpose::Run,
    )?;
    if options.detach {
        return detach::detach(&assembled.record, execute::permissions(&options.how), screen);
    }
    let exit = run_and_print(&assembled, &options.how, screen)?;
    if exit == Exit::RunsFailed {
        screen.hint(&format!("`{} --only failed` reruns the failed runs", command_line(options)));
    }
    Ok(exit)
}

/// The command line that resumes a campaign, with its own file and record.
fn command_line(options: &options::Run) -> String {
    let quoted = |path: &std::path::Path| assay_campaign::shell::quoted(&path.display().to_string());
    let record = options.how.record.as_deref().map(|record| format!(" --record {}", quoted(record)));
    let on = options.on.as_deref().map(|on| format!(" --on {}", assay_campaign::shell::quoted(on)));
    format!("assay run {}{}{}", quoted(&options.campaign), on.unwrap_or_default(), record.unwrap_or_default())
}
