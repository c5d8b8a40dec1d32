#!/usr/bin/env python3
"""The start of a PyTorch program up to its first iteration: start_torch.py THREADS

Imports PyTorch, makes the language model of size `small` with weights drawn in PyTorch's own way, lays the tokens of an
iteration ready, and says so in a line. Nothing else is imported, and the fastest of PyTorch's distributions is used.
"""

import math
import sys

import torch

WIDTH, HIDDEN, LAYERS, VOCABULARY = 768, 3072, 12, 10_000
BATCH, CONTEXT = 4, 128


def matrix(rows, columns):
    bound = math.sqrt(6.0 / (rows + columns))
    return torch.nn.Parameter(torch.empty(rows, columns).uniform_(-bound, bound))


def layer():
    return torch.nn.ParameterDict(
        {
            "attention_norm": torch.nn.Parameter(torch.ones(WIDTH)),
            "qkv": matrix(3 * WIDTH, WIDTH),
            "attention_out": matrix(WIDTH, WIDTH),
            "feed_forward_norm": torch.nn.Parameter(torch.ones(WIDTH)),
            "gate_up": matrix(2 * HIDDEN, WIDTH),
            "down": matrix(WIDTH, HIDDEN),
        }
    )


torch.set_num_threads(int(sys.argv[1]))
model = torch.nn.Module()
model.embedding, model.head = matrix(VOCABULARY, WIDTH), matrix(VOCABULARY, WIDTH)
model.norm = torch.nn.Parameter(torch.ones(WIDTH))
model.layers = torch.nn.ModuleList(layer() for _ in range(LAYERS))
tokens = torch.randint(VOCABULARY, (BATCH, CONTEXT + 1))
count = sum(parameter.numel() for parameter in model.parameters())
print(f"ready with {count} parameters in {torch.get_num_threads()} threads", flush=True)
