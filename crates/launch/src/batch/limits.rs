//! What a partition of Slurm allows, asked before anything is submitted: a request that cannot start is refused with the
//! reason instead of waiting forever.

use assay_model::Platform;
use assay_model::platform::Limits;

use super::host::Host;
use super::time;

/// The limits of a platform's partition, where its scheduler shows them; the error says why it does not.
pub fn probe(platform: &Platform) -> Option<Result<Limits, String>> {
    if platform.launcher != "slurm" {
        return None;
    }
    let host = Host::new(platform.host.as_deref());
    Some(ask(&host, platform))
}

fn ask(host: &Host, platform: &Platform) -> Result<Limits, String> {
    let show = |words: &[&str]| -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let answer = host.run(&words, &[])?;
        // The last of many lines says what it came to.
        let reason = || answer.reason().rsplit("; ").next().unwrap_or_default().to_owned();
        if answer.is_success { Ok(answer.text()) } else { Err(reason()) }
    };
    let partitions = show(&["scontrol", "show", "partition", "-o"])?;
    let line = match platform.batch.partition.as_deref() {
        Some(wanted) => {
            // Several may be named; the first that exists is as good as any for finding what cannot work.
            let mut wanted = wanted.split(',').filter_map(|name| find(&partitions, "PartitionName", name));
            wanted.next().ok_or_else(|| {
                let known: Vec<&str> =
                    partitions.lines().filter_map(|line| field(line, "PartitionName")).collect();
                format!("there is no partition `{}`; there are {}", wanted_text(platform), known.join(", "))
            })?
        }
        None => match find(&partitions, "Default", "YES") {
            Some(line) => line,
            None => return Err("no partition is the default; name one by `partition`".to_owned()),
        },
    };
    let name = field(line, "PartitionName").unwrap_or_default();
    let partition = format!("--partition={name}");
    let nodes = show(&["sinfo", "--noheader", "--Node", &partition, "-o", "%c|%m|%G|%T"])?;
    let device = platform.limits.device.as_deref().unwrap_or("gpu").to_lowercase();
    let mut limits = limits(line, &nodes, &device);
    // What a plug-in of the site hands out, such as `--ipus`, is not among the gres.
    if limits.devices_per_node == Some(0) && !counts_gres(platform.batch.devices.as_deref()) {
        limits.devices_per_node = None;
    }
    Ok(limits)
}

/// Whether an option that requests accelerators counts gres.
fn counts_gres(option: Option<&str>) -> bool {
    option.is_none_or(|option| option.starts_with("--gres") || option.starts_with("--gpus"))
}

fn wanted_text(platform: &Platform) -> &str {
    platform.batch.partition.as_deref().unwrap_or_default()
}

fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

fn find<'a>(text: &'a str, name: &str, value: &str) -> Option<&'a str> {
    text.lines().find(|line| field(line, name) == Some(value))
}

/// The limits: of the partition, and the most that any of its nodes has. Drained nodes count too: they may come back.
fn limits(partition: &str, nodes: &str, device: &str) -> Limits {
    let number = |name: &str| field(partition, name).and_then(|value| value.parse::<u64>().ok());
    let mut limits = Limits {
        nodes: [number("MaxNodes"), number("TotalNodes")].into_iter().flatten().min(),
        time_s: field(partition, "MaxTime").and_then(time::parse_clock),
        ..Limits::default()
    };
    let most = |slot: &mut Option<u64>, value: Option<u64>| *slot = (*slot).max(value);
    for line in nodes.lines() {
        let fields: Vec<&str> = line.split('|').collect();
        let [cpus, memory, gres, _] = fields.as_slice() else { continue };
        let whole = |text: &str| text.trim_end_matches('+').parse::<u64>().ok();
        most(&mut limits.cpus_per_node, whole(cpus));
        most(&mut limits.memory_per_node_bytes, whole(memory).map(|mebibytes| mebibytes << 20));
        most(&mut limits.devices_per_node, Some(devices(gres, device)));
    }
    if let (Some(cpus), Some(most)) = (limits.cpus_per_node, number("MaxCPUsPerNode")) {
        limits.cpus_per_node = Some(cpus.min(most));
    }
    limits
}

/// `gpu:a100:4(S:0-1),ipu:2`: how many of a kind.
fn devices(gres: &str, kind: &str) -> u64 {
    let count = |part: &str| {
        let part = part.split('(').next().unwrap_or_default();
        let mut words = part.split(':');
        (words.next() == Some(kind)).then(|| words.next_back().and_then(|count| count.parse::<u64>().ok()))?
    };
    gres.split(',').filter_map(count).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_those_of_the_partition_and_its_largest_node() {
        let partition = "PartitionName=short Default=NO MaxNodes=1 MaxTime=1-00:02:00 MaxCPUsPerNode=UNLIMITED TotalNodes=2";
        let nodes = "16|4000|gpu:a100:2(S:0-1),ipu:4|idle\n32|8000+|(null)|drained\n";
        let found = limits(partition, nodes, "ipu");
        assert_eq!((found.nodes, found.cpus_per_node, found.devices_per_node), (Some(1), Some(32), Some(4)));
        assert_eq!((found.memory_per_node_bytes, found.time_s), (Some(8000 << 20), Some(86520.0)));
        assert_eq!(limits(partition, nodes, "gpu").devices_per_node, Some(2));
        assert!(counts_gres(None) && counts_gres(Some("--gres=ipu:{devices}")));
        assert!(!counts_gres(Some("--ipus={devices}")), "a plug-in of the site");
        assert_eq!(limits("MaxTime=UNLIMITED MaxNodes=UNLIMITED TotalNodes=4", "", "x").nodes, Some(4));
    }
}
