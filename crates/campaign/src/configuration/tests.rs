use super::*;
use proptest::prelude::*;

fn skeleton(
    format: ConfigurationFormat,
    base: &str,
    sets: &[(&str, Assignment)],
) -> Result<Skeleton, Vec<ConfigurationError>> {
    let sets = sets.iter().map(|(path, value)| (KeyPath::parse(path).unwrap(), value.clone())).collect();
    Skeleton::new(format, base, sets)
}

fn text(template: &str) -> Assignment {
    Assignment::Text(Template::parse(template).unwrap())
}

fn integer(number: i64) -> Assignment {
    Assignment::Fixed(Value::Integer(number))
}

fn lookup(name: &str) -> Option<Value> {
    match name {
        "batch" => Some(Value::Integer(64)),
        "rate" => Some(Value::Float(1e-5)),
        "word" => Some(Value::from("no")),
        "cache" => Some(Value::Switch(true)),
        _ => None,
    }
}

fn render(format: ConfigurationFormat, base: &str, sets: &[(&str, Assignment)]) -> String {
    let skeleton = skeleton(format, base, sets).unwrap();
    skeleton.verify(&lookup).unwrap();
    skeleton.render(&lookup).unwrap()
}

const TRAINER: &str = "\
# größe: comments stay
trainer:
  fit:
    train_dataloader:
      batch_size: 8    # this one
      lr: 1.0e-3
    val_dataloader: {batch_size: 8, note: 'keep  me'}
  micro_batch_size: 8
  empty:
  callbacks:
  - name: first
    steps: [1, 2,
            3]
  - name: second
  text: |
    a block
    of text
last: &a 0x10
";

#[test]
fn yaml_keeps_every_other_byte() {
    let sets = [
        ("trainer.fit.train_dataloader.batch_size", text("{batch}")),
        ("trainer.fit.train_dataloader.lr", text("{rate}")),
        ("trainer.fit.val_dataloader.note", text("{word}")),
        ("trainer.empty", text("{cache}")),
        ("trainer.callbacks[0].steps", Assignment::List(vec![integer(4), text("{word} {batch}")])),
        ("trainer.text", text("plain/path.txt")),
        ("last", text("{batch}")),
    ];
    let expected = TRAINER
        .replace("batch_size: 8    # this one", "batch_size: 64    # this one")
        .replace("lr: 1.0e-3", "lr: 1.0e-5")
        .replace("'keep  me'", "\"no\"")
        .replace("empty:\n", "empty: true\n")
        .replace("[1, 2,\n            3]", "[4, \"no 64\"]")
        .replace("text: |\n    a block\n    of text", "text: plain/path.txt")
        .replace("&a 0x10", "64");
    assert_eq!(render(ConfigurationFormat::Yaml, TRAINER, &sets), expected);
}

#[test]
fn yaml_blocks_are_replaced_whole() {
    let out = render(ConfigurationFormat::Yaml, TRAINER, &[("trainer.callbacks", text("none"))]);
    assert!(out.contains("  callbacks: none\n  text: |\n"), "{out}");
    let out = render(
        ConfigurationFormat::Yaml,
        TRAINER,
        &[("trainer.fit", Assignment::Table(vec![("a b".into(), integer(1))]))],
    );
    assert!(out.contains("trainer:\n  fit: {\"a b\": 1}\n  micro_batch_size: 8\n"), "{out}");
    let out = render(ConfigurationFormat::Yaml, "a:\n- 1\n- b: 2\n  c: 3\n", &[("a[1]", integer(5))]);
    assert_eq!(out, "a:\n- 1\n- 5\n");
}

#[test]
fn wrong_paths_are_explained() {
    let error = |base: &str, path: &str| {
        let errors = skeleton(ConfigurationFormat::Yaml, base, &[(path, integer(1))]).unwrap_err();
        format!("{} / {}", errors[0].message, errors[0].hint.clone().unwrap_or_default())
    };
    let message = error(TRAINER, "trainer.fit.train_dataloader.batchsize");
    assert!(message.contains("did you mean `trainer.fit.train_dataloader.batch_size`?"), "{message}");
    let message = error(TRAINER, "batch_size");
    assert!(message.contains("`trainer.fit.val_dataloader.batch_size`"), "{message}");
    assert!(error(TRAINER, "trainer.callbacks.name").contains("is a list"));
    assert!(error(TRAINER, "trainer.callbacks[7]").contains("2 elements"));
    assert!(error(TRAINER, "last.x").contains("single value"));
    assert!(error("a: 1\na: 2\n", "a").contains("appears twice"));
    assert!(error("a: &x {b: 1}\nc: *x\n", "a.b").contains("anchor"));
    assert!(error("a: &x {b: 1}\nc: *x\n", "c.b").contains("alias"));
    assert!(error("a: &x {b: 1}\nc:\n  <<: *x\n", "c.b").contains("<<"));
    assert!(error("a: 1\n---\nb: 2\n", "a").contains("2 documents"));
    assert!(error("", "a").contains("empty"));
    assert!(error("a: [1\n", "a").contains("line"));
    assert!(error("a:\n-\n- 1\n", "a[0]").contains("cannot be replaced"));
    let twice = skeleton(
        ConfigurationFormat::Yaml,
        TRAINER,
        &[("trainer", integer(1)), ("trainer.empty", integer(2))],
    );
    assert!(twice.unwrap_err()[0].message.contains("set the same value"));
}

