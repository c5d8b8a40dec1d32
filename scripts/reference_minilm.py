#!/usr/bin/env python3
"""Means of tokens by a plain BERT encoder in PyTorch, in 64 bits: crates/workloads/golden/minilm.json.

The encoder is written out here by itself, from the paper and the names of the tensors, and shares nothing with the
program: what the program computes is checked against it.

    python3 scripts/reference_minilm.py FOLDER      (a folder with config.json, model.safetensors and vocab.txt)
"""

import json
import math
import pathlib
import struct
import sys
import unicodedata

import torch

OUTPUT = pathlib.Path(__file__).resolve().parent.parent / "crates" / "workloads" / "golden" / "minilm.json"
SENTENCES = [
    "Dune is a great movie!",
    "A café in Zürich, 2024: naïve & unbelievably slow.",
    "word",
    "It was neither good nor bad; the second half dragged on, the acting was wooden, and yet we stayed to the very end.",
]


def load(path):
    """The tensors of a safetensors file."""
    data = path.read_bytes()
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__" or entry["dtype"] != "F32":
            continue
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        values = torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32)
        tensors[name] = values.view(entry["shape"]).double()
    return tensors


def words(text):
    """Lower case without accents, punctuation as words of its own."""
    kept = [c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn"]
    apart = [f" {c} " if unicodedata.category(c).startswith("P") or c in "$+<=>^`|~" else c for c in kept]
    return "".join(apart).split()


def pieces(word, vocabulary):
    """The longest pieces first, from the left."""
    found, begin = [], 0
    while begin < len(word):
        for end in range(len(word), begin, -1):
            piece = ("##" if begin else "") + word[begin:end]
            if piece in vocabulary:
                found.append(vocabulary[piece])
                break
        else:
            return [vocabulary["[UNK]"]]
        begin = end
    return found


def mean_of(ids, tensors, config):
    """The mean of what the encoder makes of the tokens."""
    get = lambda name: tensors[name]
    linear = lambda x, name: x @ get(f"{name}.weight").T + get(f"{name}.bias")

    def norm(x, name):
        mean = x.mean(-1, keepdim=True)
        variance = ((x - mean) ** 2).mean(-1, keepdim=True)
        return (x - mean) / (variance + config["layer_norm_eps"]).sqrt() * get(f"{name}.weight") + get(f"{name}.bias")

    x = get("embeddings.word_embeddings.weight")[ids] + get("embeddings.position_embeddings.weight")[: len(ids)]
    x = norm(x + get("embeddings.token_type_embeddings.weight")[0], "embeddings.LayerNorm")
    heads = config["num_attention_heads"]
    size = config["hidden_size"] // heads
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        split = lambda name: linear(x, f"{layer}.attention.self.{name}").view(len(ids), heads, size).transpose(0, 1)
        scores = split("query") @ split("key").transpose(1, 2) / math.sqrt(size)
        mixed = (scores.softmax(-1) @ split("value")).transpose(0, 1).reshape(len(ids), -1)
        x = norm(x + linear(mixed, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
        inside = linear(x, f"{layer}.intermediate.dense")
        inside = inside * 0.5 * (1 + torch.erf(inside / math.sqrt(2)))
        x = norm(x + linear(inside, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    return x.mean(0)


def main():
    folder = pathlib.Path(sys.argv[1])
    config = json.loads((folder / "config.json").read_text())
    tensors = load(folder / "model.safetensors")
    lines = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    vocabulary = {token: number for number, token in enumerate(lines) if token}
    sentences = []
    for text in SENTENCES:
        inside = [piece for word in words(text) for piece in pieces(word, vocabulary)]
        ids = [vocabulary["[CLS]"], *inside, vocabulary["[SEP]"]]
        mean = [round(value, 9) for value in mean_of(torch.tensor(ids), tensors, config).tolist()]
        sentences.append({"text": text, "ids": ids, "mean": mean})
    content = {"made_with": f"PyTorch {torch.__version__}, all-MiniLM-L6-v2", "sentences": sentences}
    rows = ",\n".join(json.dumps(sentence) for sentence in sentences)
    OUTPUT.write_text(f'{{"made_with": {json.dumps(content["made_with"])}, "sentences": [\n{rows}\n]}}\n')
    print(OUTPUT)


if __name__ == "__main__":
    main()
