"""The workload `bert` in PyTorch.

The model, its initial weights and its data are those that the documentation of the native engine defines (`bert.rs`,
`bert/shape.rs`, `bert/sentences.rs`, `bert/data.rs` and `initial.rs`), so that both engines compute the same numbers.
"""

import math
import os
import time

from assay_adapter import Checkpoint, Ended, EXIT_DIVERGED, draw, draws, fill_uniform, key_of, main, make_optimizer, mix
from assay_adapter import RANK, averaged, emit, mean_of_tasks, norm_of, root_mean_of_tasks, root_mean_square, shifted
from assay_adapter import synchronise
import torch
import torch.nn.functional as F

# The model.

DEVIATION = 0.02 * math.sqrt(3.0)  # of a uniform distribution


class Affine(torch.nn.Module):
    def __init__(self, outputs, inputs):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.empty(outputs, inputs))
        self.bias = torch.nn.Parameter(torch.zeros(outputs))

    def forward(self, x):
        return F.linear(x, self.weight, self.bias)


def plain_attention(query, key, value, mask):
    scores = query @ key.transpose(-1, -2) * query.shape[-1] ** -0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ value


def fused_attention(query, key, value, mask):
    return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


class Layer(torch.nn.Module):
    def __init__(self, settings):
        super().__init__()
        width, hidden = settings["width"], settings["hidden"]
        self.heads = settings["heads"]
        self.attention = plain_attention if settings["mode"] == "eager" else fused_attention
        self.approximate = "tanh" if settings["activation"] == "gelu_tanh" else "none"
        self.qkv = Affine(3 * width, width)
        self.out = Affine(width, width)
        self.attention_norm = torch.nn.LayerNorm(width, settings["epsilon"])
        self.up = Affine(hidden, width)
        self.down = Affine(width, hidden)
        self.output_norm = torch.nn.LayerNorm(width, settings["epsilon"])

    def forward(self, x, mask):
        parts = self.qkv(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = self.attention(parts[0], parts[1], parts[2], mask)
        x = self.attention_norm(x + self.out(mixed.transpose(1, 2).flatten(2)))
        return self.output_norm(x + self.down(F.gelu(self.up(x), approximate=self.approximate)))


class Embeddings(torch.nn.Module):
    def __init__(self, settings):
        super().__init__()
        width = settings["width"]
        table = lambda rows: torch.nn.Parameter(torch.empty(rows, width))
        self.word = table(settings["vocabulary"])
        self.position = table(settings["positions"])
        self.kind = table(settings["kinds"])
        self.norm = torch.nn.LayerNorm(width, settings["epsilon"])

    def forward(self, ids):
        return self.norm(F.embedding(ids, self.word) + self.position[: ids.shape[1]] + self.kind[0])


class Encoder(torch.nn.Module):
    """The names of all parameters are those of the tensors of the native engine."""

    def __init__(self, settings):
        super().__init__()
        self.embeddings = Embeddings(settings)
        self.layers = torch.nn.ModuleList(Layer(settings) for _ in range(settings["layers"]))

    def encode(self, ids, mask=None):
        x = self.embeddings(ids)
        wide = None if mask is None else mask[:, None, None, :]
        for layer in self.layers:
            x = layer(x, wide)
        return x

    def initialize(self, seed):
        for name, tensor in self.named_parameters():
            if tensor.dim() == 2:
                fill_uniform(tensor, name, seed, DEVIATION)


class Classifier(Encoder):
    def __init__(self, settings):
        super().__init__(settings)
        self.pooler = Affine(settings["width"], settings["width"])
        self.classifier = Affine(settings["classes"], settings["width"])

    def forward(self, ids, mask=None):
        return self.classifier(torch.tanh(self.pooler(self.encode(ids, mask)[:, 0])))


class Embedder(Encoder):
    def forward(self, ids, mask=None):
        x = self.encode(ids, mask)
        if mask is None:
            return x.mean(1)
        share = mask.to(x.dtype) / mask.sum(1, keepdim=True)
        return (x * share.unsqueeze(-1)).sum(1)


class MeanClassifier(Embedder):
    def __init__(self, settings):
        super().__init__(settings)
        self.head = Affine(settings["classes"], settings["width"])

    def forward(self, ids, mask=None):
        return self.head(super().forward(ids, mask))


class MaskedModel(Encoder):
    def __init__(self, settings):
        super().__init__(settings)
        width = settings["width"]
        self.approximate = "tanh" if settings["activation"] == "gelu_tanh" else "none"
        self.transform = Affine(width, width)
        self.transform_norm = torch.nn.LayerNorm(width, settings["epsilon"])
        self.decoder = torch.nn.Module()
        self.decoder.bias = torch.nn.Parameter(torch.zeros(settings["vocabulary"]))

    def forward(self, ids, places, targets):
        """The loss at the masked places, and the scores for whoever wants to look at them."""
        x = self.encode(ids).flatten(0, 1)[places]
        x = self.transform_norm(F.gelu(self.transform(x), approximate=self.approximate))
        scores = F.linear(x, self.embeddings.word, self.decoder.bias)
        return F.cross_entropy(scores, targets), scores.detach()


# A model's folder.

LAYER = {
    "out": "attention.output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "output_norm": "output.LayerNorm",
}
OTHERS = {
    "embeddings.word": "embeddings.word_embeddings.weight",
    "embeddings.position": "embeddings.position_embeddings.weight",
    "embeddings.kind": "embeddings.token_type_embeddings.weight",
    "embeddings.norm": "embeddings.LayerNorm",
    "pooler": "pooler.dense",
}
HEADS = {
    "classifier": "classifier",
    "transform": "cls.predictions.transform.dense",
    "transform_norm": "cls.predictions.transform.LayerNorm",
    "decoder.bias": "cls.predictions.bias",
}


def names_in_folder(name):
    """The names of the tensors that stand one above the other in a parameter, and whether the encoder's prefix is theirs."""
    if name in OTHERS:
        return [OTHERS[name]], True
    if name in HEADS:
        return [HEADS[name]], False
    stem, end = name.rsplit(".", 1)
    if stem in OTHERS:
        return [f"{OTHERS[stem]}.{end}"], True
    if stem in HEADS:
        return [f"{HEADS[stem]}.{end}"], False
    _, number, part = stem.split(".")
    parts = [f"attention.self.{which}" for which in ("query", "key", "value")] if part == "qkv" else [LAYER[part]]
    return [f"encoder.layer.{number}.{part}.{end}" for part in parts], True


def load_folder(model, path):
    """Reads what the folder has; heads that it lacks stay as they began."""
    file = Checkpoint(os.path.join(path, "model.safetensors"))
    prefix = "bert." if "bert.embeddings.word_embeddings.weight" in file.header else ""
    for name, parameter in model.named_parameters():
        names, encoder = names_in_folder(name)
        names = [(prefix if encoder else "") + name for name in names]
        older = lambda name: name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")
        names = [name if name in file.header else older(name) for name in names]
        if all(name in file.header for name in names):
            for name, piece in zip(names, parameter.chunk(len(names))):
                file.read(name, piece)
        elif encoder and not name.startswith("pooler"):
            raise RuntimeError(f"tensor `{names[0]}` is missing")


def prepare_model(model, settings, device):
    with torch.no_grad():
        model.initialize(settings["seed"])
        if settings.get("model"):
            if isinstance(model, MeanClassifier):
                head = Checkpoint(settings.get("head"))
                head.read("weight", model.head.weight)
                head.read("bias", model.head.bias)
                load_folder_but(model, settings.get("model"), "head.")
            else:
                load_folder(model, settings.get("model"))
    return model.to(device)


def load_folder_but(model, path, skipped):
    class Rest:
        def named_parameters(self):
            return [(name, tensor) for name, tensor in model.named_parameters() if not name.startswith(skipped)]

    load_folder(Rest(), path)


def numbers(path):
    count = os.path.getsize(path) // 4
    return torch.from_file(path, shared=False, size=count, dtype=torch.int32).long()


# Answers.


class Answers:
    """Passes over sentences, batch by batch."""

    done = 0

    def __init__(self, settings, device):
        kind = MeanClassifier if settings.get("head") else Classifier if settings["task"] == "classify" else Embedder
        self.device, self.settings = device, settings
        model = prepare_model(kind(settings), settings, device).eval()
        self.compute = torch.compile(model) if settings["mode"] == "compile" else model
        self.batches = [batch for batch in self.make_batches()]
        self.latencies, self.answers = [], []

    def make_batches(self):
        """Ids and masks; a batch of equal lengths without padding needs no mask."""
        settings = self.settings
        lengths = numbers(settings["lengths"]).tolist()
        sentences = list(numbers(settings["ids"]).split(lengths))
        count = settings.get("sentences") or len(sentences)
        sentences = [sentences[index % len(sentences)] for index in range(count)]
        for first in range(0, count, settings["batch_size"]):
            chosen = sentences[first : first + settings["batch_size"]]
            length = max(settings.get("length", 0), max(len(ids) for ids in chosen))
            ids = torch.stack([F.pad(ids, (0, length - len(ids)), value=settings["pad"]) for ids in chosen])
            mask = torch.stack([torch.arange(length) < len(ids) for ids in chosen])
            # Without a mask PyTorch has less to do; where sentences are padded to one length, it is always there.
            bare = bool(mask.all()) and not settings.get("length")
            yield ids.to(self.device), None if bare else mask.to(self.device)

    def prepare(self, number):
        self.counts = number >= self.settings["warmup"]

    def iterate(self, look):
        answers = []
        with torch.inference_mode():
            for ids, mask in self.batches:
                began = time.perf_counter()
                answer = self.compute(ids, mask)
                synchronise(self.device)
                if self.counts:
                    self.latencies.append(time.perf_counter() - began)
                answers.append(answer)
        self.answers = torch.cat(answers).float().cpu()
        if not bool(self.answers.isfinite().all()):
            raise Ended(EXIT_DIVERGED, "an answer is not a finite number", "are the weights those of a whole model?")
        return None, root_mean_square(self.answers) if look else None, None

    def gradient_norm(self):
        return None

    def follow(self, index, last):
        if not last or not self.latencies:
            return
        latencies = sorted(self.latencies)
        for name, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99)):
            place = max(math.ceil(share * len(latencies)), 1) - 1
            emit("value", metric=f"latency.{name}", value=latencies[place], unit="s")
        total, count = sum(latencies), len(latencies)
        emit("value", metric="latency", value=total / count, unit="s", count=count, seconds=total, derived=True)
        inferences = len(self.answers) * self.settings["iterations"]
        emit("value", metric="inferences_per_s", value=inferences / total, count=inferences, seconds=total, derived=True)
        self.tell_answers()

    def tell_answers(self):
        settings = self.settings
        if settings["task"] != "classify":
            return
        if settings.get("labels"):
            labels = numbers(settings["labels"])
            labels = labels[torch.arange(len(self.answers)) % len(labels)]
            right = (self.answers.argmax(1) == labels).sum().item()
            known = (labels < settings["classes"]).sum().item()
            if known:
                emit("value", metric="accuracy", value=right / known, derived=True)
        if settings.get("text"):
            for step, logit in enumerate(self.answers[0].tolist()):
                emit("value", metric="logits", value=logit, step=step)
            for step, share in enumerate(self.answers[0].double().softmax(0).tolist()):
                emit("value", metric="probabilities", value=share, step=step)
            emit("setting", name="label", value=str(self.answers[0].argmax().item()))


