#!/usr/bin/env python3
"""Makes the golden files of the workload `mnist`, as described in `golden.py`. One file holds one training, computed in 64 and in
32 bits:

    loss, output, gradient_norm   loss, root mean square of the outputs and norm of all gradients of the first step
    gradients                     of the first step
    iterations                    mean loss of every iteration of the training
    tested                        right answers and mean loss of the test at the end

The images are noise: pixel i of all images in a row is the upper byte of draw i of the key `golden.pixels`, and label i
is draw i of the key `golden.labels` modulo 10, by the rule of `initial.rs` with the seed of the settings. The test images
are the first ones of those.
"""

import tempfile
from pathlib import Path

import torch
from golden import CPU, gradients, load_workload, write

COMMON = {"seed": 1, "mode": "eager", "batch_size": 5, "test_batch_size": 4, "train_samples": 23, "test_samples": 9}
CASES = {
    "plain": {"learning_rate": 0.03, "momentum": 0.0, "dropout": 0.5, "softmax": False},
    "softmax": {"learning_rate": 0.1, "momentum": 0.9, "dropout": 0.0, "softmax": True},
}
SCHEDULE = {"steps": 10, "steps_per_iteration": 2}


def write_images(adapter, folder, settings):
    """Writes the files of images and labels; gives their paths as settings."""
    count = settings["train_samples"]
    pixels = adapter.shifted(adapter.draws(adapter.key_of("golden.pixels", settings["seed"]), 0, 784 * count), 56)
    labels = [adapter.draw(adapter.key_of("golden.labels", settings["seed"]), index) % 10 for index in range(count)]
    paths = {}
    for part, of_part in (("train", count), ("test", settings["test_samples"])):
        for name, content in (("images", bytes(pixels[: 784 * of_part].tolist())), ("labels", bytes(labels[:of_part]))):
            path = Path(folder) / f"{part}_{name}"
            path.write_bytes(content)
            paths[f"{part}_{name}"] = str(path)
    return paths


def compute(mnist, settings, dtype):
    torch.set_default_dtype(dtype)
    trainer = mnist.Trainer(settings, CPU)
    first = {}
    original = trainer.optimizer.step

    def step():
        if not first:
            first.update(gradients(trainer.model))
        original()

    trainer.optimizer.step = step
    losses = []
    for iteration in range(settings["steps"] // settings["steps_per_iteration"] + 1):
        trainer.prepare(iteration)
        if trainer.ready:
            losses.append(trainer.iterate(look=iteration == 0)[0].item())
    loss, output, norm = trainer.parity()
    right, test_loss = trainer.evaluate()
    return {
        "loss": loss.item(),
        "output": output.item(),
        "gradient_norm": norm.item(),
        "gradients": first,
        "iterations": losses,
        "tested": {"right": right, "loss": test_loss},
    }


if __name__ == "__main__":
    adapter, mnist = load_workload("mnist")
    for name, case in CASES.items():
        settings = {**COMMON, **SCHEDULE, **case}
        with tempfile.TemporaryDirectory() as folder:
            request = {**settings, **write_images(adapter, folder, settings)}
            in_64, in_32 = compute(mnist, request, torch.float64), compute(mnist, request, torch.float32)
        write(f"mnist_{name}", settings, float64=in_64, float32=in_32)
