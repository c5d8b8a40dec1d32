//! Keys that say how jobs are submitted: under `[batch]` of a platform file, and under `[platform.NAME]` of a campaign,
//! which overrides the file.

use assay_model::platform::BatchSettings;

use crate::quantity;
use crate::reader::{Item, Table};

/// The placeholder for the number of accelerators on each node.
const DEVICES: &str = "{devices}";

/// What a site may refuse a submission without.
const REQUIRED: [&str; 4] = ["account", "partition", "filesystems", "time"];
/// The placeholders of the command that starts a run on its nodes.
const STARTED_WITH: [&str; 5] = ["{nodes}", "{tasks}", "{tasks_per_node}", "{cpus_per_task}", DEVICES];

/// A placeholder in a start command that nothing stands for. `${NAME}` is for the shell.
fn unknown_placeholder(command: &str) -> Option<&str> {
    let open = command.match_indices('{').map(|(at, _)| at);
    let mut own = open.filter(|at| !command.get(..*at).unwrap_or_default().ends_with('$'));
    own.find_map(|at| {
        let rest = command.get(at..)?;
        let placeholder = rest.get(..=rest.find('}')?)?;
        (!STARTED_WITH.contains(&placeholder)).then_some(placeholder)
    })
}

/// Reads the keys that the table has into the settings.
pub(crate) fn read(table: &mut Table<'_>, settings: &mut BatchSettings) {
    for (key, slot) in [
        ("account", &mut settings.account),
        ("partition", &mut settings.partition),
        ("qos", &mut settings.qos),
        ("constraint", &mut settings.constraint),
        ("reservation", &mut settings.reservation),
        ("filesystems", &mut settings.filesystems),
        ("start", &mut settings.start),
        ("directory", &mut settings.directory),
        ("assay", &mut settings.assay),
    ] {
        if let Some(item) = table.get(key) {
            *slot = line(&item);
        }
    }
    if let Some(item) = table.get("start")
        && let Some(unknown) = settings.start.as_deref().and_then(unknown_placeholder)
    {
        item.problem(format!("`{unknown}` in `{}` is not one of {}", item.name, STARTED_WITH.join(", ")));
    }
    if let Some(item) = table.get("devices") {
        settings.devices = line(&item);
        if settings.devices.as_ref().is_some_and(|option| !option.contains(DEVICES)) {
            item.problem(format!("`{}` must have `{DEVICES}` where the number goes", item.name));
        }
    }
    for (key, slot) in [("options", &mut settings.options), ("setup", &mut settings.setup)] {
        if let Some(texts) = table.get(key).and_then(|item| item.texts()) {
            *slot = texts.into_iter().map(|text| text.value).collect();
        }
    }
    if let Some(item) = table.get("required") {
        let texts = item.texts().unwrap_or_default();
        if let Some(unknown) = texts.iter().find(|text| !REQUIRED.contains(&text.value.as_str())) {
            item.problem(format!(
                "`{}` in `{}` is not one of {}",
                unknown.value,
                item.name,
                REQUIRED.join(", ")
            ));
        }
        settings.required = texts.into_iter().map(|text| text.value).collect();
    }
    settings.exclusive =
        table.get("exclusive").map_or(settings.exclusive, |item| item.switch() == Some(true));
    for (key, slot) in [("time", &mut settings.time_s), ("pack_time", &mut settings.pack_time_s)] {
        if let Some(item) = table.get(key) {
            *slot = duration(&item);
        }
    }
    if let Some(seconds) = table.get("poll").and_then(|item| duration(&item)) {
        settings.poll_s = seconds;
    }
    let mut count = |key| {
        let number = table.get(key).and_then(|item| item.whole(1..=100_000));
        number.and_then(|number| u32::try_from(number).ok())
    };
    settings.pack = count("pack").unwrap_or(settings.pack);
    settings.array = count("array").unwrap_or(settings.array);
    settings.queued = count("queued").or(settings.queued);
}

/// A text that becomes one option of a job script.
fn line(item: &Item<'_>) -> Option<String> {
    let text = item.text()?.value;
    if text.contains(['\n', '\r']) {
        item.problem(format!("`{}` must be one line", item.name));
    }
    Some(text)
}

fn duration(item: &Item<'_>) -> Option<f64> {
    let text = item.text()?;
    quantity::parse_duration(&text.value).map_err(|reason| item.problem(reason)).ok()
}
