//! Commands as a campaign: what hyperfine does, with a record.

use std::path::Path;
use std::process::Command;

use assay_campaign::{Campaign, CampaignBuilder, Shell, template};
use assay_launch::tools;
use assay_model::metric::Direction;

use crate::failure::Mistake;
use crate::options::bench::{Better, CommandOptions, ShellName};
use crate::workloads;

/// The name of the campaign, and the first part of its record's.
pub const NAME: &str = "bench";

/// Runs of each command where no number is asked for.
const REPEATS: u32 = 10;

/// The campaign that the flags describe.
pub fn campaign(options: &CommandOptions) -> Result<CampaignBuilder, Mistake> {
    check(options)?;
    let varied: Vec<&str> = options.vary.iter().map(|(name, _)| name.as_str()).collect();
    let command = |text: &str| with_literal_braces(text, &varied);
    let mut campaign = Campaign::for_commands(NAME).compact();
    campaign = match (options.commands.as_slice(), options.names.is_empty()) {
        ([only], true) => campaign.command(command(only)).question(only.clone()),
        (commands, _) => {
            let names = names(commands, &options.names);
            campaign.commands(names.into_iter().zip(commands.iter().map(|text| command(text))).collect())
        }
    };
    for (name, values) in &options.vary {
        campaign = campaign.setting(name, values.clone());
    }
    campaign = campaign.shell(match options.shell {
        _ if options.no_shell => Shell::None,
        ShellName::Sh => Shell::Sh,
        ShellName::Bash => Shell::Bash,
        ShellName::None => Shell::None,
    });
    if let Some(runs) = options.warmup {
        campaign = campaign.warmup(runs);
    }
    if let Some(text) = &options.prepare {
        campaign = campaign.prepare(command(text));
    }
    if let Some(text) = &options.cleanup {
        campaign = campaign.cleanup(command(text));
    }
    if let Some(metric) = &options.metric {
        campaign = campaign.headline(metric);
        campaign = match options.better {
            Some(Better::Higher) => campaign.metric(metric, Direction::Higher),
            Some(Better::Lower) => campaign.metric(metric, Direction::Lower),
            None => campaign,
        };
    }
    Ok(super::measured(campaign, &options.measure, options.timeout, REPEATS))
}

fn check(options: &CommandOptions) -> Result<(), Mistake> {
    let (commands, names) = (options.commands.len(), options.names.len());
    if commands == 0 {
        return Err(Mistake::new(
            "no command to measure",
            "`assay bench 'COMMAND'`, or the name of a workload",
        ));
    }
    if names != 0 && names != commands {
        let text = format!("{commands} commands, but {names} names");
        return Err(Mistake::new(text, "give `--name` once for each command, in their order"));
    }
    options.commands.iter().try_for_each(|command| refuse_workload(command))?;
    // What `--prepare` runs may create the program.
    if options.prepare.is_none() {
        options.commands.iter().try_for_each(|command| refuse_missing(command, options))?;
    }
    Ok(())
}

/// A command whose program is nowhere would fail in every run. The shell is asked only about names that are not a file,
/// which may be its own commands.
fn refuse_missing(command: &str, options: &CommandOptions) -> Result<(), Mistake> {
    let Some(program) = command.split_whitespace().next() else { return Ok(()) };
    let is_plain = program.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-+./".contains(letter));
    if !is_plain || tools::program(program).is_some() || Path::new(program).is_file() {
        return Ok(());
    }
    let shell = match options.shell {
        _ if options.no_shell => None,
        ShellName::None => None,
        ShellName::Sh => Some("sh"),
        ShellName::Bash => Some("bash"),
    };
    let knows = |shell: &str| {
        let ask = Command::new(shell).args(["-c", "command -v -- \"$1\"", shell, program]).output();
        ask.is_ok_and(|answer| answer.status.success())
    };
    if shell.is_some_and(knows) {
        return Ok(());
    }
    let hint = match program.contains('/') {
        true => "check the path",
        false => "check the spelling, or add its directory to PATH",
    };
    Err(Mistake::new(format!("no program `{program}`"), hint))
}

/// A word that is a workload, or nearly one, and no program: `lm` after other options, or `lmm`.
fn refuse_workload(command: &str) -> Result<(), Mistake> {
    let is_word = command.chars().all(|letter| letter.is_ascii_alphanumeric());
    if !is_word || tools::program(command).is_some() {
        return Ok(());
    }
    let near = workloads::descriptions().into_iter().find(|workload| {
        workload.name == command || (command.len() > 2 && strsim::levenshtein(&workload.name, command) == 1)
    });
    match near {
        Some(workload) if workload.name == command => Err(Mistake::new(
            format!("no program `{command}`, but a workload has that name"),
            format!("the name of a workload comes before all options: `assay bench {command} …`"),
        )),
        Some(workload) => Err(Mistake::new(
            format!("no program `{command}`"),
            format!("did you mean the workload `{}`?", workload.name),
        )),
        None => Ok(()),
    }
}

/// The names of the commands: as given, else the commands themselves. The same name twice is numbered.
fn names(commands: &[String], given: &[String]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (index, command) in commands.iter().enumerate() {
        let name = given.get(index).unwrap_or(command);
        let same = (2..).map(|number| format!("{name} ({number})"));
        let free = std::iter::once(name.clone()).chain(same).find(|name| !names.contains(name));
        names.extend(free);
    }
    names
}

/// A command in which only the braces around varied settings are placeholders: those of awk or jq stay what they are.
fn with_literal_braces(text: &str, varied: &[&str]) -> String {
    let placeholders: Vec<String> = varied
        .iter()
        .copied()
        .chain(template::RESERVED)
        .flat_map(|name| [format!("{{{name}}}"), format!("{{{name}:q}}")])
        .collect();
    let mut written = String::with_capacity(text.len());
    let mut shell = 0_usize;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let placeholder = placeholders.iter().find(|placeholder| rest.starts_with(placeholder.as_str()));
        let piece = match (placeholder, first) {
            (Some(placeholder), _) => placeholder.as_str(),
            // `${…}` belongs to the shell, and templates leave it alone.
            (None, '$') if rest.starts_with("${") => {
                shell += 1;
                "${"
            }
            (None, _) => &rest[..first.len_utf8()],
        };
        match (placeholder, first) {
            (None, '}') if shell > 0 => {
                shell -= 1;
                written.push('}');
            }
            (None, '{' | '}') => written.extend([first, first]),
            _ => written.push_str(piece),
        }
        rest = rest.get(piece.len()..).unwrap_or_default();
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn braces_of_other_languages_stay() {
        let written = with_literal_braces("awk '{print $1}' {n} ${HOME:-{n}} {m} {run_directory}", &["n"]);
        assert_eq!(written, "awk '{{print $1}}' {n} ${HOME:-{n}} {{m}} {run_directory}");
        let template = template::Template::parse(&written).unwrap();
        let filled = template.render(&|name| Some(name.to_uppercase().as_str().into())).unwrap();
        assert_eq!(filled, "awk '{print $1}' N ${HOME:-N} {m} RUN_DIRECTORY");
    }

    #[test]
    fn names_are_the_commands_unless_given_and_never_the_same() {
        let commands = ["a", "b", "a"].map(str::to_owned);
        assert_eq!(names(&commands, &[]), ["a", "b", "a (2)"]);
        assert_eq!(names(&commands, &["x", "y", "z"].map(str::to_owned)), ["x", "y", "z"]);
    }
}
