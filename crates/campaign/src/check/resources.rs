//! Resource requests against the limits of a platform, with the arithmetic and the largest value that fits.

use assay_model::entry::PlannedCell;
use assay_model::platform::Limits;
use assay_model::{Settings, Value};

use super::Groups;
use crate::campaign::{Amount, Campaign, ResourceQuantity};
use crate::expression::NameScope;
use crate::problem::{Problem, Severity};
use crate::quantity::show_size;

/// What one run asks of its platform. What is absent was not asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Resources {
    pub nodes: Option<u64>,
    /// Tasks over all nodes.
    pub tasks: Option<u64>,
    pub tasks_per_node: Option<u64>,
    pub cpus_per_task: Option<u64>,
    /// Memory on each node, in bytes.
    pub memory_bytes: Option<u64>,
    /// Accelerators on each node.
    pub devices: Option<u64>,
}

/// What does not fit, which request it is about, and what would fit.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Finding {
    check: &'static str,
    severity: Severity,
    about: About,
    message: String,
    hint: String,
}

/// The request that a finding points at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum About {
    Nodes,
    Tasks,
    TasksPerNode,
    CpusPerTask,
    Memory,
    Devices,
}

/// Checks a cell and gives what it asks for; none for a cell that does not fit and is to be left out.
pub(super) fn check(
    campaign: &Campaign,
    cell: &PlannedCell,
    limits: &Limits,
    groups: &mut Groups<'_>,
) -> Option<Resources> {
    let request = &campaign.resources;
    let platform = cell.cell.platform.as_str();
    let mut amount = |check, amount: &Option<Amount>, least: u64| {
        let amount = amount.as_ref()?;
        match evaluate(amount, &cell.settings, platform, least) {
            Ok(number) => Some(number),
            Err(problem) => {
                groups.add(check, cell, || *problem);
                None
            }
        }
    };
    let resources = Resources {
        nodes: amount("nodes", &request.nodes, 1),
        tasks: amount("tasks", &request.tasks, 1),
        tasks_per_node: amount("tasks_per_node", &request.tasks_per_node, 1),
        cpus_per_task: amount("cpus_per_task", &request.cpus_per_task, 1),
        memory_bytes: amount("memory", &request.memory, 1),
        devices: amount("devices", &request.devices, 0),
    };
    let mut fits = true;
    for mut finding in findings(&resources, limits, platform) {
        if request.leave_out && finding.severity == Severity::Error {
            fits = false;
            finding.severity = Severity::Warning;
            finding.message.push_str("; left out");
        }
        let about = match finding.about {
            About::Nodes => &request.nodes,
            About::Tasks => &request.tasks,
            About::TasksPerNode => &request.tasks_per_node,
            About::CpusPerTask => &request.cpus_per_task,
            About::Memory => &request.memory,
            About::Devices => &request.devices,
        };
        let place = about.as_ref().map(|amount| amount.place.clone());
        groups.add(finding.check, cell, || Problem {
            severity: finding.severity,
            message: finding.message,
            span: place,
            label: None,
            hint: Some(finding.hint),
        });
    }
    fits.then_some(resources)
}

/// The number a request comes to for one cell.
fn evaluate(amount: &Amount, settings: &Settings, platform: &str, least: u64) -> Result<u64, Box<Problem>> {
    let wrong = |shown: String| {
        let problem = Problem::error(format!("an integer of at least {least} is needed, not {shown}"));
        Box::new(problem.at(amount.place.clone()))
    };
    match &amount.quantity {
        ResourceQuantity::Fixed(number) if *number >= least => Ok(*number),
        ResourceQuantity::Fixed(number) => Err(wrong(number.to_string())),
        ResourceQuantity::Computed(condition) => {
            let scope = NameScope { settings, platform: Some(platform) };
            let value =
                condition.expression.evaluate(scope).map_err(|error| Box::new(condition.failure(error)))?;
            let whole = match value {
                Value::Integer(number) => u64::try_from(number).ok(),
                Value::Float(number) if number.fract() == 0.0 && (0.0..9e15).contains(&number) => {
                    Some(number as u64)
                }
                _ => None,
            };
            // Four digits are enough to see that a number is not whole.
            let value = match value {
                Value::Float(number) => Value::Float((number * 1e4).round() / 1e4),
                other => other,
            };
            whole
                .filter(|number| *number >= least)
                .ok_or_else(|| wrong(format!("`{}` = {value}", condition.expression.text())))
        }
    }
}