#[test]
fn an_alias_itself_can_be_replaced() {
    assert_eq!(
        render(ConfigurationFormat::Yaml, "a: &x 1\nb: *x\nc: *x\n", &[("b", integer(2))]),
        "a: &x 1\nb: 2\nc: *x\n"
    );
}

#[test]
fn json_and_toml_keep_their_spelling() {
    let base =
        "{\n  \"a\": {\"b\": [1.10, {\"c\": \"x\\\"}\"}]},\n  \"big\": 123456789012345678901234567890\n}\n";
    let out =
        render(ConfigurationFormat::Json, base, &[("a.b[1].c", text("{word}")), ("a.b[0]", text("{rate}"))]);
    assert_eq!(out, base.replace("\"x\\\"}\"", "\"no\"").replace("1.10", "1e-5"));
    let base = "# top\na = 0x10 # hex\n[t]\nb = [1, 2]\nc = { d = 'x' }\n[[l]]\ne = 1\n[[l]]\ne = 2\n";
    let sets = [
        ("a", text("{batch}")),
        ("t.b[1]", text("{rate}")),
        ("t.c.d", text("{word}")),
        ("l[1].e", Assignment::Table(vec![("z".into(), integer(1)), ("y".into(), text("{cache}"))])),
    ];
    let expected = base
        .replace("0x10", "64")
        .replace("[1, 2]", "[1, 1e-5]")
        .replace("'x'", "\"no\"")
        .replace("e = 2", "e = {\"z\" = 1, \"y\" = true}");
    assert_eq!(render(ConfigurationFormat::Toml, base, &sets), expected);
    for path in ["t", "l", "l[0]"] {
        let errors = skeleton(ConfigurationFormat::Toml, base, &[(path, integer(1))]).unwrap_err();
        assert!(errors[0].message.contains("header"), "{path}");
    }
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::Integer),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::Float),
        ".*".prop_map(Value::Text),
        "[a-z0-9:#,. -]{0,8}".prop_map(Value::Text),
        any::<bool>().prop_map(Value::Switch),
    ]
}

proptest! {
    #[test]
    fn whatever_is_set_reads_back_and_nothing_else_changes(a in any_value(), b in any_value()) {
        let value = |name: &str| if name == "a" { Some(a.clone()) } else { Some(b.clone()) };
        let cases = [
            (ConfigurationFormat::Yaml, "x:\n  y: 1 # c\n  z: [1, {w: 2}]\nend: 3\n"),
            (ConfigurationFormat::Json, "{\"x\": {\"y\": 1, \"z\": [1, {\"w\": 2}]}, \"end\": 3}"),
            (ConfigurationFormat::Toml, "[x]\ny = 1 # c\nz = [1, { w = 2 }]\n[end]\n"),
        ];
        for (format, base) in cases {
            let sets = [("x.y", text("{a}")), ("x.z[1].w", text("{b}"))];
            let skeleton = skeleton(format, base, &sets).unwrap();
            prop_assert_eq!(skeleton.verify(&value), Ok(()));
        }
    }

    #[test]
    fn no_file_panics(base in ".*", lines in prop::collection::vec("[-a-c:{}\\[\\], &*|>\"'?~!<=0-2]{0,12}", 0..6)) {
        for text in [base, lines.join("\n")] {
            for format in [ConfigurationFormat::Yaml, ConfigurationFormat::Json, ConfigurationFormat::Toml] {
                if let Ok(found) = skeleton(format, &text, &[("a", integer(1))]) {
                    // Either the file is right after setting, or that it is not is noticed.
                    if found.verify(&lookup).is_ok() {
                        prop_assert!(format.read(&found.render(&lookup).unwrap()).is_ok());
                    }
                }
            }
        }
    }
}
