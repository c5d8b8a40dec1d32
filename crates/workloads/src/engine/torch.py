"""Runs the workload `lm` in PyTorch, and says what it measures as lines of JSON.

Called with the path of a JSON file of settings. Needs Python 3.9 and PyTorch 1.13 or later, and nothing else; modes
`sdpa` and `compile` need PyTorch 2. The model, its initial weights and its data are those that the documentation of
the native engine defines (`lm.rs` and `lm/initial.rs`), so that both engines compute the same numbers.
"""

import json
import math
import os
import signal
import sys
import threading
import time

BEGAN = time.perf_counter()
EXIT_FAILED = 3
EXIT_MISSING = 4  # PyTorch is not there, too old, or has no such device or mode
EXIT_DIVERGED = 5


def tell(kind, **fields):
    """Says one thing on standard output; fields that are None are left out."""
    line = {"assay": kind, **{name: value for name, value in fields.items() if value is not None}}
    sys.stdout.write(json.dumps(line, allow_nan=False) + "\n")
    sys.stdout.flush()


class Ended(Exception):
    """The run ends early, with a line that says why."""

    def __init__(self, code, reason, hint=None):
        super().__init__(reason)
        self.code, self.hint = code, hint


# Several processes that compile would outlive a parent that is killed, and one suffices for kernels that repeat.
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
try:
    import torch
    import torch.nn.functional as F
    from torch.utils.checkpoint import checkpoint as recomputed
except ImportError as error:
    tell("failed", reason=f"Python {sys.version.split()[0]} at {sys.executable} cannot import torch: {error}")
    sys.exit(EXIT_MISSING)


# The counter-based generator. Words of 64 bits are Python integers for single draws, and torch's signed integers,
# whose products wrap around in the same way, for many at once.

WORD = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def finalise(z):
    z = (z ^ (z >> 30)) * FACTORS[0] & WORD
    z = (z ^ (z >> 27)) * FACTORS[1] & WORD
    return z ^ (z >> 31)


def mix(word, number):
    return finalise(word ^ finalise((number + GOLDEN) & WORD))


def key_of(name, seed):
    word = 0xCBF29CE484222325
    for byte in name.encode():
        word = (word ^ byte) * 0x100000001B3 & WORD
    return mix(word, seed)


def draw(key, index):
    return finalise((key + (index + 1) * GOLDEN) & WORD)


def signed(word):
    return word - (1 << 64) if word >> 63 else word


def shifted(z, bits):
    """The words shifted to the right as unsigned ones."""
    return (z >> bits).bitwise_and_((1 << (64 - bits)) - 1)


def draws(key, first, count):
    """The draws first, first + 1, ... as a tensor of 64-bit words."""
    z = torch.arange(first + 1, first + count + 1, dtype=torch.int64)
    z.mul_(signed(GOLDEN)).add_(signed(key))
    z.bitwise_xor_(shifted(z, 30)).mul_(signed(FACTORS[0]))
    z.bitwise_xor_(shifted(z, 27)).mul_(signed(FACTORS[1]))
    return z.bitwise_xor_(shifted(z, 31))


PIECE = 1 << 18  # draws at once: they stay in the cache, and memory stays small


def fill_uniform(tensor, name, seed, bound):
    """Fills a tensor with its initial weights, piece by piece."""
    key, flat = key_of(name, seed), tensor.view(-1)
    bound = torch.tensor(bound, dtype=torch.float32)
    for first in range(0, flat.numel(), PIECE):
        count = min(PIECE, flat.numel() - first)
        piece = shifted(draws(key, first, count), 40).to(torch.float32)
        flat[first : first + count].copy_(piece.mul_(2.0**-23).sub_(1.0).mul_(bound))


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

    def initialise(self, seed):
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


# Data and files.


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
        """Inputs and targets of the iteration with this number, from 0."""
        if self.text is None:
            key = mix(key_of("tokens", self.seed), step)
            tokens = shifted(draws(key, 0, self.batch * self.length), 32) % self.vocabulary
            tokens = tokens.view(self.batch, self.length)
        else:
            key = mix(key_of("windows", self.seed), step)
            begins = [draw(key, index) % (self.text.numel() - self.length + 1) for index in range(self.batch)]
            tokens = torch.stack([self.text[begin : begin + self.length] for begin in begins]).long()
        tokens = tokens.to(device)
        return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


class Checkpoint:
    """A safetensors file, which whoever started this has checked: the length of the header in 8 bytes, the header as
    JSON with the place of the data of each tensor, the data."""

    def __init__(self, path):
        self.file = open(path, "rb")
        length = int.from_bytes(self.file.read(8), "little")
        self.header, self.start = json.loads(self.file.read(length)), 8 + length
        about = self.header.get("__metadata__", {}).get("assay.lm")
        self.about = json.loads(about) if about else None

    def read(self, name, tensor):
        """Reads a float32 tensor straight into its place, piece by piece."""
        self.file.seek(self.start + self.header[name]["data_offsets"][0])
        flat, buffer = tensor.view(-1), bytearray(4 * PIECE)
        for first in range(0, flat.numel(), PIECE):
            count = min(PIECE, flat.numel() - first)
            if self.file.readinto(memoryview(buffer)[: 4 * count]) != 4 * count:
                raise RuntimeError(f"the data of tensor `{name}` end too early")
            flat[first : first + count].copy_(torch.frombuffer(buffer, dtype=torch.float32, count=count))


