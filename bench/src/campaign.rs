//! The campaigns that are run.

/// Values 1 to a bound, as a campaign file lists them.
pub fn values(most: usize) -> String {
    (1..=most).map(|value| value.to_string()).collect::<Vec<_>>().join(", ")
}

/// A campaign of a matrix of two settings that are only labels, with the defaults for everything else.
pub fn matrix(name: &str, command: &str, a: usize, b: usize, repeats: usize) -> String {
    format!(
        "name = \"{name}\"\n\n[workload]\ncommand = \"{command}\"\nuses = [\"a\", \"b\"]\n\n\
         [vary]\na = [{}]\nb = [{}]\n\n[repeats]\nat_least = {repeats}\n",
        values(a),
        values(b)
    )
}

/// A campaign that measures real rates: checksums over blocks of several sizes.
pub fn rates(name: &str, blocks: &[u64], megabytes: u64, repeats: usize) -> String {
    let blocks = blocks.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
    format!(
        "name = \"{name}\"\n\n[workload]\n\
         command = \"{{assay}} exercise --block {{block}} --megabytes {{megabytes}}\"\n\n\
         [fixed]\nmegabytes = {megabytes}\n\n[vary]\nblock = [{blocks}]\n\n[repeats]\nat_least = {repeats}\n\n\
         [read]\nheadline = \"throughput\"\n\n[[read.metric]]\nname = \"throughput\"\nunit = \"MB/s\"\n"
    )
}

/// The campaign of the kill bench: runs that are quick, talk, sleep, and leave children behind.
pub fn troubled() -> String {
    let kinds = KINDS.map(|kind| format!("\"{kind}\"")).join(", ");
    format!(
        "name = \"troubled\"\n\n[workload]\ncommand = \"sh work.sh {{kind}} {{item}}\"\n\n\
         [vary]\nkind = [{kinds}]\nitem = [{}]\n\n[repeats]\nat_least = {REPEATS}\n",
        values(ITEMS)
    )
}

const KINDS: [&str; 5] = ["quick", "talk", "sleep", "linger", "leave"];
const ITEMS: usize = 8;
const REPEATS: usize = 4;

/// How many runs the troubled campaign plans.
pub const TROUBLED_RUNS: usize = KINDS.len() * ITEMS * REPEATS;

/// The script of the troubled campaign. Every process of a run writes lines with the run's name to one shared file,
/// in append mode, so that the order of the lines is the order of events. `linger` leaves a child in its process
/// group; `leave` leaves one that made a session of its own. Both would go on for half a minute if nobody ended them.
pub const TROUBLED_SCRIPT: &str = r#"
note() { echo "$1 $ASSAY_RUN" >> events; }
stay() { ticks=0; while [ $ticks -lt 1500 ]; do sleep 0.02; note tick; ticks=$((ticks + 1)); done; }
if [ "$1" = stay ]; then stay; exit; fi
note start
case "$1" in
talk) line=0; while [ $line -lt 60 ]; do echo "line $line of some output"; line=$((line + 1)); done ;;
sleep) sleep "0.0$((10 + ($2 * 7) % 20))" ;;
linger) stay > /dev/null 2>&1 & sleep 0.005 ;;
leave) setsid sh work.sh stay > /dev/null 2>&1 < /dev/null & sleep 0.03 ;;
esac
echo "metric=1.0"
note end
"#;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_lists_its_values() {
        let text = matrix("m", "true", 2, 3, 1);
        assert!(text.contains("a = [1, 2]\nb = [1, 2, 3]\n"), "{text}");
    }
}
