use super::*;
use proptest::prelude::*;

fn read(text: &str) -> Vec<(String, Value)> {
    declared(text).into_iter().map(|one| (one.name, one.value)).collect()
}

fn of(pairs: &[(&str, Value)]) -> Vec<(String, Value)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

#[test]
fn assignments() {
    assert_eq!(read("learning_rate = 0.03"), of(&[("learning_rate", Value::Float(0.03))]));
    assert_eq!(read("epochs = 14"), of(&[("epochs", Value::Integer(14))]));
    assert_eq!(read("test_batch_size = 80"), of(&[("test_batch_size", Value::Integer(80))]));
    assert_eq!(read("momentum = 0.9"), of(&[("momentum", Value::Float(0.9))]));
    assert_eq!(read("- Batch size: 512"), of(&[("batch_size", Value::Integer(512))]));
    assert_eq!(read("shuffle = true"), of(&[("shuffle", Value::Switch(true))]));
}

#[test]
fn phrases() {
    for (text, name, value) in [
        ("Log for a batch size of 512:", "batch_size", 512),
        ("### Second log, 512 batch size", "batch_size", 512),
        ("It ran for 200 training steps.", "steps", 200),
        ("We trained for 10 epochs.", "epochs", 10),
        ("The job ran using 4 GPUs there.", "devices", 4),
        ("Each job was started with --ntasks 16 on it.", "tasks", 16),
        ("They had the number of epochs set to 7.", "epochs", 7),
        ("I sent 10 prompts to it.", "requests", 10),
        ("Requests went out at a concurrency of 8.", "concurrency", 8),
    ] {
        assert_eq!(read(text), of(&[(name, Value::Integer(value))]), "{text}");
    }
    assert_eq!(
        read(
            "We set batch size to [8, 16, 32] and hold number epochs = 10, learning rate = 0.03 throughout."
        ),
        of(&[("epochs", Value::Integer(10)), ("learning_rate", Value::Float(0.03))])
    );
    assert_eq!(
        read("Batch size 8 and 4 GPUs were used."),
        of(&[("batch_size", Value::Integer(8)), ("devices", Value::Integer(4))])
    );
}

#[test]
fn sweeps_positions_comparisons_and_suppositions_declare_nothing() {
    for text in [
        "Batch sizes of 512, 1024, and 2048 were run.",
        "Batch sizes (256, 512) were run.",
        "There are logs of 10, 4, and 14 epochs.",
        "The batch size went from 512 to 2048.",
        "After 200 steps it was stopped; every 50 steps it printed.",
        "Here batch size = 32 came out best.",
        "The next trial may be batch size = 32.",
        "## Task 1: Machines",
        "GPU 0 was used",
        "Epoch 3 ended",
        "It took 8 batches",
        "The batch size of 512 MB",
        "",
    ] {
        assert_eq!(read(text), [], "{text}");
    }
}

#[test]
fn warmup_models_and_devices() {
    assert_eq!(read("_with warmup_:"), of(&[("warmup", Value::Switch(true))]));
    assert_eq!(read("### without warm-up"), of(&[("warmup", Value::Switch(false))]));
    assert_eq!(read("This was run under the profiler."), of(&[("profiler", Value::Switch(true))]));
    assert_eq!(
        read("For the `large` model, with CUDA:"),
        of(&[("model", Value::from("large")), ("device", Value::from("CUDA"))])
    );
    assert_eq!(
        read("All of it used the Llama-7B model for 200 training steps."),
        of(&[("model", Value::from("Llama-7B")), ("steps", Value::Integer(200))])
    );
    assert_eq!(read("Created model with fresh parameters, then Loading network weights."), []);
    assert_eq!(read("The small model and the large model ran on the CPU and with CUDA."), []);
}

proptest! {
    #[test]
    fn any_text_is_read_without_panic(text in ".*", odd in "(batch size|epochs|=|of|and|to|with|warmup|model|[0-9]{1,3}|,|\\[|\\]| ){0,20}") {
        let _ = (declared(&text), declared(&odd));
    }

    #[test]
    fn declared_numbers_read_back(epochs in 1_i64..100_000, rate in 1_u32..10_000) {
        let rate = f64::from(rate) / 1e6;
        let text = format!("We kept number of epochs = {epochs} and a learning rate of {rate}.");
        let found = read(&text);
        prop_assert_eq!(found, of(&[("epochs", Value::Integer(epochs)), ("learning_rate", Value::Float(rate))]));
    }
}

#[test]
fn numbers_may_be_spelt() {
    let classes = of(&[("classes", Value::Integer(10))]);
    assert_eq!(read("Ten classes of pictures, five trainings for each."), classes);
    assert_eq!(read("There are two tasks in this exercise."), []);
}
