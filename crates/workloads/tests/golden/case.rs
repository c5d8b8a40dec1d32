//! One golden file, and how it is compared with.

use std::path::Path;

use assay_workloads::tensors::Tensor;
use serde::de::DeserializeOwned;

/// One golden file.
pub(crate) struct Case {
    /// The name of its file.
    pub(crate) name: String,
    golden: serde_json::Value,
}

impl Case {
    /// Reads `golden/NAME.json`.
    pub(crate) fn read(name: &str) -> Case {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("golden/{name}.json"));
        let text = std::fs::read_to_string(path).unwrap();
        Case { name: name.to_owned(), golden: serde_json::from_str(&text).unwrap() }
    }

    /// All settings.
    pub(crate) fn settings(&self) -> &serde_json::Map<String, serde_json::Value> {
        self.golden["settings"].as_object().unwrap()
    }

    /// One setting.
    pub(crate) fn setting<T: DeserializeOwned>(&self, name: &str) -> T {
        serde_json::from_value(self.golden["settings"][name].clone()).unwrap()
    }

    /// One result.
    pub(crate) fn expected<T: DeserializeOwned>(&self, name: &str) -> T {
        serde_json::from_value(self.golden["float64"][name].clone()).unwrap()
    }

    /// Checks a number against the result with a name.
    pub(crate) fn close(&self, name: &str, value: f64, tolerance: f64) {
        self.near(name, value, self.expected(name), tolerance);
    }

    /// Checks a number against another one.
    pub(crate) fn near(&self, what: &str, value: f64, expected: f64, tolerance: f64) {
        let (name, error) = (&self.name, (value / expected - 1.0).abs());
        assert!(error <= tolerance, "{name}: {what} is {value}, expected {expected}: off by {error:e}");
    }

    /// Checks the gradient of every tensor, by its norm and by some elements, of which one is the largest: rounding is
    /// relative to that.
    pub(crate) fn check_gradients<V: AsRef<[f32]>>(
        &self,
        tensors: &[Tensor],
        gradients: impl IntoIterator<Item = V>,
        tolerance: f64,
    ) {
        let expected = self.golden["float64"]["gradients"].as_object().unwrap();
        assert_eq!(tensors.len(), expected.len(), "{}: the golden file has every tensor", self.name);
        for (tensor, values) in tensors.iter().zip(gradients) {
            let (values, expected) = (values.as_ref(), &expected[&tensor.name]);
            let norm = values.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
            self.near(&tensor.name, norm, expected["norm"].as_f64().unwrap(), tolerance);
            let pairs: Vec<(usize, f64)> = serde_json::from_value(expected["elements"].clone()).unwrap();
            let largest = pairs.iter().map(|(_, value)| value.abs()).fold(0.0, f64::max);
            for (index, value) in pairs {
                let error = (f64::from(values[index]) - value).abs() / largest;
                let (case, name, got) = (&self.name, &tensor.name, values[index]);
                assert!(error <= tolerance, "{case}: {name}[{index}] is {got}, expected {value}");
            }
        }
    }
}
