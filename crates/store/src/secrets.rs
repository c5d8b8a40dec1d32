//! What of an environment goes into a record, and what is masked. Only variables that can change a measurement are
//! kept; a value that is or may be a secret never is.

use std::collections::BTreeMap;
use std::path::Path;

pub use assay_model::is_secret_name;

/// What is written in place of a secret.
pub const MASK: &str = "(masked)";

/// Variables that are kept, by their exact names: threads, devices, locale, libraries.
const KEPT: [&str; 22] = [
    "PATH",
    "LANG",
    "LANGUAGE",
    "TZ",
    "SHELL",
    "HOSTNAME",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "PYTHONPATH",
    "PYTHONHASHSEED",
    "VIRTUAL_ENV",
    "CONDA_DEFAULT_ENV",
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "RUSTFLAGS",
    "CUDA_HOME",
    "CUDA_VERSION",
    "ROCM_VERSION",
    "TOKENIZERS_PARALLELISM",
    "LOADEDMODULES",
];

/// Variables that are kept by how their names begin: schedulers, thread pools, devices and libraries.
const KEPT_PREFIXES: [&str; 29] = [
    "LC_",
    "OMP_",
    "KMP_",
    "GOMP_",
    "MKL_",
    "OPENBLAS_",
    "BLIS_",
    "NUMEXPR_",
    "TBB_",
    "RAYON_",
    "MALLOC_",
    "CUDA_",
    "NVIDIA_",
    "NCCL_",
    "HIP_",
    "ROCR_",
    "HSA_",
    "ZE_",
    "ONEAPI_",
    "XLA_",
    "JAX_",
    "TF_",
    "PYTORCH_",
    "TORCH_",
    "SLURM_",
    "PBS_",
    "LSB_",
    "OMPI_",
    "ASSAY_",
];

/// Whether a variable is kept in records without being asked for.
pub fn is_kept(name: &str) -> bool {
    let kept = KEPT.contains(&name) || KEPT_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
    // What Terraform hands to its modules begins like the settings of TensorFlow.
    let is_terraform = ["TF_VAR_", "TF_HTTP_"].iter().any(|prefix| name.starts_with(prefix));
    kept && !is_terraform && !is_secret_name(name)
}

/// Values that must not be written anywhere.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    /// The longest first, so that a secret that contains another is masked as a whole.
    values: Vec<String>,
}

/// Shorter values are likely to be found in innocent text.
const SHORTEST_SECRET: usize = 6;

impl Secrets {
    /// The secrets among variables: those whose names say so, and those that are named as holding one.
    pub fn among<'a>(variables: impl IntoIterator<Item = (&'a str, &'a str)>, named: &[String]) -> Secrets {
        let mut values: Vec<String> = variables
            .into_iter()
            .filter(|(name, _)| is_secret_name(name) || named.iter().any(|secret| secret == name))
            .map(|(_, value)| value.trim().to_owned())
            .filter(|value| value.len() >= SHORTEST_SECRET && value != MASK && !is_path(value))
            .collect();
        values.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        values.dedup();
        Secrets { values }
    }

    /// Adds the secrets of another list.
    pub fn join(mut self, other: Secrets) -> Secrets {
        self.values.extend(other.values);
        self.values.sort_unstable_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        self.values.dedup();
        self
    }

    /// Whether a text holds one of the secrets or the password of a URL.
    pub fn are_in(&self, text: &str) -> bool {
        self.values.iter().any(|value| text.contains(value)) || mask_urls(text) != text
    }

    /// The text without secrets and without the passwords of URLs.
    pub fn mask(&self, text: &str) -> String {
        let mut masked = mask_urls(text);
        for value in &self.values {
            if masked.contains(value) {
                masked = masked.replace(value, MASK);
            }
        }
        masked
    }
}

/// Whether a value is the path of something that exists, which a variable such as `SSL_CERT_FILE` holds. A secret may begin
/// with a slash, too.
pub fn is_path(value: &str) -> bool {
    value.starts_with('/') && Path::new(value).exists()
}

/// A text with user names and passwords taken out of its URLs: `https://(masked)@host/`.
pub fn mask_urls(text: &str) -> String {
    let mut masked = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find("://") {
        let (before, behind) = rest.split_at(start + 3);
        masked.push_str(before);
        let end = behind
            .find(|letter: char| letter.is_whitespace() || "/?#\"<>`\\".contains(letter))
            .unwrap_or(behind.len());
        let (authority, after) = behind.split_at(end);
        match authority.rsplit_once('@') {
            Some((_, host)) => {
                masked.push_str(MASK);
                masked.push('@');
                masked.push_str(host);
            }
            None => masked.push_str(authority),
        }
        rest = after;
    }
    masked.push_str(rest);
    masked
}

/// The line of a script that asks for a variable whose value is not stored.
pub fn required(name: &str) -> String {
    format!(": \"${{{name}:?set it first: its value is a secret and is not stored}}\"\n")
}

/// The variables of an environment that a record keeps: those that can change a measurement, and those in `more`.
pub fn kept_environment(
    variables: impl IntoIterator<Item = (String, String)>,
    more: &[String],
    secrets: &Secrets,
) -> BTreeMap<String, String> {
    variables
        .into_iter()
        .filter(|(name, _)| is_kept(name) || more.iter().any(|wanted| wanted == name))
        .map(|(name, value)| {
            let value = if is_secret_name(&name) { MASK.to_owned() } else { secrets.mask(&value) };
            (name, value)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_hold_secrets_are_known() {
        let secret = [
            "AUTHORIZATION",
            "GH_PAT",
            "PGPASS",
            "AWS_ACCESS_KEY_ID",
            "HF_AUTH",
            "HF_TOKEN",
            "OPENAI_API_KEY",
            "DB_PASSWORD",
            "SLURM_JWT_TOKEN",
            "SENTRY_DSN",
            "MYSQL_PWD",
            "ssh_private",
            "CUDA_LICENSE_SERVER",
        ];
        for name in secret {
            assert!(is_secret_name(name) && !is_kept(name), "{name}");
        }
        for name in ["PATH", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES", "LC_ALL", "SLURM_JOB_ID"] {
            assert!(is_kept(name), "{name}");
        }
        for name in ["HOME", "TF_VAR_db", "DATABASE_URL", "HTTPS_PROXY", "MAIL", "EDITOR"] {
            assert!(!is_kept(name), "{name}");
        }
    }

    #[test]
    fn passwords_of_urls_and_known_values_are_masked() {
        assert_eq!(mask_urls("a http://me:pw@proxy:80/x b"), "a http://(masked)@proxy:80/x b");
        assert_eq!(mask_urls("https://host/a@b ://"), "https://host/a@b ://");
        assert_eq!(mask_urls("postgres://u:p@ss@db"), "postgres://(masked)@db");
        assert_eq!(mask_urls("(see db://u:p,a;s(s)'@db)"), "(see db://(masked)@db)");
        let secrets = Secrets::among([("MY_VALUE", "s3cr3t-value"), ("HOME", "/root")], &["MY_VALUE".into()]);
        assert_eq!(secrets.mask("curl -H s3cr3t-value"), "curl -H (masked)");
        let environment = [("MY_VALUE", "s3cr3t-value"), ("LD_PRELOAD", "x-s3cr3t-value"), ("HOME", "/root")];
        let pairs = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let kept = kept_environment(pairs, &["MY_VALUE".to_owned()], &secrets);
        assert_eq!(kept["MY_VALUE"], MASK);
        assert_eq!(kept["LD_PRELOAD"], "x-(masked)");
        assert_eq!(kept.len(), 2);
    }
}
