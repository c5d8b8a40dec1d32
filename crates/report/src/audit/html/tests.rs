//! The marked document: every number has its mark, every link its target, and nothing of the document is mark-up.

use assay_audit::audit;
use assay_model::Document;

use super::html;
use crate::markup::check::well_formed;

fn document(file: &str, text: &str) -> Document {
    Document { file: file.to_owned(), text: text.to_owned(), ..Document::default() }
}

fn page(file: &str, text: &str) -> String {
    let documents = [document(file, text)];
    let page = html(&audit(&documents), &documents);
    well_formed(&page).unwrap();
    links_lead_somewhere(&page);
    page
}

/// Every address inside the page has a target, and every name is given once.
fn links_lead_somewhere(page: &str) {
    let ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    for (index, id) in ids.iter().enumerate() {
        assert!(!ids[..index].contains(id), "{id} twice");
    }
    let links = page.split("href=\"#").skip(1).chain(page.split("aria-describedby=\"").skip(1));
    for target in links.filter_map(|rest| rest.split('"').next()) {
        assert!(ids.contains(&target), "#{target} is nowhere");
    }
}

const SPEED: &str = "# Speed\n\nThe job needs 40 s instead of 50 s, which is 20 % less.\n\n| node | images/s |\n|---|---|\n\
                     | old | 120 |\n| new | 180 |\n\nThe new node is 2.5 times as fast as the old one. It has 7 fans.\n";

#[test]
fn numbers_are_marked_with_what_is_known_about_them() {
    let page = page("speed.md", SPEED);
    let page = page.split("id=\"text\"").nth(1).unwrap();
    let class_of = |number: &str| {
        let marked = [format!(">{number}<span class=\"sr\""), format!("not_checked\">{number}</span>")];
        let at = marked.iter().find_map(|text| page.find(text.as_str()));
        let at = at.unwrap_or_else(|| panic!("{number} is not marked"));
        let at = at + page[at..].find(number).unwrap();
        page[..at].rsplit("class=\"n ").next().and_then(|rest| rest.split('"').next()).unwrap().to_owned()
    };
    assert_eq!(class_of("20 %"), "supported");
    assert_eq!(class_of("40 s"), "supported");
    assert!(
        ["doubtful", "contradicted"].contains(&class_of("2.5 times").as_str()),
        "{}",
        class_of("2.5 times")
    );
    assert_eq!(class_of("7 fans"), "not_checked");
    // More than color: a symbol with the number of the finding, and a word for screen readers.
    let at = page.find(">2.5 times<span class=\"sr\"").unwrap();
    assert!(page[at..at + 200].contains("<sup"), "{}", &page[at..at + 200]);
    assert!(page[at..at + 200].contains("class=\"sr\""));
}

#[test]
fn every_format_shows_its_text() {
    let tex = "\\section{Speed}\nThe job needs 40\\,s instead of 50\\,s, 20\\,\\% less.\n\n\\begin{tabular}{lr}\nnode & \
               images/s \\\\\nold & 120 \\\\\nnew & 180 \\\\\n\\end{tabular}\n";
    let web = "<!DOCTYPE html><html><body><h1>Speed</h1>\n<p onclick=\"evil()\">The job needs <b>40 s</b> instead of 50 s.</p>\n\
               <table><tr><th>node</th><th>images/s</th></tr><tr><td>old</td><td>120</td></tr><tr><td>new</td><td>180</td>\
               </tr></table></body></html>";
    let notebook = "{\"cells\": [{\"cell_type\": \"markdown\", \"source\": [\"# Speed\\n\", \"needs 40 s instead of 50 s\"]}, \
                    {\"cell_type\": \"code\", \"source\": [\"print(120)\"], \"outputs\": [{\"text\": [\"node 180 images/s\"]}]}]}";
    let table = "node,images/s\nold,120\nnew,180\n";
    for (file, text, parts) in [
        ("a.md", SPEED, &["40 s", "180", "<th"][..]),
        ("a.tex", tex, &["40 s", "180", "<th"]),
        ("a.html", web, &["40 s", "180", "<th"]),
        ("a.ipynb", notebook, &["40 s", "180 images/s"]),
        ("a.csv", table, &["180", "<th"]),
        ("a.txt", SPEED, &["40 s", "180"]),
        ("a.log", "step 1 took 40 s\nstep 2 took 41 s\n", &["40 s", "41 s"]),
    ] {
        let page = page(file, text);
        let shown = page.split("id=\"text\"").nth(1).unwrap_or_default();
        for part in parts {
            assert!(shown.contains(part), "{part} of {file}: {shown}");
        }
        assert!(!page.contains("onclick") && !page.contains("\\begin"), "{file}");
    }
}

#[test]
fn hostile_documents_stay_text() {
    let nasty = "</style><script>alert('x')</script> \" onmouseover=\"evil() \u{1b}[31m \u{202e}gnp.exe";
    for file in ["a.md", "a.txt", "a.tex", "a.html", "a.csv", "a.log"] {
        let text = format!(
            "# {nasty} 12 %\n\nFrom 40 s to 50 s {nasty} is 25 % more {nasty}.\n\n| {nasty} | s |\n|---|---|\n| a | 3 {nasty} |\n\n\
             ```\n{nasty} 7 s\n```\n"
        );
        let page = page(file, &text);
        assert!(
            !page.contains("<script") && !page.contains('\u{1b}') && !page.contains('\u{202e}'),
            "{file}"
        );
        assert!(!page.contains("\" onmouseover"), "{file}");
    }
}

#[test]
fn long_tables_and_listings_show_what_matters() {
    let mut text = String::from("node,seconds\n");
    for row in 0..5000 {
        text.push_str(&format!("n{row},{}\n", 10 + row % 7));
    }
    let page = page("long.csv", &text);
    assert!(page.contains("rows not shown") && page.len() < 300_000, "{}", page.len());
}

#[test]
fn several_documents_have_lines_of_their_own() {
    let documents = [document("one.md", SPEED), document("two.md", SPEED)];
    let page = html(&audit(&documents), &documents);
    well_formed(&page).unwrap();
    links_lead_somewhere(&page);
    assert!(page.contains("href=\"#d1-L10\"") && page.contains("href=\"#d2-L10\""), "no link to a line");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig { cases: 64, ..proptest::prelude::ProptestConfig::default() })]
    #[test]
    fn any_text_makes_a_page(text in "(\\PC|[0-9 %|&\\\\`<>\n.,]){0,300}", ending in "md|tex|html|ipynb|csv|txt|log|rst") {
        page(&format!("a.{ending}"), &text);
    }
}
