//! Where the measured things come from: facts of a session that are neither of the machine nor of the environment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use assay_campaign::{Pattern, Plan};

use crate::tools;

/// Facts by name, each with a dot in it, so that none is taken for an environment variable. What is not known is absent.
pub fn facts(plan: &Plan) -> BTreeMap<String, String> {
    let found = [
        ("git.commit", git(plan.directory())),
        ("driver.nvidia", read("/proc/driver/nvidia/version")),
        ("driver.amdgpu", read("/sys/module/amdgpu/version")),
        ("container.image", container()),
        ("python.packages", packages(plan)),
        ("run.profiler", profiler(plan)),
    ];
    let mut facts: BTreeMap<String, String> =
        found.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    for pattern in &plan.patterns {
        let fact = facts.entry(format!("read.{}", pattern.metric)).or_default();
        let separator = if fact.is_empty() { "" } else { " or " };
        *fact += &format!("{separator}{}", described(pattern));
    }
    facts
}

/// How a pattern reads its metric: runs that were read in another way have other numbers.
fn described(pattern: &Pattern) -> String {
    let Pattern { regex, group, unit, factor, keep, stream, .. } = pattern;
    let stream = stream.map_or_else(String::new, |stream| format!(" of {}", stream.file()));
    let keep = format!("{keep:?}").to_lowercase();
    format!("`{regex}` (group {group}, {keep}{stream}) × {factor} {unit}")
}

/// Without these, git gets what a partial clone lacks by a program that the repository names, and writes its index.
const GIT_ENVIRONMENT: [(&str, &str); 2] = [("GIT_NO_LAZY_FETCH", "1"), ("GIT_OPTIONAL_LOCKS", "0")];

/// The commit of the campaign's directory, with `-dirty` behind it where files differ from it.
fn git(directory: &Path) -> Option<String> {
    // One look at the files, where `describe --dirty` takes two; nothing is written to the repository. A repository's own
    // configuration may name programs that are started to look for changes.
    const WORDS: &str =
        "--no-pager -c core.fsmonitor=false -c core.hooksPath=/dev/null -c protocol.allow=never";
    const STATUS: &str =
        "status --porcelain=v2 --branch --no-ahead-behind --untracked-files=no --ignore-submodules=all";
    tools::program("git")?;
    let split = |words: &str| words.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let mut words = vec!["git".to_owned()];
    words.extend(split(WORDS));
    words.extend(without_filters(directory)?);
    words.extend(split(STATUS));
    commit(&tools::printed(&words, &GIT_ENVIRONMENT, directory)?)
}

/// Options that turn off the programs that contents of files go through; none where these cannot be listed.
fn without_filters(directory: &Path) -> Option<Vec<String>> {
    // One is always there: without any, git fails as it does where the configuration cannot be read.
    const LIST: &str = "git -c filter.none.clean= config -z --name-only --get-regexp ^filter\\.";
    let words: Vec<String> = LIST.split(' ').map(str::to_owned).collect();
    let listed = tools::printed(&words, &GIT_ENVIRONMENT, directory)?;
    filter_options(&listed)
}

