#!/usr/bin/env python3
"""Makes the golden files of the workload `bert` with PyTorch: crates/workloads/golden/bert_*.json.

Each file holds the settings of a small model; the answers of a classifier and of an embedder to made-up sentences and
the loss, outputs and gradients of pre-training, computed in 64 bits; for every tensor of the gradient its norm and some
of its elements; and the losses of a few training steps. The initial weights and the data are those of the rule in
`initial.rs`, made by the adapter that the program ships, so that the files also hold that rule in place.

    python3 scripts/golden_bert.py      (needs PyTorch 2)
"""

import importlib.util
import json
import pathlib
import re
import struct
import sys
import tempfile

import torch

ROOM = pathlib.Path(__file__).resolve().parent.parent / "crates" / "workloads"
STEPS = 4
SPECIAL = {"pad": 0, "begin": 1, "end": 2, "mask": 3, "first": 4, "kinds": 2}
COMMON = {
    **SPECIAL,
    "seed": 7,
    "learning_rate": 0.01,
    "weight_decay": 0.05,
    "clip": 0.5,
    "mode": "sdpa",
    "model": "",
    "head": "",
    "text": "",
    "length": 0,
    "warmup": 0,
    "iterations": 1,
}
SHAPES = {
    "exact": {
        "width": 32, "hidden": 64, "layers": 2, "heads": 2, "vocabulary": 90, "positions": 24, "classes": 2,
        "context": 20, "batch_size": 3, "activation": "gelu", "epsilon": 1e-12, "sentences": 5,
    },
    "tanh": {
        "width": 30, "hidden": 52, "layers": 3, "heads": 3, "vocabulary": 70, "positions": 40, "classes": 3,
        "context": 33, "batch_size": 2, "activation": "gelu_tanh", "epsilon": 1e-5, "sentences": 4,
    },
}


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load_adapter():
    """The adapter that the program ships, which holds the model and the rule for its weights and data."""
    adapter = load("assay_adapter", ROOM / "src" / "engine" / "torch" / "adapter.py")
    return adapter, load("assay_bert", ROOM / "src" / "bert" / "torch.py")


def made_up(adapter, settings):
    """Made-up sentences by the rule of `sentences.rs`."""
    count, context = settings["sentences"], settings["context"]
    key = adapter.mix(adapter.key_of("sentences", settings["seed"]), 0)
    span = settings["vocabulary"] - settings["first"]
    sentences = []
    for number in range(count):
        ids = [settings["first"] + (adapter.draw(key, number * context + t) >> 32) % span for t in range(context)]
        ids[0], ids[-1] = settings["begin"], settings["end"]
        sentences.append(ids)
    return sentences


def words(directory, name, numbers):
    path = pathlib.Path(directory) / name
    path.write_bytes(struct.pack(f"<{len(numbers)}I", *numbers))
    return str(path)


def answers(bert, sentences, settings, task):
    with tempfile.TemporaryDirectory() as directory:
        files = {
            "ids": words(directory, "ids", [id for ids in sentences for id in ids]),
            "lengths": words(directory, "lengths", [len(ids) for ids in sentences]),
        }
        passes = bert.Answers({**settings, **files, "task": task, "batch_size": 1}, torch.device("cpu"))
        passes.compute = passes.compute.to(torch.get_default_dtype())
        rows = []
        with torch.inference_mode():
            for ids, mask in passes.batches:
                rows.append(passes.compute(ids, mask)[0].tolist())
    return rows


def elements(gradient):
    """Some elements: the ends, two between, and the largest."""
    flat = gradient.flatten()
    count = flat.numel()
    indices = sorted({0, count // 3, count // 2, count - 1, int(flat.abs().argmax())})
    return [[index, flat[index].item()] for index in indices]


def compute(adapter, bert, settings):
    torch.set_default_dtype(torch.float64)
    device = torch.device("cpu")
    trainer = bert.Trainer(settings, device)
    trainer.prepare(0)
    ids, places, targets = trainer.batch
    loss, output = trainer.backward(look=True)
    gradients = {
        name: {"norm": parameter.grad.norm().item(), "elements": elements(parameter.grad)}
        for name, parameter in trainer.model.named_parameters()
    }
    sentences = made_up(adapter, settings)
    result = {
        "ids": ids.flatten().tolist(),
        "places": places.tolist(),
        "targets": targets.tolist(),
        "sentences": sentences,
        "classify": answers(bert, sentences, settings, "classify"),
        "embed": answers(bert, sentences, settings, "embed"),
        "loss": loss.item(),
        "output": output.item(),
        "gradient_norm": trainer.gradient_norm().item(),
        "gradients": gradients,
        "steps": [],
    }
    trainer = bert.Trainer(settings, device)
    for step in range(STEPS):
        trainer.prepare(step)
        loss, _, norm = trainer.iterate(look=False)
        result["steps"].append({"loss": loss.item(), "gradient_norm": norm.item()})
    return result


def written(content):
    """JSON with every list of numbers on one line."""
    text = json.dumps(content, indent=1)
    return re.sub(r"\[\s+([^\[\]{}\"]+?)\s+\]", lambda found: "[" + re.sub(r",\s+", ", ", found[1]) + "]", text)


def main():
    adapter, bert = load_adapter()
    for name, shape in SHAPES.items():
        settings = {**shape, **COMMON, "task": "pretrain"}
        content = {
            "made_with": f"PyTorch {torch.__version__}",
            "settings": settings,
            "float64": compute(adapter, bert, settings),
        }
        path = ROOM / "golden" / f"bert_{name}.json"
        path.write_text(written(content) + "\n")
        print(path.relative_to(ROOM.parent.parent))


if __name__ == "__main__":
    main()
