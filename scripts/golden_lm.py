#!/usr/bin/env python3
"""Makes the golden files of the workload `lm` with PyTorch: crates/workloads/golden/lm_*.json.

Run it with any Python that has PyTorch 2: `python scripts/golden_lm.py`. The tests that use the files need no Python.

One file holds one small model:

    settings   the settings of the workload, shape included
    float64    what PyTorch computes in 64 bits, from the same initial weights, which have 32 bits
    float32    the same in 32 bits: how far rounding alone takes PyTorch from the line above

and each of these two:

    loss            mean loss of iteration 0
    output          root mean square of all logits of iteration 0
    gradient_norm   norm of all gradients of iteration 0 together
    gradients       for each tensor by name: `norm`, and `elements` as pairs [index in row-major order, value]
    steps           loss and gradient norm (before clipping) of every iteration of a training with AdamW and clipping
"""

import importlib.util
import json
import re
import sys
from pathlib import Path

import torch

ROOM = Path(__file__).resolve().parent.parent / "crates" / "workloads"
STEPS = 5

COMMON = {"mode": "eager", "checkpointing": False, "seed": 1, "learning_rate": 0.005, "weight_decay": 0.1, "clip": 0.5}
# Odd vocabularies, contexts that no block divides, head sizes that are and are not multiples of a vector's length.
SHAPES = {
    "narrow": {"width": 32, "hidden": 48, "layers": 2, "heads": 4, "vocabulary": 97, "context": 19, "batch_size": 3},
    "uneven": {"width": 60, "hidden": 100, "layers": 3, "heads": 3, "vocabulary": 331, "context": 33, "batch_size": 2},
    "wide": {"width": 128, "hidden": 344, "layers": 1, "heads": 2, "vocabulary": 1001, "context": 70, "batch_size": 2},
}


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load_adapter():
    """The adapter that the program ships, which holds the model and the rule for its weights and data."""
    load("assay_adapter", ROOM / "src" / "engine" / "torch" / "adapter.py")
    return load("assay_lm", ROOM / "src" / "lm" / "torch.py")


def elements(gradient):
    """Some elements: the ends, two between, and the largest."""
    flat = gradient.flatten()
    count = flat.numel()
    indices = sorted({0, count // 3, count // 2 + 1, count - 1, int(flat.abs().argmax())})
    return [[index, flat[index].item()] for index in indices]


def compute(adapter, settings, dtype):
    torch.set_default_dtype(dtype)
    device = torch.device("cpu")
    trainer = adapter.Trainer({**settings, "phase": "forward_backward"}, device)
    trainer.prepare(0)
    loss, output, _ = trainer.iterate(look=True)
    gradients = {
        name: {"norm": parameter.grad.norm().item(), "elements": elements(parameter.grad)}
        for name, parameter in trainer.model.named_parameters()
    }
    result = {
        "loss": loss.item(),
        "output": output.item(),
        "gradient_norm": trainer.gradient_norm().item(),
        "gradients": gradients,
        "steps": [],
    }
    trainer = adapter.Trainer({**settings, "phase": "step"}, device)
    for step in range(STEPS):
        trainer.prepare(step)
        loss, _, norm = trainer.iterate(look=False)
        result["steps"].append({"loss": loss.item(), "gradient_norm": norm.item()})
    return result


def written(content):
    """JSON with every pair of numbers on one line."""
    return re.sub(r"\[\s+([^\s\[\]]+),\s+([^\s\[\]]+)\s+\]", r"[\1, \2]", json.dumps(content, indent=1))


def main():
    adapter = load_adapter()
    for name, shape in SHAPES.items():
        settings = {**shape, **COMMON}
        content = {
            "made_with": f"PyTorch {torch.__version__}",
            "settings": settings,
            "float64": compute(adapter, settings, torch.float64),
            "float32": compute(adapter, settings, torch.float32),
        }
        path = ROOM / "golden" / f"lm_{name}.json"
        path.write_text(written(content) + "\n")
        print(path.relative_to(ROOM.parent.parent))


if __name__ == "__main__":
    main()