fn findings(asked: &Resources, limits: &Limits, platform: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    spread(asked, &mut findings);
    nodes(asked, limits, platform, &mut findings);
    cpus(asked, limits, platform, &mut findings);
    let mut error = |check, about, message, hint| {
        findings.push(Finding { check, severity: Severity::Error, about, message, hint });
    };
    if let (Some(memory), Some(limit)) = (asked.memory_bytes, limits.memory_per_node_bytes)
        && memory > limit
    {
        let message = format!("{} of memory requested, a node has {}", show_size(memory), show_size(limit));
        error("memory_limit", About::Memory, message, format!("at most {} fit", show_size(limit)));
    }
    if let (Some(devices), Some(limit)) = (asked.devices, limits.devices_per_node)
        && devices > limit
    {
        let device = limits.device.as_deref().unwrap_or("accelerator");
        let message = format!("{} per node requested, a node has {limit}", count(devices, device));
        error(
            "devices_limit",
            About::Devices,
            message,
            format!("at most {} per node fit", count(limit, device)),
        );
    }
    findings
}

/// Tasks against the nodes that were asked for.
fn spread(asked: &Resources, findings: &mut Vec<Finding>) {
    if let (Some(nodes), Some(tasks), None) = (asked.nodes, asked.tasks, asked.tasks_per_node)
        && tasks < nodes
    {
        findings.push(Finding {
            check: "idle_nodes",
            severity: Severity::Error,
            about: About::Nodes,
            message: format!("{} requested for {}", count(nodes, "node"), count(tasks, "task")),
            hint: format!("at most {} fit: every node needs a task", count(tasks, "node")),
        });
    }
    let (Some(tasks), Some(per_node), Some(nodes)) = (asked.tasks, asked.tasks_per_node, asked.nodes) else {
        return;
    };
    let needed = tasks.div_ceil(per_node);
    let arithmetic = format!("{} at {per_node} per node", count(tasks, "task"));
    if needed > nodes {
        let fit = count(nodes.saturating_mul(per_node), "task");
        findings.push(Finding {
            check: "spread",
            severity: Severity::Error,
            about: About::Tasks,
            message: format!("{arithmetic} need {}, {nodes} requested", count(needed, "node")),
            hint: format!("at most {fit} fit on {}; or request {needed} nodes", count(nodes, "node")),
        });
    } else if needed < nodes {
        findings.push(Finding {
            check: "unused_nodes",
            severity: Severity::Warning,
            about: About::Nodes,
            message: format!("{} requested, but {arithmetic} fill only {needed}", count(nodes, "node")),
            hint: format!("request {}", count(needed, "node")),
        });
    }
}

/// Nodes, asked for or needed, against those a run may have.
fn nodes(asked: &Resources, limits: &Limits, platform: &str, findings: &mut Vec<Finding>) {
    let Some(limit) = limits.nodes else { return };
    let needed = match (asked.tasks, asked.tasks_per_node) {
        (Some(tasks), Some(per_node)) => Some(tasks.div_ceil(per_node)),
        _ => None,
    };
    let (nodes, about, message) = match (asked.nodes, needed) {
        (Some(nodes), _) => (nodes, About::Nodes, format!("{} requested", count(nodes, "node"))),
        (None, Some(needed)) => {
            let tasks = count(asked.tasks.unwrap_or(0), "task");
            let per_node = asked.tasks_per_node.unwrap_or(0);
            (needed, About::Tasks, format!("{tasks} at {per_node} per node need {}", count(needed, "node")))
        }
        (None, None) => return,
    };
    if nodes <= limit {
        return;
    }
    let hint = match asked.tasks_per_node {
        Some(per_node) => format!(
            "at most {} fit: {} at {per_node} per node",
            count(limit, "node"),
            count(limit.saturating_mul(per_node), "task")
        ),
        None => format!("at most {} fit", count(limit, "node")),
    };
    let message = format!("{message}, a run on `{platform}` may have {limit}");
    findings.push(Finding { check: "nodes_limit", severity: Severity::Error, about, message, hint });
}

/// CPUs of the tasks on one node against those of a node.
fn cpus(asked: &Resources, limits: &Limits, platform: &str, findings: &mut Vec<Finding>) {
    let Some(limit) = limits.cpus_per_node else { return };
    let per_task = asked.cpus_per_task.unwrap_or(1);
    let mut error = |check, about, message, hint| {
        findings.push(Finding { check, severity: Severity::Error, about, message, hint });
    };
    if per_task > limit {
        let message =
            format!("{} per task requested, a node of `{platform}` has {limit}", count(per_task, "CPU"));
        error(
            "cpus_per_task_limit",
            About::CpusPerTask,
            message,
            format!("at most {} per task fit", count(limit, "CPU")),
        );
        return;
    }
    let fit = limit / per_task;
    let per_node = match (asked.tasks_per_node, asked.tasks, asked.nodes) {
        (Some(per_node), ..) => Some(per_node),
        (None, Some(tasks), Some(nodes)) => Some(tasks.div_ceil(nodes)),
        _ => None,
    };
    if let Some(per_node) = per_node.filter(|per_node| *per_node > fit) {
        let needed = per_node.saturating_mul(per_task);
        let message = format!(
            "{} per node at {} each need {needed} CPUs, a node of `{platform}` has {limit}",
            count(per_node, "task"),
            count(per_task, "CPU")
        );
        let mut hint = format!("at most {} per node fit", count(fit, "task"));
        if asked.cpus_per_task.is_some() && limit / per_node > 0 {
            hint.push_str(&format!(", or at most {} per task", count(limit / per_node, "CPU")));
        }
        let about = if asked.tasks_per_node.is_some() { About::TasksPerNode } else { About::Tasks };
        error("cpus_limit", about, message, hint);
    }
    // Without a say on nodes, tasks may spread over all the nodes a run may have.
    if let (None, None, Some(tasks), Some(nodes)) = (per_node, asked.nodes, asked.tasks, limits.nodes) {
        let fit = fit.saturating_mul(nodes);
        if tasks > fit {
            let message = format!(
                "{} at {} each need {} CPUs, `{platform}` has {limit} on each of {}",
                count(tasks, "task"),
                count(per_task, "CPU"),
                tasks.saturating_mul(per_task),
                count(nodes, "node")
            );
            error("cpus_limit", About::Tasks, message, format!("at most {} fit", count(fit, "task")));
        }
    }
}

