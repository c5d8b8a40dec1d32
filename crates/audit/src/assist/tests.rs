//! Good proposals are checked, bad ones are rejected, and none can contradict.

use super::*;

const TEXT: &str = "# Kernel\n\nThe job now needs 40 s instead of 50 s. That is a gain we put at 20 %, and the old \
                    one took 3 MB.\n\n| node | samples/s |\n|---|---|\n| a | 100 |\n| b | 250 |\n\nThey amount to 350 \
                    samples/s together.\n";

fn documents() -> Vec<Document> {
    vec![Document { file: "a.md".to_owned(), text: TEXT.to_owned(), ..Document::default() }]
}

fn id(listed: &[ListedQuantity], text: &str) -> String {
    let found = listed.iter().find(|quantity| quantity.text == text);
    found.unwrap_or_else(|| panic!("{text} in {listed:?}")).id.clone()
}

fn disposed(answer: impl Fn(&dyn Fn(&str) -> String) -> String) -> (Audit, Assisted) {
    let documents = documents();
    let listed = quantities(&documents);
    let answer = answer(&|text| id(&listed, text));
    let mut audit = Audit::default();
    let answer = proposals(&answer).unwrap();
    let assisted = dispose(&mut audit, &documents, &listed, &answer);
    (audit, assisted)
}

fn claim(quote: &str, stated: &str, relation: &str, operands: &[String]) -> String {
    format!(
        "Sure! ```json\n{{\"claims\":[{{\"quote\":{quote:?},\"stated\":\"{stated}\",\"relation\":\"{relation}\",\
         \"operands\":{operands:?}}}]}}\n```"
    )
}

#[test]
fn arithmetic_decides_and_doubtful_is_the_worst() {
    let decrease = |quote: &'static str, relation: &'static str| {
        disposed(move |id| claim(quote, &id("20 %"), relation, &[id("40 s"), id("50 s")]))
    };
    let (audit, assisted) = decrease("a gain we put at 20 %", "decrease");
    assert_eq!((assisted.checked, audit.findings[0].level), (1, Level::Supported));
    assert_eq!(audit.findings[0].class, Class::Assisted);
    assert!(audit.findings[0].summary.starts_with("assisted: `20 %` agrees with 1 - 40 s / 50 s = 20 %"));
    let (audit, _) = decrease("we put at 20 %", "ratio");
    assert_eq!(audit.findings[0].level, Level::Doubtful);
    assert!(!audit.contradicts());
    let (audit, _) = disposed(|id| {
        claim("They amount to 350 samples/s", &id("350 samples/s"), "sum", &[id("100"), id("250")])
    });
    assert_eq!(audit.findings[0].level, Level::Supported, "{audit:?}");
}

#[test]
fn what_is_not_in_the_document_is_rejected() {
    for (quote, stated, operands, reason) in [
        ("a gain of 20 %", "20 %", ["40 s", "50 s"], "is not in the document"),
        ("needs 40 s instead", "20 %", ["40 s", "50 s"], "does not hold"),
        ("we put at 20 %", "20 %", ["40 s", "3 MB"], "different units"),
        ("we put at 20 %", "20 %", ["20 %", "50 s"], "from itself"),
    ] {
        let (audit, assisted) = disposed(|id| claim(quote, &id(stated), "decrease", &operands.map(id)));
        assert!(audit.findings.is_empty(), "{audit:?}");
        assert!(assisted.rejected[0].contains(reason), "{:?}", assisted.rejected);
    }
    let (audit, assisted) =
        disposed(|id| claim("we put at 20 %", &id("20 %"), "ratio", &["q999".to_owned(), id("50 s")]));
    assert!(audit.findings.is_empty() && assisted.rejected[0].contains("q999"), "{assisted:?}");
    let (_, assisted) = disposed(|id| claim("we put at 20 %", &id("20 %"), "guess", &[]));
    assert!(assisted.rejected[0].contains("unknown relation"));
    let (_, assisted) = disposed(|id| claim("we put at 20 %", &id("20 %"), "sum", &[id("40 s")]));
    assert!(assisted.rejected[0].contains("number of operands"));
}

#[test]
fn answers_that_are_none_are_errors() {
    assert!(matches!(proposals("I cannot help with that."), Err(ProposalError::NoJson(_))));
    assert!(matches!(proposals("{\"claims\": [{\"quote\": \"a"), Err(ProposalError::NoJson(_))));
    assert_eq!(proposals("{\"answer\": 42}"), Err(ProposalError::NoClaims));
    let many = format!("{{\"claims\": [{}]}}", vec!["{}"; 300].join(","));
    assert_eq!(proposals(&many).unwrap().malformed.len(), 201);
    let deep = "{\"claims\":".to_owned() + &"[".repeat(100_000);
    assert!(matches!(proposals(&deep), Err(ProposalError::NoJson(_))));
}

#[test]
fn open_claims_are_closed_and_decided_ones_stay() {
    let documents = documents();
    let listed = quantities(&documents);
    let own = |level: Level| Finding {
        class: Class::Comparison,
        level,
        summary: "what `20 %` compares is not clear".to_owned(),
        arithmetic: Vec::new(),
        sources: vec![Source::new("a.md", 3)],
        operands: Vec::new(),
        advice: String::new(),
    };
    let answer = claim(
        "we put at 20 %",
        &id(&listed, "20 %"),
        "decrease",
        &[id(&listed, "40 s"), id(&listed, "50 s")],
    );
    let answer = proposals(&answer).unwrap();
    let mut audit = Audit { findings: vec![own(Level::NotChecked)], groups: Vec::new() };
    dispose(&mut audit, &documents, &listed, &answer);
    assert_eq!(audit.findings.len(), 1);
    assert_eq!(audit.findings[0].class, Class::Assisted);
    let mut audit = Audit { findings: vec![own(Level::Contradicted)], groups: Vec::new() };
    let assisted = dispose(&mut audit, &documents, &listed, &answer);
    assert_eq!((audit.findings.len(), assisted.known), (1, 1));
    assert!(audit.contradicts());
}

#[test]
fn the_question_holds_text_and_names() {
    let documents = documents();
    let listed = quantities(&documents);
    let asked = question(&documents, &listed);
    assert!(asked.is_whole && asked.material.contains("3: The job now needs 40 s"));
    assert!(asked.material.contains("; b, samples/s"), "{}", asked.material);
    let long = vec![Document { text: "word 12 s\n\n".repeat(30_000), ..documents[0].clone() }];
    let asked = question(&long, &quantities(&long));
    assert!(!asked.is_whole && asked.material.len() < 300_000);
}