fn filter_options(listed: &str) -> Option<Vec<String>> {
    // What was cut off, is not UTF-8, or would end the name of an option early cannot be turned off.
    if listed.len() >= tools::MOST_HEARD || listed.contains([char::REPLACEMENT_CHARACTER, '=']) {
        return None;
    }
    let filters =
        listed.split('\0').filter_map(|name| Some(name.strip_prefix("filter.")?.rsplit_once('.')?.0));
    let filters: BTreeSet<&str> = filters.collect();
    let options = filters.into_iter().flat_map(|filter| {
        let empty = ["clean=", "process=", "required=false"];
        empty.into_iter().flat_map(move |ending| ["-c".to_owned(), format!("filter.{filter}.{ending}")])
    });
    Some(options.collect())
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

/// Variables that attach a profiler to what is started, with what their value must have for that.
const PROFILERS: [(&str, &str); 7] = [
    ("PVTI_OPTIONS", ""),
    ("POPLAR_ENGINE_OPTIONS", "autoReport."),
    ("CUDA_INJECTION64_PATH", ""),
    ("HSA_TOOLS_LIB", ""),
    ("ROCP_TOOL_LIB", ""),
    ("INTEL_LIBITTNOTIFY64", ""),
    ("PYTHONPROFILEIMPORTTIME", ""),
];

/// The variables by which runs inherit a profiler, from this process or from their platform. Those of the campaign file are
/// part of what its cells are.
fn profiler(plan: &Plan) -> Option<String> {
    let inherited =
        PROFILERS.iter().filter_map(|(name, _)| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    let platforms = plan.platforms.iter().flat_map(|platform| platform.environment.clone());
    profilers(inherited.chain(platforms))
}

fn profilers(variables: impl Iterator<Item = (String, String)>) -> Option<String> {
    let attaches = |(name, value): &(String, String)| {
        PROFILERS.iter().any(|(known, part)| known == name && !value.is_empty() && value.contains(part))
    };
    let mut names: Vec<String> = variables.filter(attaches).map(|(name, _)| name).collect();
    names.sort();
    names.dedup();
    (!names.is_empty()).then(|| names.join(", "))
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
    use std::path::Path;
    use std::process::Command;

    use super::{commit, filter_options, git, profilers};

    #[test]
    fn profilers_are_known_by_their_variables() {
        let found = |name: &str, value: &str| profilers([(name.to_owned(), value.to_owned())].into_iter());
        let reports = r#"{"autoReport.all":"true"}"#;
        assert_eq!(found("POPLAR_ENGINE_OPTIONS", reports).as_deref(), Some("POPLAR_ENGINE_OPTIONS"));
        assert_eq!(found("POPLAR_ENGINE_OPTIONS", "{}"), None);
        assert_eq!(found("PVTI_OPTIONS", "").or_else(|| found("PATH", "x")), None);
    }

    #[test]
    fn a_commit_is_dirty_where_tracked_files_differ_from_it() {
        let clean = "# branch.oid 0a1b\n# branch.head main\n";
        assert_eq!(commit(clean).as_deref(), Some("0a1b"));
        let changed = format!("{clean}1 .M N... 100644 100644 100644 0a1b 0a1b file\n");
        assert_eq!(commit(&changed).as_deref(), Some("0a1b-dirty"));
        assert_eq!(commit("# branch.oid (initial)\n"), None);
        assert_eq!(commit(""), None);
    }

    #[test]
    fn no_program_of_a_repository_is_executed() {
        let repository = tempfile::tempdir().unwrap();
        let directory = repository.path();
        let run = |words: &[&str]| {
            let done = Command::new("git").current_dir(directory).args(words).output().unwrap();
            assert!(done.status.success(), "{words:?}: {}", String::from_utf8_lossy(&done.stderr));
        };
        run(&["init", "-q"]);
        let kinds = [("a", "clean"), ("b.c", "process"), ("Long Name", "clean")];
        let attributes: String = kinds
            .iter()
            .zip(1..)
            .map(|((name, _), n)| format!("file{n} filter={}\n", name.replace(' ', "_")))
            .collect();
        std::fs::write(directory.join(".gitattributes"), attributes).unwrap();
        for number in 1..=3 {
            std::fs::write(directory.join(format!("file{number}")), "one\n").unwrap();
        }
        run(&["add", "-A"]);
        run(&["-c", "user.name=n", "-c", "user.email=e@e", "commit", "-qm", "one"]);
        let mark = directory.join("executed");
        for (name, kind) in kinds {
            let key = format!("filter.{}.{kind}", name.replace(' ', "_"));
            run(&["config", &key, &format!("touch '{}'; cat", mark.display())]);
            run(&["config", &format!("filter.{}.required", name.replace(' ', "_")), "true"]);
        }
        // Of another time and the same size, so that git has to read them.
        for number in 1..=3 {
            let file =
                std::fs::File::options().write(true).open(directory.join(format!("file{number}"))).unwrap();
            file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        }
        let found = git(directory).unwrap();
        assert!(!found.ends_with("-dirty") && found.len() == 40, "{found}");
        assert!(!mark.exists());
        assert_eq!(git(Path::new("/")), None);
    }

    #[test]
    fn filters_that_cannot_be_turned_off_leave_no_commit() {
        assert_eq!(filter_options("filter.clean\0").unwrap(), Vec::<String>::new());
        assert_eq!(filter_options("filter.x.y.smudge\0").unwrap().len(), 6);
        assert_eq!(filter_options("filter.a=b.clean\0"), None);
        assert_eq!(filter_options("filter.\u{fffd}.clean\0"), None);
    }
}
