//! The pages under `docs/dialects/` are made from the registry. `./dev docs` writes them; this test reads them.

use std::collections::BTreeMap;
use std::path::Path;

use assay_evidence::dialects::{DIALECTS, page};

fn pages() -> BTreeMap<String, String> {
    let mut pages: BTreeMap<String, String> =
        DIALECTS.iter().map(|dialect| (format!("{}.md", dialect.name), page::page(dialect))).collect();
    pages.insert("README.md".to_owned(), page::overview());
    pages
}

#[test]
fn the_pages_of_the_dialects_are_true() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dialects");
    let pages = pages();
    if std::env::var_os("WRITE_DIALECT_PAGES").is_some() {
        std::fs::create_dir_all(&directory).unwrap();
        for entry in std::fs::read_dir(&directory).unwrap() {
            std::fs::remove_file(entry.unwrap().path()).unwrap();
        }
        for (name, text) in &pages {
            std::fs::write(directory.join(name), text).unwrap();
        }
    }
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        found.insert(name, std::fs::read_to_string(&path).unwrap());
    }
    assert!(found == pages, "docs/dialects/ is not what the registry says: `./dev docs` writes it again");
}