/// `1 node`, `2 nodes`.
fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// CPUs to bind runs to that a node does not seem to have. A warning only: CPU numbers need not be consecutive.
pub(super) fn check_pin(campaign: &Campaign, limits: &[Limits], problems: &mut Vec<Problem>) {
    let (Some(highest), Some(place)) = (campaign.run.pin.last(), &campaign.run.pin_place) else { return };
    for ((platform, _), limits) in campaign.platforms.iter().zip(limits) {
        if let Some(cpus) = limits.cpus_per_node.filter(|cpus| *highest as u64 >= *cpus) {
            let message =
                format!("CPU {highest} is pinned to, but a node of `{}` has {cpus} CPUs", platform.name);
            let hint = format!("CPUs are counted from 0: the last is {}", cpus.saturating_sub(1));
            problems.push(Problem::warning(message).at(place.clone()).hint(hint));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits {
            nodes: Some(8),
            cpus_per_node: Some(128),
            memory_per_node_bytes: Some(1 << 30),
            devices_per_node: Some(4),
            device: Some("IPU".into()),
            time_s: None,
        }
    }

    fn found(asked: Resources) -> Vec<(String, String)> {
        findings(&asked, &limits(), "pod").into_iter().map(|found| (found.message, found.hint)).collect()
    }

    fn one(asked: Resources) -> (String, String) {
        let mut found = found(asked);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }

    #[test]
    fn tasks_that_need_more_nodes_than_asked() {
        let asked =
            Resources { tasks: Some(32), tasks_per_node: Some(16), nodes: Some(1), ..Resources::default() };
        let (message, hint) = one(asked);
        assert_eq!(message, "32 tasks at 16 per node need 2 nodes, 1 requested");
        assert_eq!(hint, "at most 16 tasks fit on 1 node; or request 2 nodes");
        assert!(found(Resources { nodes: Some(2), ..asked }).is_empty());
        assert!(one(Resources { nodes: Some(3), ..asked }).0.contains("fill only 2"));
        assert!(found(Resources { nodes: None, ..asked }).is_empty());
    }

    #[test]
    fn every_limit_names_the_largest_value_that_fits() {
        let none = Resources::default();
        let cases = [
            (Resources { nodes: Some(9), ..none }, "9 nodes requested", "at most 8 nodes fit"),
            (
                Resources { tasks: Some(144), tasks_per_node: Some(16), ..none },
                "need 9 nodes",
                "128 tasks at 16",
            ),
            (
                Resources { cpus_per_task: Some(200), ..none },
                "200 CPUs per task",
                "at most 128 CPUs per task",
            ),
            (
                Resources { tasks_per_node: Some(16), cpus_per_task: Some(16), ..none },
                "16 tasks per node at 16 CPUs each need 256 CPUs, a node of `pod` has 128",
                "at most 8 tasks per node fit, or at most 8 CPUs per task",
            ),
            (
                Resources { tasks: Some(64), nodes: Some(1), cpus_per_task: Some(4), ..none },
                "need 256",
                "32 tasks",
            ),
            (Resources { tasks: Some(2000), ..none }, "need 2000 CPUs", "at most 1024 tasks fit"),
            (Resources { memory_bytes: Some(2 << 30), ..none }, "2 GiB of memory", "at most 1 GiB fit"),
            (
                Resources { nodes: Some(3), tasks: Some(2), ..none },
                "3 nodes requested for 2 tasks",
                "at most 2 nodes",
            ),
            (
                Resources { devices: Some(5), ..none },
                "5 IPUs per node requested",
                "at most 4 IPUs per node fit",
            ),
        ];
        for (asked, message, hint) in cases {
            let found = one(asked);
            assert!(found.0.contains(message) && found.1.contains(hint), "{found:?}");
        }
        let whole_node = Resources {
            nodes: Some(2),
            tasks: Some(32),
            tasks_per_node: Some(16),
            cpus_per_task: Some(8),
            memory_bytes: Some(1 << 30),
            devices: Some(4),
        };
        assert!(found(whole_node).is_empty());
    }
}
