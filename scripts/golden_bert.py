#!/usr/bin/env python3
"""Makes the golden files of the workload `bert`, as described in `golden.py`. One file holds one small model, computed in 64 bits:
the sentences that the rule makes up, with the answers of a classifier and of an embedder to them; and of pre-training the
data, loss, outputs and gradients of iteration 0, and loss and gradient norm (before clipping) of a few steps.
"""

import struct
import tempfile
from pathlib import Path

import torch
from golden import CPU, gradients, load_workload, trained, write

STEPS = 4
SPECIAL = {"pad": 0, "begin": 1, "end": 2, "mask": 3, "first": 4, "kinds": 2}
COMMON = {
    **SPECIAL,
    "seed": 7,
    "learning_rate": 0.01,
    "weight_decay": 0.05,
    "clip": 0.5,
    "mode": "sdpa",
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
    path = Path(directory) / name
    path.write_bytes(struct.pack(f"<{len(numbers)}I", *numbers))
    return str(path)


def answers(bert, sentences, settings, task):
    with tempfile.TemporaryDirectory() as directory:
        files = {
            "ids": words(directory, "ids", [id for ids in sentences for id in ids]),
            "lengths": words(directory, "lengths", [len(ids) for ids in sentences]),
        }
        passes = bert.Answers({**settings, **files, "task": task, "batch_size": 1}, CPU)
        passes.compute = passes.compute.to(torch.get_default_dtype())
        rows = []
        with torch.inference_mode():
            for ids, mask in passes.batches:
                rows.append(passes.compute(ids, mask)[0].tolist())
    return rows


def compute(adapter, bert, settings):
    trainer = bert.Trainer(settings, CPU)
    trainer.prepare(0)
    ids, places, targets = trainer.batch
    loss, output = trainer.backward(look=True)
    sentences = made_up(adapter, settings)
    return {
        "ids": ids.flatten().tolist(),
        "places": places.tolist(),
        "targets": targets.tolist(),
        "sentences": sentences,
        "classify": answers(bert, sentences, settings, "classify"),
        "embed": answers(bert, sentences, settings, "embed"),
        "loss": loss.item(),
        "output": output.item(),
        "gradient_norm": trainer.gradient_norm().item(),
        "gradients": gradients(trainer.model),
        "steps": trained(bert.Trainer(settings, CPU), STEPS),
    }


if __name__ == "__main__":
    torch.set_default_dtype(torch.float64)
    adapter, bert = load_workload("bert")
    for name, shape in SHAPES.items():
        settings = {**shape, **COMMON, "task": "pretrain"}
        write(f"bert_{name}", settings, float64=compute(adapter, bert, settings))
