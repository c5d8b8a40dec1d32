//! What a probe of a machine found. Missing is absent, never zero.

use serde::{Deserialize, Serialize};

/// Facts about one machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The host's name.
    pub host: String,
    /// Operating system and release, for example `Debian GNU/Linux 12`.
    pub system: Option<String>,
    /// Kernel release.
    pub kernel: Option<String>,
    /// CPU model name.
    pub cpu: Option<String>,
    /// Instruction sets that matter for numeric work, for example `avx2`.
    pub cpu_features: Vec<String>,
    /// CPUs this process may use.
    pub cpus_usable: Option<u32>,
    /// Logical CPUs of the machine.
    pub cpus: Option<u32>,
    /// Physical cores of the machine.
    pub cores: Option<u32>,
    pub memory_bytes: Option<u64>,
    /// Memory available now, in bytes.
    pub memory_available_bytes: Option<u64>,
    /// The CPU frequency governor, if the kernel has one.
    pub governor: Option<String>,
    /// Whether the CPU may raise its clock above the base frequency.
    pub turbo: Option<bool>,
    /// Runnable tasks over the last minute.
    pub load: Option<f64>,
    /// The hypervisor or container the machine is in.
    #[serde(alias = "virtualisation")]
    pub virtualization: Option<String>,
    /// Accelerators found, one line each.
    pub accelerators: Vec<String>,
    /// Identifies one boot of the machine.
    pub boot: Option<String>,
}
