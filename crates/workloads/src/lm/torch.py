"""The workload `lm` in PyTorch.

The model, its initial weights and its data are those that the documentation of the native engine defines (`lm.rs`,
`lm/shape.rs`, `lm/data.rs` and `initial.rs`), so that both engines compute the same numbers.
"""

import json
import math
import os

from assay_adapter import Checkpoint, averaged, draw, draws, fill_uniform, key_of, main, make_optimizer, mean_of_tasks
from assay_adapter import RANK, mix, norm_of, root_mean_of_tasks, root_mean_square, shifted
import torch
import torch.nn.functional as F
from torch.utils.checkpoint import checkpoint as recomputed

# The model.

EPSILON = 1e-5
ROPE_BASE = 10000.0


def rms_norm(x, weight):
    if hasattr(F, "rms_norm"):
        return F.rms_norm(x, weight.shape, weight, EPSILON)
    return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + EPSILON) * weight


def rotate(x, cosine, sine):
    """Turns interleaved pairs by the angle of their position; x is batch × position × heads × head size."""
    even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
    return torch.stack((even * cosine - odd * sine, even * sine + odd * cosine), -1).flatten(-2)


def plain_attention(query, key, value):
    context, head_size = query.shape[-2:]
    scores = query @ key.transpose(-1, -2) * head_size**-0.5
    future = torch.ones(context, context, dtype=torch.bool, device=query.device).triu(1)
    return scores.masked_fill(future, float("-inf")).softmax(-1) @ value


def fused_attention(query, key, value):
    return F.scaled_dot_product_attention(query, key, value, is_causal=True)


def matrix(rows, columns):
    return torch.nn.Parameter(torch.empty(rows, columns))


def ones(width):
    return torch.nn.Parameter(torch.ones(width))


class Layer(torch.nn.Module):
    def __init__(self, width, hidden, heads, attention):
        super().__init__()
        self.heads, self.attention = heads, attention
        self.attention_norm = ones(width)
        self.qkv = matrix(3 * width, width)
        self.attention_out = matrix(width, width)
        self.feed_forward_norm = ones(width)
        self.gate_up = matrix(2 * hidden, width)
        self.down = matrix(width, hidden)

    def forward(self, x, cosine, sine):
        heads = F.linear(rms_norm(x, self.attention_norm), self.qkv).unflatten(-1, (3 * self.heads, -1))
        turned, value = heads.split((2 * self.heads, self.heads), 2)
        query, key = rotate(turned, cosine, sine).chunk(2, 2)
        mixed = self.attention(query.transpose(1, 2), key.transpose(1, 2), value.transpose(1, 2))
        x = x + F.linear(mixed.transpose(1, 2).flatten(2), self.attention_out)
        gate, up = F.linear(rms_norm(x, self.feed_forward_norm), self.gate_up).chunk(2, -1)
        return x + F.linear(F.silu(gate) * up, self.down)


