"""The Python half of `scripts/llama-server`: writes a small model with random weights and its tokenizer, and serves it."""

import argparse
import json
import sys
import time

WIDTH = 64
LAYERS = 2
HEADS = 4
HIDDEN = 128
CONTEXT = 2048

# Words that become one token each, beside the 256 bytes: enough to make prompts of a known length.
WORDS = (
    "the of and to in is that was for on with as it at by from this have not are but had his they she which one you "
    "were all her would there their will when who him been has more if no out so what up said about other into than "
    "its time only could new them man some these then two first gold ore fire lead scale"
).split()

TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)


def byte_letters():
    """The letters that stand for bytes in the vocabulary of GPT-2: printable ones for themselves, others from 256 on."""
    printable = [*range(ord("!"), ord("~") + 1), *range(ord("¡"), ord("¬") + 1), *range(ord("®"), ord("ÿ") + 1)]
    letters = {byte: chr(byte) for byte in printable}
    others = (byte for byte in range(256) if byte not in letters)
    letters.update({byte: chr(256 + place) for place, byte in enumerate(others)})
    return letters


def vocabulary():
    """Tokens and merges: all bytes, then every word with a space before it, built up letter by letter."""
    letters = byte_letters()
    tokens = [letters[byte] for byte in range(256)]
    known, merges = set(tokens), []
    for word in WORDS:
        spelled = [letters[byte] for byte in f" {word}".encode()]
        whole = spelled[0]
        for letter in spelled[1:]:
            if whole + letter not in known:
                merges.append(f"{whole} {letter}")
                tokens.append(whole + letter)
                known.add(whole + letter)
            whole += letter
    return tokens + ["<|end|>"], merges


def write_tokenizer(path):
    """The same vocabulary for other programs, as a tokenizer.json."""
    tokens, merges = vocabulary()
    bytes_to_letters = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    with open(path, "w", encoding="utf-8") as file:
        json.dump({
            "version": "1.0",
            "pre_tokenizer": bytes_to_letters,
            "decoder": bytes_to_letters,
            "model": {"type": "BPE", "vocab": {token: place for place, token in enumerate(tokens)}, "merges": merges},
        }, file)


def write_model(path):
    import gguf
    import numpy

    tokens, merges = vocabulary()
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny")
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.NORMAL] * (len(tokens) - 1) + [gguf.TokenType.CONTROL])
    writer.add_token_merges(merges)
    writer.add_eos_token_id(len(tokens) - 1)
    writer.add_bos_token_id(len(tokens) - 1)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)

    random = numpy.random.default_rng(1)
    draw = lambda *shape: (random.standard_normal(shape) * 0.1).astype(numpy.float32)
    ones = numpy.ones(WIDTH, dtype=numpy.float32)
    writer.add_tensor("token_embd.weight", draw(len(tokens), WIDTH))
    writer.add_tensor("output_norm.weight", ones)
    writer.add_tensor("output.weight", draw(len(tokens), WIDTH))
    for layer in range(LAYERS):
        name = f"blk.{layer}"
        writer.add_tensor(f"{name}.attn_norm.weight", ones)
        writer.add_tensor(f"{name}.ffn_norm.weight", ones)
        for part in ("attn_q", "attn_k", "attn_v", "attn_output"):
            writer.add_tensor(f"{name}.{part}.weight", draw(WIDTH, WIDTH))
        writer.add_tensor(f"{name}.ffn_gate.weight", draw(HIDDEN, WIDTH))
        writer.add_tensor(f"{name}.ffn_up.weight", draw(HIDDEN, WIDTH))
        writer.add_tensor(f"{name}.ffn_down.weight", draw(WIDTH, HIDDEN))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def serve(path, port, slots):
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = path
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = CONTEXT
    params.n_parallel = slots
    # One thread: with more, llama.cpp spins on cores that others need, and becomes slower by far.
    params.cpuparams.n_threads = 1
    params.endpoint_metrics = True
    params.model_alias = {"tiny"}
    params.warmup = False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(3600)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["model", "tokenizer", "serve"])
    parser.add_argument("path")
    parser.add_argument("port", nargs="?", type=int, default=0)
    parser.add_argument("slots", nargs="?", type=int, default=4)
    options = parser.parse_args()
    if options.what == "model":
        write_model(options.path)
    elif options.what == "tokenizer":
        write_tokenizer(options.path)
    else:
        serve(options.path, options.port, options.slots)


if __name__ == "__main__":
    sys.exit(main())
