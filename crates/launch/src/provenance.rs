//! Where the measured things come from: facts of a session that are neither of the machine nor of the environment.

use std::collections::BTreeMap;
use std::path::Path;

use assay_campaign::Plan;

use crate::tools;

/// Facts by name, each with a dot in it, so that none is taken for an environment variable. What is not known is absent.
pub fn facts(plan: &Plan) -> BTreeMap<String, String> {
    let found = [
        ("git.commit", git(plan.directory())),
        ("driver.nvidia", read("/proc/driver/nvidia/version")),
        ("driver.amdgpu", read("/sys/module/amdgpu/version")),
        ("container.image", container()),
        ("python.packages", packages(plan)),
    ];
    found.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// The commit of the campaign's directory, with `-dirty` behind it where files differ from it.
fn git(directory: &Path) -> Option<String> {
    // One look at the files, where `describe --dirty` takes two; nothing is written to the repository. A repository's own
    // configuration may name a program that is started to look for changes.
    const WORDS: &str = "git --no-optional-locks -c core.fsmonitor=false -c core.hooksPath=/dev/null \
                         status --porcelain=v2 --branch --no-ahead-behind --untracked-files=no";
    tools::program("git")?;
    let words: Vec<String> = WORDS.split(' ').map(str::to_owned).collect();
    commit(&tools::printed(&words, directory)?)
}

fn commit(status: &str) -> Option<String> {
    let commit = status.lines().find_map(|line| line.strip_prefix("# branch.oid "))?;
    let is_commit = !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    let dirty = if status.lines().all(|line| line.starts_with('#')) { "" } else { "-dirty" };
    is_commit.then(|| format!("{commit}{dirty}"))
}

fn read(path: &str) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    text.lines().next().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty())
}

/// The image that this process runs in, as Apptainer, Singularity and Podman say it.
fn container() -> Option<String> {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    variable("APPTAINER_CONTAINER").or_else(|| variable("SINGULARITY_CONTAINER")).or_else(|| {
        let text = std::fs::read_to_string("/run/.containerenv").ok()?;
        let image = text.lines().find_map(|line| line.strip_prefix("image="))?;
        Some(image.trim_matches('"').to_owned())
    })
}

/// The packages of the Python that the campaign's commands start, on one line; none where they start none.
fn packages(plan: &Plan) -> Option<String> {
    let python = plan.programs().into_iter().find(|name| {
        let file = Path::new(name).file_name().map(|file| file.to_string_lossy().into_owned());
        file.is_some_and(|file| file.starts_with("python"))
    })?;
    const LIST: &str = "from importlib.metadata import distributions as d; \
                        print(*sorted({f\"{p.metadata['Name']}=={p.version}\" for p in d()}))";
    tools::first_line(&[python, "-c".to_owned(), LIST.to_owned()], plan.directory())
}

#[cfg(test)]
mod tests {
    use super::commit;

    #[test]
    fn a_commit_is_dirty_where_tracked_files_differ_from_it() {
        let clean = "# branch.oid 0a1b\n# branch.head main\n";
        assert_eq!(commit(clean).as_deref(), Some("0a1b"));
        let changed = format!("{clean}1 .M N... 100644 100644 100644 0a1b 0a1b file\n");
        assert_eq!(commit(&changed).as_deref(), Some("0a1b-dirty"));
        assert_eq!(commit("# branch.oid (initial)\n"), None);
        assert_eq!(commit(""), None);
    }
}
