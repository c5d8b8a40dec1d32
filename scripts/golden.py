"""What the scripts share that make golden files with PyTorch: `golden_lm.py`, `golden_mnist.py` and `golden_bert.py`.

Each makes `crates/workloads/golden/WORKLOAD_NAME.json` when it is run with any Python that has PyTorch 2; the tests that
use the files need no Python. Weights and data are those of the rule in `initial.rs`, made by the adapter that the program
ships, so that the files also hold that rule in place. Every file has

    settings   the settings of the workload, shape included
    float64    what PyTorch computes in 64 bits, from the same initial weights, which have 32 bits

and some have `float32`, the same in 32 bits: how far rounding alone takes PyTorch from the line above. What is computed is
described by each script; `gradients` holds for each tensor by name its `norm`, and `elements` as pairs [index in row-major
order, value].
"""

import importlib.util
import json
import re
import sys
from pathlib import Path

import torch

ROOM = Path(__file__).resolve().parent.parent / "crates" / "workloads"
CPU = torch.device("cpu")


def load(name, path):
    spec = importlib.util.spec_from_file_location(name, ROOM / "src" / path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load_workload(name):
    """The adapter that the program ships, which holds the rule for weights and data, and the workload in PyTorch."""
    return load("assay_adapter", Path("engine", "torch", "adapter.py")), load(f"assay_{name}", Path(name, "torch.py"))


def elements(gradient):
    """Some elements: the ends, two between, and the largest."""
    flat = gradient.flatten()
    count = flat.numel()
    indices = sorted({0, count // 3, count // 2, count - 1, int(flat.abs().argmax())})
    return [[index, flat[index].item()] for index in indices]


def gradients(model):
    return {
        name: {"norm": parameter.grad.norm().item(), "elements": elements(parameter.grad)}
        for name, parameter in model.named_parameters()
    }


def trained(trainer, steps):
    """Loss and gradient norm, before clipping, of every step of a training."""
    steps = []
    for step in range(steps):
        trainer.prepare(step)
        loss, _, norm = trainer.iterate(look=False)
        steps.append({"loss": loss.item(), "gradient_norm": norm.item()})
    return steps


def write(name, settings, **computed):
    """Writes a golden file, every list of numbers on one line."""
    content = {"made_with": f"PyTorch {torch.__version__}", "settings": settings, **computed}
    text = json.dumps(content, indent=1)
    text = re.sub(r"\[\s+([^\[\]{}\"]+?)\s+\]", lambda found: "[" + re.sub(r",\s+", ", ", found[1]) + "]", text)
    path = ROOM / "golden" / f"{name}.json"
    path.write_text(text + "\n")
    print(path.relative_to(ROOM.parent.parent))