# The device.

DEVICES = {"cuda": "torch.cuda", "mps": "torch.backends.mps", "xpu": "torch.xpu"}


def open_device(name):
    """The device, after a check that it is there."""
    if name == "cpu":
        return torch.device("cpu")
    module = torch
    for part in DEVICES[name].split(".")[1:]:
        module = getattr(module, part, None)
    if module is None or not module.is_available():
        raise Ended(
            EXIT_MISSING,
            f"PyTorch {torch.__version__} has no device `{name}` here",
            "use device = cpu, or an environment whose PyTorch was built for this device",
        )
    return torch.device(name)


def synchronise(device):
    """Waits until the device has done all that it was asked for."""
    if device.type != "cpu":
        getattr(torch, device.type).synchronize()


def peak_memory(device):
    """The largest memory so far in bytes: of the device, or on the CPU of the process. None where nobody knows."""
    if device.type in ("cuda", "xpu"):
        return getattr(torch, device.type).max_memory_allocated()
    if device.type == "mps":
        return torch.mps.driver_allocated_memory()
    return resident("VmHWM:")


def resident(key):
    """A line of what Linux says of the memory of this process, in bytes."""
    try:
        with open("/proc/self/status") as file:
            line = next(line for line in file if line.startswith(key))
        return int(line.split()[1]) * 1024
    except (OSError, StopIteration):
        return None


def tell_memory(metric, bytes_used):
    if bytes_used is not None:
        tell("value", metric=metric, value=bytes_used, unit="B")


def tell_environment(device):
    """Says which PyTorch computes, with what."""
    parallel = [line.strip() for line in torch.__config__.parallel_info().splitlines()]
    libraries = [line for line in parallel if line.startswith(("Intel(R)", "OpenMP", "ATen parallel"))]
    if device.type == "cuda":
        libraries += [torch.cuda.get_device_name(device), "TF32 off"]
    threads = f"{torch.get_num_threads()} threads"
    tell("setting", name="torch", value=torch.__version__)
    tell("note", text="; ".join([f"PyTorch {torch.__version__}", threads, *libraries]))


# The run.


class Trainer:
    """A model with its phase: computes one iteration after the other."""

    def __init__(self, settings, device):
        self.phase, self.device, self.clip = settings["phase"], device, settings["clip"] or math.inf
        self.model = Model(settings)
        self.done = 0  # updates before this run
        checkpoint = Checkpoint(settings["resume"]) if settings.get("resume") else None
        with torch.no_grad():
            if checkpoint is None:
                self.model.initialise(settings["seed"])
            else:
                self.done = checkpoint.about["updates"] if checkpoint.about else 0
                for name, parameter in self.model.named_parameters():
                    checkpoint.read(name, parameter)
        self.model.to(device)
        self.parameters = list(self.model.parameters())
        if self.phase == "step":
            self.optimizer = make_optimizer(self.parameters, settings)
            if self.done:
                self.resume(checkpoint)
        self.compute = torch.compile(self.model) if settings["mode"] == "compile" else self.model

    def resume(self, checkpoint):
        """Goes on with the moments of the optimizer."""
        for name, parameter in self.model.named_parameters():
            state = self.optimizer.state[parameter]
            place = parameter.device if self.optimizer.defaults.get("fused") else "cpu"
            state["step"] = torch.tensor(float(self.done), dtype=torch.float32, device=place)
            for key, prefix in (("exp_avg", "adam.first."), ("exp_avg_sq", "adam.second.")):
                state[key] = torch.empty_like(parameter, requires_grad=False)
                checkpoint.read(prefix + name, state[key])

    def iterate(self, tokens, targets, look):
        """One iteration. Gives the loss, the logits' root mean square where asked to look, and the gradient norm."""
        if self.phase == "forward":
            with torch.inference_mode():
                loss, logits = self.compute(tokens, targets)
                return loss, root_mean_square(logits) if look else None, None
        # Gradients are computed anew: without old ones there is nothing to add to and nothing to set to zero.
        for parameter in self.parameters:
            parameter.grad = None
        loss, logits = self.compute(tokens, targets)
        output = root_mean_square(logits) if look else None
        del logits
        loss.backward()
        norm = None
        if self.phase == "step":
            norm = torch.nn.utils.clip_grad_norm_(self.parameters, self.clip)
            self.optimizer.step()
        return loss.detach(), output, norm

    def gradient_norm(self):
        return torch.linalg.vector_norm(torch.stack([norm_of(parameter.grad) for parameter in self.parameters]))


def make_optimizer(parameters, settings):
    options = {"lr": settings["learning_rate"], "weight_decay": settings["weight_decay"]}
    try:
        return torch.optim.AdamW(parameters, fused=True, **options)
    except (RuntimeError, TypeError):
        return torch.optim.AdamW(parameters, **options)  # an older PyTorch, or a device that has no fused one


