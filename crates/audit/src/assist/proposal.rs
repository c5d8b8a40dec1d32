//! What a model answered: claims as JSON, with the bounds that a stranger's answer needs.

use serde_json::Value;

/// Claims that are taken from an answer; more are rejected.
const MOST_CLAIMS: usize = 200;
/// The longest quote, and the most operands of a claim.
const LONGEST_QUOTE: usize = 1000;
const MOST_OPERANDS: usize = 40;

/// How a stated number follows from others, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    Equal,
    /// The first over the second.
    Ratio,
    /// By how much of the second the first is more.
    Increase,
    /// By how much of the second the first is less.
    Decrease,
    /// The first minus the second.
    Difference,
    Product,
    Sum,
    Mean,
    Maximum,
    Minimum,
}

impl Relation {
    pub const ALL: [Relation; 10] = [
        Relation::Equal,
        Relation::Ratio,
        Relation::Increase,
        Relation::Decrease,
        Relation::Difference,
        Relation::Product,
        Relation::Sum,
        Relation::Mean,
        Relation::Maximum,
        Relation::Minimum,
    ];

    /// The word that stands for it.
    pub fn word(self) -> &'static str {
        match self {
            Relation::Equal => "equal",
            Relation::Ratio => "ratio",
            Relation::Increase => "increase",
            Relation::Decrease => "decrease",
            Relation::Difference => "difference",
            Relation::Product => "product",
            Relation::Sum => "sum",
            Relation::Mean => "mean",
            Relation::Maximum => "maximum",
            Relation::Minimum => "minimum",
        }
    }

    /// The arithmetic in words.
    pub(super) fn formula(self, operands: &[String]) -> String {
        let joined = |sign: &str| operands.join(sign);
        match self {
            Relation::Equal => joined(", "),
            Relation::Ratio => joined(" / "),
            Relation::Increase => format!("{} - 1", joined(" / ")),
            Relation::Decrease => format!("1 - {}", joined(" / ")),
            Relation::Difference => joined(" - "),
            Relation::Product => joined(" × "),
            Relation::Sum => joined(" + "),
            Relation::Mean | Relation::Maximum | Relation::Minimum => {
                format!("{}({})", self.word(), joined(", "))
            }
        }
    }
}

/// A claim that a model proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Proposal {
    pub(super) quote: String,
    pub(super) stated: String,
    pub(super) relation: Relation,
    pub(super) operands: Vec<String>,
}

/// The claims of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proposals {
    pub(super) claims: Vec<Proposal>,
    /// Claims that are none, each with the reason.
    pub(super) malformed: Vec<String>,
}

/// Why an answer has no claims.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProposalError {
    /// It is no JSON.
    NoJson(String),
    /// It is JSON without a list of claims.
    NoClaims,
}

impl std::fmt::Display for ProposalError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ProposalError::NoJson(reason) => write!(formatter, "its answer is not valid JSON: {reason}"),
            ProposalError::NoClaims => write!(formatter, "its answer has no list `claims`"),
        }
    }
}

impl std::error::Error for ProposalError {}

/// Reads an answer. Models like to put JSON between fences or after a sentence; the first object counts.
pub fn proposals(answer: &str) -> Result<Proposals, ProposalError> {
    let start = answer.find('{').ok_or_else(|| ProposalError::NoJson("there is no object".to_owned()))?;
    let mut values = serde_json::Deserializer::from_str(&answer[start..]).into_iter::<Value>();
    let value = match values.next() {
        Some(Ok(value)) => value,
        Some(Err(error)) => return Err(ProposalError::NoJson(error.to_string())),
        None => return Err(ProposalError::NoClaims),
    };
    let claims = value.get("claims").and_then(Value::as_array).ok_or(ProposalError::NoClaims)?;
    let mut found = Proposals::default();
    for claim in claims.iter().take(MOST_CLAIMS) {
        match proposal(claim) {
            Ok(proposal) if found.claims.contains(&proposal) => {}
            Ok(proposal) => found.claims.push(proposal),
            Err(reason) => found.malformed.push(reason),
        }
    }
    if claims.len() > MOST_CLAIMS {
        found.malformed.push(format!("{} more than {MOST_CLAIMS} claims", claims.len() - MOST_CLAIMS));
    }
    Ok(found)
}

fn proposal(claim: &Value) -> Result<Proposal, String> {
    let text = |name: &str| {
        let text = claim.get(name).and_then(Value::as_str).map(str::to_owned);
        text.ok_or_else(|| format!("a claim without `{name}`"))
    };
    let quote = text("quote")?;
    if quote.len() > LONGEST_QUOTE {
        return Err(format!("a quote of {} bytes", quote.len()));
    }
    let word = text("relation")?;
    let relation = Relation::ALL.into_iter().find(|relation| relation.word() == word);
    let relation = relation.ok_or_else(|| format!("unknown relation `{}`", super::short(&word)))?;
    let operands = claim.get("operands").and_then(Value::as_array);
    let operands = operands.ok_or_else(|| "a claim without `operands`".to_owned())?;
    if operands.len() > MOST_OPERANDS {
        return Err(format!("a claim with {} operands", operands.len()));
    }
    let operands = operands.iter().map(|id| id.as_str().map(str::to_owned));
    let operands: Option<Vec<String>> = operands.collect();
    let operands = operands.ok_or_else(|| "a claim whose operands are not ids".to_owned())?;
    Ok(Proposal { quote, stated: text("stated")?, relation, operands })
}