# Pre-training.


class Data:
    """The sequences of every iteration, with their masks."""

    def __init__(self, settings):
        self.settings = settings
        self.text = numbers(settings["tokens"]) if settings.get("tokens") else None
        context = settings["context"]
        self.masked = min(max((15 * context + 50) // 100, 1), context - 2)

    def draws(self, kind, step):
        batch, context = self.settings["batch_size"], self.settings["context"]
        key = mix(key_of(kind, self.settings["seed"]), step)
        return draws(key, RANK * batch * context, batch * context).view(batch, context)

    def ordinary(self, kind, step):
        first, vocabulary = self.settings["first"], self.settings["vocabulary"]
        return first + shifted(self.draws(kind, step), 32) % (vocabulary - first)

    def at(self, step, device):
        """Ids, places of masked tokens and what stood there, of the iteration with this number, from 0."""
        settings, context = self.settings, self.settings["context"]
        if self.text is None:
            ids = self.ordinary("tokens", step)
        else:
            key, inside = mix(key_of("windows", settings["seed"]), step), context - 2
            indexes = range(RANK * settings["batch_size"], (RANK + 1) * settings["batch_size"])
            begins = [draw(key, index) % (self.text.numel() - inside + 1) for index in indexes]
            ids = torch.stack([F.pad(self.text[begin : begin + inside], (1, 1)) for begin in begins])
        ids[:, 0], ids[:, -1] = settings["begin"], settings["end"]
        order = shifted(self.draws("masks", step), 1)[:, 1:-1].sort(dim=1, stable=True).indices
        chosen = order[:, : self.masked].sort(dim=1).values + 1
        targets = ids.gather(1, chosen)
        which = (shifted(self.draws("replacements", step), 32) % 10).gather(1, chosen)
        others = self.ordinary("others", step).gather(1, chosen)
        hidden = torch.where(which < 8, torch.full_like(targets, settings["mask"]), targets)
        ids.scatter_(1, chosen, torch.where(which == 8, others, hidden))
        places = chosen + torch.arange(len(ids)).unsqueeze(1) * context
        return ids.to(device), places.flatten().to(device), targets.flatten().to(device)


class Trainer:
    """Training steps of the masked language model."""

    done = 0

    def __init__(self, settings, device):
        self.device, self.clip = device, settings["clip"] or math.inf
        self.model = prepare_model(MaskedModel(settings), settings, device)
        self.data = Data(settings)
        self.parameters = list(self.model.parameters())
        self.optimizer = make_optimizer(self.parameters, settings)
        model = averaged(self.model)
        self.compute = torch.compile(model) if settings["mode"] == "compile" else model

    def prepare(self, number):
        self.batch = self.data.at(number, self.device)

    def backward(self, look):
        for parameter in self.parameters:
            parameter.grad = None
        loss, scores = self.compute(*self.batch)
        output = root_mean_of_tasks(root_mean_square(scores)) if look else None
        del scores
        loss.backward()
        return mean_of_tasks(loss.detach()), output

    def iterate(self, look):
        loss, output = self.backward(look)
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
        self.optimizer.step()
        return loss, output, norm

    def gradient_norm(self):
        return torch.linalg.vector_norm(
            torch.stack([norm_of(parameter.grad) for parameter in self.parameters])
        )

    def follow(self, index, last):
        pass


def workload(settings, device):
    return (Trainer if settings["task"] == "pretrain" else Answers)(settings, device)


if __name__ == "__main__":
    main(workload)
