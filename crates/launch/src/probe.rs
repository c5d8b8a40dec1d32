//! What this machine is. Facts that the system does not show are absent.

use std::fs;
use std::path::Path;

use assay_model::Machine;
use assay_model::platform::Limits;

/// Instruction sets worth knowing about for numeric work.
const FEATURES: [&str; 8] = ["sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512_bf16", "amx_tile"];

/// Looks at this machine.
pub fn machine() -> Machine {
    let cpuinfo = read("/proc/cpuinfo").unwrap_or_default();
    let meminfo = read("/proc/meminfo").unwrap_or_default();
    let release = rustix::system::uname();
    Machine {
        host: release.nodename().to_string_lossy().into_owned(),
        system: read("/etc/os-release").and_then(|text| quoted_field(&text, "PRETTY_NAME=")),
        kernel: Some(release.release().to_string_lossy().into_owned()),
        cpu: cpu_field(&cpuinfo, "model name"),
        cpu_features: features(&cpuinfo),
        cpus_usable: std::thread::available_parallelism()
            .ok()
            .and_then(|count| u32::try_from(count.get()).ok()),
        cpus: count(cpuinfo.lines().filter(|line| line.starts_with("processor")).count()),
        cores: cores(&cpuinfo),
        memory_bytes: memory_field(&meminfo, "MemTotal:"),
        memory_available_bytes: memory_field(&meminfo, "MemAvailable:"),
        governor: read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        turbo: turbo(),
        load: read("/proc/loadavg").and_then(|text| text.split_whitespace().next()?.parse().ok()),
        virtualization: virtualization(&cpuinfo),
        accelerators: accelerators(),
        boot: read("/proc/sys/kernel/random/boot_id"),
    }
}

/// What one run may have on this machine.
pub fn limits(machine: &Machine) -> Limits {
    Limits {
        nodes: Some(1),
        cpus_per_node: machine.cpus_usable.map(u64::from),
        memory_per_node_bytes: machine.memory_bytes,
        devices_per_node: Some(machine.accelerators.len() as u64),
        device: None,
        time_s: None,
    }
}

fn read(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(text)
}

fn count(number: usize) -> Option<u32> {
    u32::try_from(number).ok().filter(|number| *number > 0)
}

fn cpu_field(cpuinfo: &str, name: &str) -> Option<String> {
    let line = cpuinfo.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn features(cpuinfo: &str) -> Vec<String> {
    let flags = cpu_field(cpuinfo, "flags").unwrap_or_default();
    let has = |feature: &&&str| flags.split(' ').any(|flag| flag == **feature);
    FEATURES.iter().filter(has).map(|feature| (*feature).to_owned()).collect()
}

/// Physical cores: distinct pairs of socket and core.
fn cores(cpuinfo: &str) -> Option<u32> {
    let mut seen = std::collections::BTreeSet::new();
    for block in cpuinfo.split("\n\n") {
        if let (Some(socket), Some(core)) = (cpu_field(block, "physical id"), cpu_field(block, "core id")) {
            seen.insert((socket, core));
        }
    }
    count(seen.len())
}

fn memory_field(meminfo: &str, name: &str) -> Option<u64> {
    let kibibytes: u64 =
        meminfo.lines().find_map(|line| line.strip_prefix(name))?.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

fn quoted_field(text: &str, name: &str) -> Option<String> {
    Some(text.lines().find_map(|line| line.strip_prefix(name))?.trim_matches('"').to_owned())
}

fn turbo() -> Option<bool> {
    let intel = read("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|text| text == "0");
    intel.or_else(|| read("/sys/devices/system/cpu/cpufreq/boost").map(|text| text == "1"))
}

fn virtualization(cpuinfo: &str) -> Option<String> {
    let marks = ["/.dockerenv", "/run/.containerenv"];
    let container = marks.iter().any(|mark| Path::new(mark).exists()).then_some("container");
    let flags = cpu_field(cpuinfo, "flags").unwrap_or_default();
    let machine = flags.split(' ').any(|flag| flag == "hypervisor").then(|| {
        let product = read("/sys/class/dmi/id/product_name").or_else(|| read("/sys/hypervisor/type"));
        product.map_or_else(|| "virtual machine".to_owned(), |name| format!("virtual machine ({name})"))
    });
    match (machine, container) {
        (Some(machine), Some(container)) => Some(format!("{container} in a {machine}")),
        (Some(machine), None) => Some(machine),
        (None, container) => container.map(str::to_owned),
    }
}

/// Accelerators by the device files and driver trees their kernel modules make.
fn accelerators() -> Vec<String> {
    let mut found = nvidia();
    for (directory, prefix, name) in [
        ("/dev", "ipu", "Graphcore IPU"),
        ("/dev", "rdu", "SambaNova RDU"),
        ("/dev", "groqA", "Groq chip"),
        ("/dev/accel", "accel", "accelerator"),
        ("/sys/class/kfd/kfd/topology/nodes", "", "AMD GPU"),
    ] {
        let Ok(entries) = fs::read_dir(directory) else { continue };
        for entry in entries.flatten() {
            let file = entry.file_name().to_string_lossy().into_owned();
            let numbered = file.strip_prefix(prefix).is_some_and(|rest| rest.parse::<u32>().is_ok());
            // A node of AMD's tree without compute units is a CPU.
            let is_cpu = name == "AMD GPU"
                && read(&entry.path().join("properties").display().to_string())
                    .is_none_or(|text| text.lines().any(|line| line.trim() == "simd_count 0"));
            if numbered && !is_cpu {
                found.push(format!("{name} {file}"));
            }
        }
    }
    found.sort();
    found
}

fn nvidia() -> Vec<String> {
    let Ok(entries) = fs::read_dir("/proc/driver/nvidia/gpus") else { return Vec::new() };
    let model = |path: &Path| quoted_field(&fs::read_to_string(path.join("information")).ok()?, "Model:");
    entries
        .flatten()
        .map(|entry| {
            model(&entry.path()).map_or_else(|| "NVIDIA GPU".to_owned(), |name| name.trim().to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let machine = machine();
        assert!(!machine.host.is_empty());
        assert!(machine.kernel.is_some());
        assert!(machine.cpus_usable.is_some_and(|cpus| cpus >= 1));
        assert!(machine.memory_bytes.is_some_and(|bytes| bytes > 1 << 20));
        assert_eq!(limits(&machine).nodes, Some(1));
    }

    #[test]
    fn fields_are_read_from_the_kernels_text() {
        let cpuinfo = "processor\t: 0\nphysical id\t: 0\ncore id\t: 0\nmodel name\t: Test CPU\nflags\t: avx2 fma hypervisor\n\nprocessor\t: 1\nphysical id\t: 0\ncore id\t: 0\n";
        assert_eq!(cores(cpuinfo), Some(1));
        assert_eq!(features(cpuinfo), ["avx2", "fma"]);
        assert_eq!(cpu_field(cpuinfo, "model name").unwrap(), "Test CPU");
        assert_eq!(memory_field("MemTotal:  1024 kB\n", "MemTotal:"), Some(1 << 20));
    }
}