class Model(torch.nn.Module):
    """The names of its parameters are the names of the tensors in files."""

    def __init__(self, settings):
        super().__init__()
        width, hidden, heads = settings["width"], settings["hidden"], settings["heads"]
        attention = plain_attention if settings["mode"] == "eager" else fused_attention
        self.checkpointing = settings["checkpointing"]
        self.embedding = matrix(settings["vocabulary"], width)
        layers = range(settings["layers"])
        self.layers = torch.nn.ModuleList(Layer(width, hidden, heads, attention) for _ in layers)
        self.norm = ones(width)
        self.head = matrix(settings["vocabulary"], width)
        frequencies = ROPE_BASE ** (-torch.arange(0, width // heads, 2, dtype=torch.float64) / (width // heads))
        angles = torch.arange(settings["context"], dtype=torch.float64).outer(frequencies).unsqueeze(1)
        self.register_buffer("cosine", angles.cos().to(self.head.dtype), persistent=False)
        self.register_buffer("sine", angles.sin().to(self.head.dtype), persistent=False)

    def initialize(self, seed):
        """Draws the initial weights. Matrices that are stored one above the other count alone for the bound."""
        width, hidden = self.layers[0].down.shape
        vocabulary = self.head.shape[0]
        sizes = {"qkv": 2 * width, "attention_out": 2 * width, "gate_up": width + hidden, "down": width + hidden}
        sizes.update(embedding=2, head=width + vocabulary)
        for name, tensor in self.named_parameters():
            size = sizes.get(name.rsplit(".", 1)[-1])
            if size:
                fill_uniform(tensor, name, seed, math.sqrt(6.0 / size))

    def forward(self, tokens, targets):
        """The loss, and the logits for whoever wants to look at them."""
        x = F.embedding(tokens, self.embedding)
        for layer in self.layers:
            if self.checkpointing and torch.is_grad_enabled():
                x = recomputed(layer, x, self.cosine, self.sine, use_reentrant=False)
            else:
                x = layer(x, self.cosine, self.sine)
        logits = F.linear(rms_norm(x, self.norm), self.head).flatten(0, 1)
        return F.cross_entropy(logits, targets.flatten()), logits.detach()


# Data.


class Data:
    """The tokens of every iteration: windows of a text, or random ones."""

    def __init__(self, settings):
        self.seed, self.vocabulary = settings["seed"], settings["vocabulary"]
        self.batch, self.length = settings["batch_size"], settings["context"] + 1
        self.text = None
        if settings.get("tokens"):
            count = os.path.getsize(settings["tokens"]) // 4
            self.text = torch.from_file(settings["tokens"], shared=False, size=count, dtype=torch.int32)

    def at(self, step, device):
        """Inputs and targets of the iteration with this number, from 0. The sequences of all tasks are numbered through."""
        if self.text is None:
            key = mix(key_of("tokens", self.seed), step)
            tokens = shifted(draws(key, RANK * self.batch * self.length, self.batch * self.length), 32) % self.vocabulary
            tokens = tokens.view(self.batch, self.length)
        else:
            key = mix(key_of("windows", self.seed), step)
            indexes = range(RANK * self.batch, (RANK + 1) * self.batch)
            begins = [draw(key, index) % (self.text.numel() - self.length + 1) for index in indexes]
            tokens = torch.stack([self.text[begin : begin + self.length] for begin in begins]).long()
        tokens = tokens.to(device)
        return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


# The run.


class Trainer:
    """A model with its phase: computes one iteration after the other."""

    def __init__(self, settings, device):
        self.phase, self.device, self.clip = settings["phase"], device, settings["clip"] or math.inf
        self.model, self.data = Model(settings), Data(settings)
        self.done = 0  # updates before this run
        checkpoint = Checkpoint(settings.get("resume")) if settings.get("resume") else None
        with torch.no_grad():
            if checkpoint is None:
                self.model.initialize(settings["seed"])
            else:
                about = checkpoint.metadata.get("assay.lm")
                self.done = json.loads(about)["updates"] if about else 0
                for name, parameter in self.model.named_parameters():
                    checkpoint.read(name, parameter)
        self.model.to(device)
        self.parameters = list(self.model.parameters())
        if self.phase == "step":
            self.optimizer = make_optimizer(self.parameters, settings)
            if self.done:
                self.resume(checkpoint)
        model = self.model if self.phase == "forward" else averaged(self.model)
        self.compute = torch.compile(model) if settings["mode"] == "compile" else model

    def resume(self, checkpoint):
        """Goes on with the moments of the optimizer."""
        for name, parameter in self.model.named_parameters():
            state = self.optimizer.state[parameter]
            place = parameter.device if self.optimizer.defaults.get("fused") else "cpu"
            state["step"] = torch.tensor(float(self.done), dtype=torch.float32, device=place)
            for key, prefix in (("exp_avg", "adam.first."), ("exp_avg_sq", "adam.second.")):
                state[key] = torch.empty_like(parameter, requires_grad=False)
                checkpoint.read(prefix + name, state[key])

    def prepare(self, number):
        self.batch = self.data.at(number, self.device)

    def follow(self, index, last):
        pass

    def iterate(self, look):
        """One iteration. Gives the loss, the logits' root mean square where asked to look, and the gradient norm."""
        tokens, targets = self.batch
        if self.phase == "forward":
            with torch.inference_mode():
                loss, logits = self.compute(tokens, targets)
                output = root_mean_of_tasks(root_mean_square(logits)) if look else None
                return mean_of_tasks(loss), output, None
        # Gradients are computed anew: without old ones there is nothing to add to and nothing to set to zero.
        for parameter in self.parameters:
            parameter.grad = None
        loss, logits = self.compute(tokens, targets)
        output = root_mean_of_tasks(root_mean_square(logits)) if look else None
        del logits
        loss.backward()
        norm = None
        if self.phase == "step":
            norm = torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
            self.optimizer.step()
        return mean_of_tasks(loss.detach()), output, norm

    def gradient_norm(self):
        if self.phase == "forward":
            return None
        return torch.linalg.vector_norm(torch.stack([norm_of(parameter.grad) for parameter in self.parameters]))


if __name__ == "__main__":
    main(Trainer)
