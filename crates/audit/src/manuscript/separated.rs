//! CSV and TSV, with the remarks that lines behind `#` hold.

use super::{Block, MOST_ROWS, RawCell, RawTable, markdown};

/// Remarks that are read; rows between more of them are data.
const MOST_REMARKS: usize = 40;

pub(super) fn blocks(source: &str, separator: char) -> Vec<Block> {
    let mut reader = Reader { separator, blocks: Vec::new(), table: None, remarks: 0 };
    let lines: Vec<(u64, &str)> =
        (1..).zip(source.lines()).filter(|(_, line)| !line.trim().is_empty()).collect();
    let goes_on = |one: &(u64, &str), other: &(u64, &str)| {
        is_remark(one.1) == is_remark(other.1) && (!is_remark(one.1) || one.0 + 1 == other.0)
    };
    for run in lines.chunk_by(goes_on) {
        match run.first() {
            Some((number, line)) if is_remark(line) => reader.remark(*number, run),
            _ => reader.rows(run),
        }
    }
    reader.blocks
}

fn is_remark(line: &str) -> bool {
    line.starts_with('#')
}

struct Reader {
    separator: char,
    blocks: Vec<Block>,
    /// Where the table is that rows belong to.
    table: Option<usize>,
    remarks: usize,
}

impl Reader {
    /// Reads remarks as the text that they are.
    fn remark(&mut self, first: u64, lines: &[(u64, &str)]) {
        self.remarks += 1;
        if self.remarks <= MOST_REMARKS {
            let bare = lines.iter().map(|(_, line)| line.trim_start_matches('#'));
            let text: Vec<&str> = bare.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
            self.blocks.extend(markdown::blocks_from(&text, first));
        }
    }

    fn rows(&mut self, lines: &[(u64, &str)]) {
        let Some(((number, first), rest)) = lines.split_first() else { return };
        let separator = if first.contains(self.separator) { self.separator } else { ';' };
        let header = fields(first, separator);
        // Rows may go on behind a remark; names begin another table.
        let begins = header.len() >= 2
            && (self.table.is_none()
                || !header.iter().any(|name| name.starts_with(|one: char| one.is_ascii_digit())));
        let rows = if begins {
            self.table = Some(self.blocks.len());
            self.separator = separator;
            let table = RawTable { header, header_line: *number, ..RawTable::default() };
            self.blocks.push(Block::Table(table));
            rest
        } else {
            lines
        };
        let Some(Block::Table(table)) = self.table.and_then(|at| self.blocks.get_mut(at)) else { return };
        let room = MOST_ROWS.saturating_sub(table.rows.len());
        table.rows.extend(rows.iter().take(room).map(|(number, line)| {
            let fields = fields(line, self.separator).into_iter();
            fields.map(|text| RawCell { text, line: *number }).collect::<Vec<RawCell>>()
        }));
    }
}

/// The fields of a line, without their quotes.
fn fields(line: &str, separator: char) -> Vec<String> {
    let mut fields = Vec::new();
    let mut field = String::new();
    let mut quoted = false;
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            _ if character == separator && !quoted => {
                fields.push(std::mem::take(&mut field).trim().to_owned())
            }
            _ => field.push(character),
        }
    }
    fields.push(field.trim().to_owned());
    fields
}

#[cfg(test)]
mod tests {
    use super::super::{Block, Manuscript};

    #[test]
    fn remarks_are_text_and_names_begin_another_table() {
        let text = "# Two builds, times in seconds\n# The second is 20 % faster.\nname,time\na,2.4\n# best of 3\n\
                    b,2.0\n#\nname,size\na,7\nb,8\n";
        let blocks = Manuscript::read("a.csv", text).blocks;
        let shown: Vec<String> = blocks
            .iter()
            .map(|block| match block {
                Block::Table(table) => format!("{} {}", table.header.join(" "), table.rows.len()),
                Block::Paragraph(text) => text.text.clone(),
                _ => String::new(),
            })
            .collect();
        assert_eq!(
            shown,
            [
                "Two builds, times in seconds The second is 20 % faster.",
                "name time 2",
                "best of 3",
                "name size 2"
            ]
        );
    }
}
