//! Lists of words for finding the name of a number in its sentence.

/// Words before a bare number that make it a label: `Table 1`.
pub(super) const LABELS: [&str; 20] = [
    "table",
    "figure",
    "fig",
    "section",
    "homework",
    "hw",
    "task",
    "campaign",
    "experiment",
    "problem",
    "chapter",
    "part",
    "version",
    "release",
    "python",
    "assignment",
    "question",
    "appendix",
    "line",
    "page",
];

/// Words that may stand between a number and the name of what it is about: `3× higher throughput`.
pub(super) const BETWEEN: [&str; 20] = [
    "higher",
    "lower",
    "faster",
    "slower",
    "more",
    "less",
    "better",
    "worse",
    "larger",
    "smaller",
    "greater",
    "longer",
    "shorter",
    "difference",
    "increase",
    "decrease",
    "reduction",
    "improvement",
    "in",
    "the",
];

/// Words that no name of a metric goes over.
pub(super) const STOPS: [&str; 20] = [
    "and", "or", "with", "for", "than", "which", "that", "while", "but", "from", "in", "on", "is", "was",
    "are", "were", "by", "despite", "across", "when",
];

/// Words before the name of a metric that say more about it: `output throughput`, `mean latency`.
pub(super) const QUALIFIERS: [&str; 22] = [
    "training",
    "train",
    "test",
    "validation",
    "eval",
    "mean",
    "average",
    "avg",
    "median",
    "peak",
    "total",
    "final",
    "output",
    "prompt",
    "global",
    "processing",
    "compile",
    "queue",
    "success",
    "step",
    "max",
    "min",
];
