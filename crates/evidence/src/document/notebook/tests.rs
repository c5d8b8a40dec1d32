use assay_model::Document;
use proptest::prelude::*;
use serde_json::json;

use crate::document::read_document;

fn read(text: &str) -> Document {
    read_document("study.ipynb", text.as_bytes())
}

fn notebook() -> serde_json::Value {
    json!({
        "cells": [
            {"cell_type": "markdown", "metadata": {}, "source": ["# Study\n", "\n", "The small model is 2.5x faster than\n", "the large one."]},
            {"cell_type": "code", "execution_count": 1, "metadata": {}, "source": ["batch_size = 512\n", "train()"],
             "outputs": [{"output_type": "stream", "name": "stdout", "text": ["Accuracy on test set: 97.13%\n"]}]},
            {"cell_type": "code", "execution_count": 2, "metadata": {}, "source": "table", "outputs": [
                {"output_type": "execute_result", "metadata": {}, "execution_count": 2, "data": {
                    "text/html": ["<table>\n", "<tr><th>GPUs</th><th>Time (s)</th></tr>\n", "<tr><td>1</td><td>10.5</td></tr>\n", "</table>"],
                    "text/plain": ["GPUs Time (s)\n", "1 10.5"]}}]}
        ],
        "metadata": {}, "nbformat": 4, "nbformat_minor": 5
    })
}

#[test]
fn cells_are_prose_logs_settings_and_tables_with_their_places() {
    for text in [serde_json::to_string_pretty(&notebook()).unwrap(), notebook().to_string()] {
        let document = read(&text);
        let pretty = text.contains('\n');
        let statement = &document.statements[0];
        assert_eq!(statement.text, "The small model is 2.5x faster than the large one.");
        assert_eq!(
            (statement.span.cell, statement.headings.as_slice()),
            (Some(1), ["Study".to_owned()].as_slice())
        );
        if pretty {
            let line = text.lines().position(|line| line.contains("2.5x")).unwrap() as u64 + 1;
            assert_eq!(statement.span.first, line);
        }
        let run = document.runs.iter().find(|run| run.span.cell == Some(2)).unwrap();
        let accuracy = &run.observations[0];
        assert!((accuracy.value - 0.9713).abs() < 1e-9);
        assert_eq!(accuracy.source.as_ref().unwrap().cell, Some(2));
        let batch = run.settings.iter().find(|fact| fact.name == "batch_size").unwrap();
        assert_eq!(
            (batch.value.to_string(), batch.by.as_str(), batch.source.cell),
            ("512".into(), "code", Some(2))
        );
        let table = &document.tables[0];
        assert_eq!((table.rows.len(), table.span.cell), (1, Some(3)));
        assert_eq!(table.rows[0].cells[1].value, Some(10.5));
        assert_eq!(document.cells.len(), 3);
    }
}

#[test]
fn a_damaged_notebook_says_so() {
    let text = serde_json::to_string_pretty(&notebook()).unwrap();
    let document = read(&text[..text.len() / 2]);
    let omission = &document.omissions[0];
    assert!(omission.what.contains("notebook"), "{omission:?}");
}

#[test]
fn other_json_is_no_notebook() {
    let document = read(r#"{"epochs": 3, "accuracy": 0.97}"#);
    assert!(document.cells.is_empty());
    assert_eq!(document.runs.len(), 1);
}

proptest! {
    #[test]
    fn any_bytes_are_read(text in ".*", cut in 0usize..900, odd in "[\\\\\"\\[\\]{}a:, \n]{0,40}") {
        let _ = read(&text);
        let whole = notebook().to_string();
        let _ = read(whole.get(..cut.min(whole.len())).unwrap_or_default());
        let _ = read(&format!("{{\"cells\": [{{\"cell_type\": \"markdown\", \"source\": {odd}}}]}}"));
    }
}