def norm_of(x):
    """The norm by rows first: one sum over millions of 32-bit floats would lose digits."""
    return torch.linalg.vector_norm(torch.linalg.vector_norm(x, dim=-1))


def root_mean_square(x):
    return norm_of(x) / math.sqrt(x.numel())


def check_version(mode):
    """Refuses what this PyTorch is too old for."""
    needed = {
        "eager": (hasattr(torch, "frombuffer"), "1.13"),
        "sdpa": (hasattr(F, "scaled_dot_product_attention"), "2.0"),
        "compile": (hasattr(torch, "compile"), "2.0"),
    }
    there, version = needed[mode]
    if not there:
        hint = f"use PyTorch {version} or later" + ("" if mode == "eager" else ", or mode = eager")
        raise Ended(EXIT_MISSING, f"PyTorch {torch.__version__} is too old for mode `{mode}`", hint)


def next_line():
    """Waits for a line on standard input; false when there will be none."""
    return bool(sys.stdin.readline())


def leave_with_parent():
    """Ends this process when standard input ends, because then the process that started this one is gone."""

    def watch():
        while os.read(0, 4096):
            pass
        os._exit(EXIT_FAILED)

    threading.Thread(target=watch, daemon=True).start()


def measure(settings, trainer, data):
    """All iterations; gives how many were done."""
    warmup, paced, device = settings["warmup"], settings["paced"], trainer.device
    metric, first, total = "time.iteration", trainer.done, warmup + settings["iterations"]
    phase_began = time.perf_counter()
    for index in range(total):
        if index == warmup and warmup:
            phase_began = tell_phase("warmup", phase_began)
        if paced and not next_line():
            return index
        tokens, targets = data.at(first + index, device)
        synchronise(device)
        cpu, began = time.process_time(), time.perf_counter()
        loss, output, norm = trainer.iterate(tokens, targets, look=index == 0)
        synchronise(device)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        tell_iteration(first + index + 1, metric, ".warmup" if index < warmup else "", seconds, cpu, loss, norm)
        if index == 0:
            tell_parity(trainer, loss, output, norm)
        tell("progress", done=index + 1, of=total)
    tell_phase("train", phase_began)
    return total


def tell_phase(name, began):
    now = time.perf_counter()
    tell("phase", name=name, start_s=began - BEGAN, end_s=now - BEGAN)
    return now


CALMER = "lower learning_rate, or limit the gradient with clip"


def tell_iteration(step, metric, suffix, seconds, cpu, loss, norm):
    tell("value", metric=metric + suffix, value=seconds, unit="s", step=step)
    tell("value", metric="cpu.iteration" + suffix, value=cpu, unit="s", step=step)
    loss, norm = loss.item(), None if norm is None else norm.item()
    if not math.isfinite(loss):
        raise Ended(EXIT_DIVERGED, f"the loss is {loss} at step {step}", CALMER)
    tell("value", metric="loss.train", value=loss, step=step)
    if norm is not None:
        if not math.isfinite(norm):
            raise Ended(EXIT_DIVERGED, f"the norm of the gradient is not a finite number at step {step}", CALMER)
        tell("value", metric="gradient_norm", value=norm, step=step)


def tell_parity(trainer, loss, output, norm):
    tell("value", metric="parity.loss", value=loss.item())
    tell("value", metric="parity.output", value=output.item())
    if trainer.phase != "forward":
        norm = trainer.gradient_norm() if norm is None else norm
        tell("value", metric="parity.gradient", value=norm.item())


def run(settings):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this decides when it ends
    if not settings["paced"]:
        leave_with_parent()
    check_version(settings["mode"])
    device = open_device(settings["device"])
    torch.set_num_threads(settings["threads"])
    torch.set_float32_matmul_precision("highest")
    tell_environment(device)
    own = resident("RssAnon:")
    began = time.perf_counter()
    trainer, data = Trainer(settings, device), Data(settings)
    tell_phase("stage", began)
    steps = measure(settings, trainer, data)
    tell_memory("memory.peak", peak_memory(device))
    if device.type == "cpu" and own is not None:
        # What there was before the model, and all code that was used since.
        tell_memory("memory.interpreter", own + resident("RssFile:"))
    tell("done", steps=steps)


def out_of_memory(error):
    words = str(error)
    return isinstance(error, MemoryError) or any(
        sign in words for sign in ("out of memory", "not enough memory", "can't allocate memory", "bad_alloc")
    )


def main():
    try:
        with open(sys.argv[1]) as file:
            settings = json.load(file)
        run(settings)
    except BrokenPipeError:
        os._exit(EXIT_FAILED)  # nobody listens any more
    except Ended as ended:
        tell("failed", reason=str(ended), hint=ended.hint)
        sys.exit(ended.code)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        if out_of_memory(error):
            tell("does_not_fit", reason=reason, hint="lower batch_size, context or size, or set checkpointing = true")
        else:
            tell("failed", reason=reason)
        sys.exit(EXIT_FAILED)


if __name__ == "__main__":
    main()
