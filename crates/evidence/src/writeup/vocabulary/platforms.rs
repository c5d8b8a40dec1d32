//! Makes of machines and kinds of devices.

/// Words that show the make of a machine. The first list is about one make; a GPU of no named make is taken for
/// NVIDIA's, and a processor counts only where nothing else is named.
const MAKES: &[(&str, &[&str])] = &[
    ("cerebras", &["cerebras", "wafer", "csx", "wse", "cs2", "cs3", "cs-2", "cs-3"]),
    ("graphcore", &["graphcore", "ipu", "ipus", "poptorch", "poplar", "popart"]),
    ("sambanova", &["sambanova", "rdu", "rdus", "sn10", "sn30", "sn40", "sn40l", "sambaflow"]),
    ("groq", &["groq", "groqchip", "groqrack", "groqflow", "lpu", "lpus"]),
    ("gaudi", &["gaudi", "gaudi2", "gaudi3", "hpu", "hpus", "habana"]),
    ("amd", &["amd", "rocm", "mi210", "mi250", "mi250x", "mi300", "mi300x", "mi300a", "mi325x"]),
    ("apple", &["apple", "mps", "m1", "m2", "m3", "m4", "metal"]),
    ("google", &["tpu", "tpus", "tpuv4", "tpuv5e"]),
    ("aws", &["trainium", "trainium2", "inferentia", "trn1", "inf2"]),
    ("intel", &["xpu", "xpus", "pvc"]),
    (
        "nvidia",
        &[
            "nvidia", "cuda", "a100", "h100", "h200", "b200", "gb200", "gh200", "v100", "p100", "t4", "l4",
            "l40", "l40s", "a10", "a10g", "a40", "rtx", "dgx", "hgx",
        ],
    ),
];
const GRAPHICS: [&str; 4] = ["gpu", "gpus", "vram", "vllm"];
const PROCESSORS: [&str; 5] = ["cpu", "cpus", "xeon", "epyc", "x86"];

/// The make of machine that a text names, in lower case. None where it names two makes.
pub fn platform(text: &str) -> Option<&'static str> {
    let mut named: Option<&'static str> = None;
    let mut graphics = false;
    let mut processor = false;
    for word in text.split(|character: char| !(character.is_alphanumeric() || character == '-')) {
        let word = word.trim_matches('-').to_lowercase();
        if let Some(make) = make_of(&word) {
            if named.is_some_and(|before| before != make) {
                return None;
            }
            named = Some(make);
        }
        let mut parts = word.split('-');
        graphics |= parts.clone().any(|part| GRAPHICS.contains(&part));
        processor |= parts.any(|part| PROCESSORS.contains(&part));
    }
    named.or(if graphics {
        Some("nvidia")
    } else if processor {
        Some("cpu")
    } else {
        None
    })
}

/// The make that a word names; a hyphenated word counts by its parts too.
fn make_of(word: &str) -> Option<&'static str> {
    let find = |word: &str| MAKES.iter().find(|(_, words)| words.contains(&word)).map(|(make, _)| *make);
    find(word).or_else(|| word.split('-').find_map(find))
}

/// The kind of device that a word names, as it is best written: `cuda` gives `CUDA`.
pub fn device(word: &str) -> Option<&'static str> {
    let name = match word.to_lowercase().as_str() {
        "cpu" => "CPU",
        "gpu" => "GPU",
        "cuda" => "CUDA",
        "mps" => "MPS",
        "ipu" => "IPU",
        "rdu" => "RDU",
        "hpu" => "HPU",
        "tpu" => "TPU",
        "xpu" => "XPU",
        "lpu" => "LPU",
        "csx" => "CSX",
        "rocm" => "ROCm",
        "xla" => "XLA",
        "groq" | "groqchip" => "GroqChip",
        _ => return None,
    };
    Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_tell_the_make() {
        for (text, make) in [
            ("## Task 1: Cerebras", "cerebras"),
            ("All of it ran on a CS-3", "cerebras"),
            ("Metis (SambaNova)", "sambanova"),
            ("Sophia (GPU)", "nvidia"),
            ("CUDA / forward", "nvidia"),
            ("MPS", "apple"),
            ("AMD GPU", "amd"),
            ("multi-GPU", "nvidia"),
            ("groq", "groq"),
            ("GroqChip against the CPU", "groq"),
            ("cpu", "cpu"),
            ("4 IPUs", "graphcore"),
            ("Gaudi2 HPU", "gaudi"),
        ] {
            assert_eq!(platform(text), Some(make), "{text}");
        }
        for text in ["", "Results", "Cerebras against Graphcore", "3090 samples", "metallic"] {
            assert_eq!(platform(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_without_panic(text in ".*") {
            let _ = (platform(&text), device(&text));
        }
    }
}
