#!/usr/bin/env python3
"""Makes the golden files of the workload `lm`, as described in `golden.py`. One file holds one small model, computed in 64 and in
32 bits:

    loss            mean loss of iteration 0
    output          root mean square of all logits of iteration 0
    gradient_norm   norm of all gradients of iteration 0 together
    gradients       of iteration 0
    steps           loss and gradient norm (before clipping) of every iteration of a training with AdamW and clipping
"""

import torch
from golden import CPU, gradients, load_workload, trained, write

STEPS = 5
COMMON = {"mode": "eager", "checkpointing": False, "seed": 1, "learning_rate": 0.005, "weight_decay": 0.1, "clip": 0.5}
# Odd vocabularies, contexts that no block divides, head sizes that are and are not multiples of a vector's length.
SHAPES = {
    "narrow": {"width": 32, "hidden": 48, "layers": 2, "heads": 4, "vocabulary": 97, "context": 19, "batch_size": 3},
    "uneven": {"width": 60, "hidden": 100, "layers": 3, "heads": 3, "vocabulary": 331, "context": 33, "batch_size": 2},
    "wide": {"width": 128, "hidden": 344, "layers": 1, "heads": 2, "vocabulary": 1001, "context": 70, "batch_size": 2},
}


def compute(lm, settings, dtype):
    torch.set_default_dtype(dtype)
    trainer = lm.Trainer({**settings, "phase": "forward_backward"}, CPU)
    trainer.prepare(0)
    loss, output, _ = trainer.iterate(look=True)
    return {
        "loss": loss.item(),
        "output": output.item(),
        "gradient_norm": trainer.gradient_norm().item(),
        "gradients": gradients(trainer.model),
        "steps": trained(lm.Trainer({**settings, "phase": "step"}, CPU), STEPS),
    }


if __name__ == "__main__":
    _, lm = load_workload("lm")
    for name, shape in SHAPES.items():
        settings = {**shape, **COMMON}
        in_64, in_32 = compute(lm, settings, torch.float64), compute(lm, settings, torch.float32)
        write(f"lm_{name}", settings, float64=in_64, float32=in_32)
