//! The cell of a notebook that each line belongs to.

use assay_model::{Document, Source, Span};

/// Names the cell of a notebook wherever a line is named.
pub(super) fn place_in_cells(document: &mut Document) {
    let cells = std::mem::take(&mut document.cells);
    if cells.is_empty() {
        return;
    }
    let cell = |line: u64| {
        let index = cells.partition_point(|cell| cell.last < line);
        cells.get(index).filter(|cell| cell.first <= line).map(|cell| cell.number)
    };
    let source = |source: &mut Source| source.cell = cell(source.line);
    let span = |span: &mut Span| span.cell = cell(span.first);
    for run in &mut document.runs {
        span(&mut run.span);
        run.status_source.iter_mut().for_each(source);
        run.settings.iter_mut().for_each(|fact| source(&mut fact.source));
        run.phases.iter_mut().for_each(|phase| source(&mut phase.source));
        run.observations.iter_mut().filter_map(|observation| observation.source.as_mut()).for_each(source);
        run.series.iter_mut().filter_map(|series| series.source.as_mut()).for_each(source);
        run.hints.iter_mut().for_each(|hint| source(&mut hint.source));
    }
    document.tables.iter_mut().for_each(|table| span(&mut table.span));
    document.statements.iter_mut().for_each(|statement| span(&mut statement.span));
    document.cells = cells;
}
