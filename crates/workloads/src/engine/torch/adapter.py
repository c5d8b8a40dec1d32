"""What all workloads share that run in PyTorch: random numbers, devices, the loop, and what is said as lines of JSON.

A workload's own script imports this and calls `main` with a class. An object of it is made with the settings and the
device, and has `done` (iterations before this run), `prepare(number)` (lays the data of the iteration with that number
ready, from 0), `iterate(look)` (computes it; gives the loss or None, the root mean square of the outputs where it was
asked to look, and the norm of the gradient or None), `gradient_norm()` (None without gradients) and
`follow(index, last)` (what comes after an iteration outside its time). Where an iteration is several steps, it also has
`steps(iterations)` (how many steps were done), `parity()` (loss, output and norm of the first step) and
`timed(seconds)`. With several tasks, each has the part of the data that its rank says, losses and outputs are those of all
together, and gradients are averaged by DistributedDataParallel over gloo. Needs Python 3.9 and PyTorch 1.13 or later, and nothing else; modes `sdpa`
and `compile` need PyTorch 2.
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
# Several tasks are processes that torchrun started.
RANK, SIZE = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


def emit(kind, **fields):
    """Says one thing on standard output; fields that are None are left out. Of several tasks only the first speaks, unless
    another one fails."""
    if RANK and kind not in ("failed", "does_not_fit"):
        return
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
except ImportError as error:
    emit("failed", reason=f"Python {sys.version.split()[0]} at {sys.executable} cannot import torch: {error}")
    sys.exit(EXIT_MISSING)


# The counter-based generator. Words of 64 bits are Python integers for single draws, and torch's signed integers,
# whose products wrap around in the same way, for many at once.

WORD = (1 << 64) - 1
GOLDEN = 0x9E3779B97F4A7C15
FACTORS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)


def finalize(z):
    z = (z ^ (z >> 30)) * FACTORS[0] & WORD
    z = (z ^ (z >> 27)) * FACTORS[1] & WORD
    return z ^ (z >> 31)


def mix(word, number):
    return finalize(word ^ finalize((number + GOLDEN) & WORD))


def key_of(name, seed):
    word = 0xCBF29CE484222325
    for byte in name.encode():
        word = (word ^ byte) * 0x100000001B3 & WORD
    return mix(word, seed)


def draw(key, index):
    return finalize((key + (index + 1) * GOLDEN) & WORD)


def signed(word):
    return word - (1 << 64) if word >> 63 else word


def shifted(z, bits):
    """The words shifted to the right as unsigned ones."""
    return (z >> bits).bitwise_and_((1 << (64 - bits)) - 1)


def draws(key, first, count):
    """The draws first, first + 1, ... as a tensor of 64-bit words."""
    z = torch.arange(first + 1, first + count + 1, dtype=torch.int64)
    return finalize_all(z.mul_(signed(GOLDEN)).add_(signed(key)))


def finalize_all(z):
    """The same as `finalize` for a tensor of words, in place."""
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


# Files.


class Checkpoint:
    """A safetensors file, which whoever started this has checked: the length of the header in 8 bytes, the header as
    JSON with the place of the data of each tensor, the data."""

    def __init__(self, path):
        self.file = open(path, "rb")
        length = int.from_bytes(self.file.read(8), "little")
        self.header, self.start = json.loads(self.file.read(length)), 8 + length
        self.metadata = self.header.get("__metadata__", {})

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
        emit("value", metric=metric, value=bytes_used, unit="B")


def tell_environment(device):
    """Says which PyTorch computes, with what."""
    parallel = [line.strip() for line in torch.__config__.parallel_info().splitlines()]
    libraries = [line for line in parallel if line.startswith(("Intel(R)", "OpenMP", "ATen parallel"))]
    if device.type == "cuda":
        libraries += [torch.cuda.get_device_name(device), "TF32 off"]
    threads = f"{torch.get_num_threads()} threads"
    emit("setting", name="torch", value=torch.__version__)
    emit("note", text="; ".join([f"PyTorch {torch.__version__}", threads, *libraries]))


# Several tasks.


def join_tasks():
    """Joins the other tasks. Gloo connects processes on the CPU."""
    if SIZE > 1:
        import torch.distributed

        torch.distributed.init_process_group("gloo")


def leave_tasks():
    if SIZE > 1:
        torch.distributed.destroy_process_group()


def averaged(model):
    """The model, with gradients that are means over all tasks; they are averaged while the backward pass goes on."""
    return torch.nn.parallel.DistributedDataParallel(model) if SIZE > 1 else model


def sum_of_tasks(number):
    """The sum of a number over all tasks."""
    if SIZE == 1:
        return number
    total = torch.tensor(float(number), dtype=torch.float64)
    torch.distributed.all_reduce(total)
    return total.item()


def mean_of_tasks(x):
    """The mean of a tensor over all tasks; None stays None."""
    if SIZE == 1 or x is None:
        return x
    x = x.detach().double()
    torch.distributed.all_reduce(x)
    return x / SIZE


def root_mean_of_tasks(x):
    """The root mean square over all tasks, of their root mean squares."""
    return x if SIZE == 1 or x is None else mean_of_tasks(x.double().square()).sqrt()


# The run.


def norm_of(x):
    """The norm by rows first: one sum over millions of 32-bit floats would lose digits."""
    return torch.linalg.vector_norm(torch.linalg.vector_norm(x, dim=-1))


def root_mean_square(x):
    return norm_of(x) / math.sqrt(x.numel())


def make_optimizer(parameters, settings):
    """AdamW with the settings that all workloads have."""
    options = {"lr": settings["learning_rate"], "weight_decay": settings["weight_decay"]}
    try:
        return torch.optim.AdamW(parameters, fused=True, **options)
    except (RuntimeError, TypeError):
        return torch.optim.AdamW(parameters, **options)  # an older PyTorch, or a device that has no fused one


def check_version(mode):
    """Refuses what this PyTorch is too old for."""
    needed = {
        "eager": (hasattr(torch, "frombuffer"), "1.13"),
        "sdpa": (hasattr(F, "scaled_dot_product_attention"), "2.0"),
        "compile": (hasattr(torch, "compile"), "2.0"),
    }
    there, version = needed.get(mode, needed["eager"])
    if not there:
        hint = f"use PyTorch {version} or later" + ("" if mode == "eager" else ", or mode = eager")
        raise Ended(EXIT_MISSING, f"PyTorch {torch.__version__} is too old for mode `{mode}`", hint)


def next_line():
    """Waits for a line on standard input; false when there will be none. The first task waits for all."""
    is_there = RANK == 0 and bool(sys.stdin.readline())
    return sum_of_tasks(is_there) > 0


def leave_with_parent():
    """Ends this process when standard input ends, because then the process that started this one is gone."""

    def watch():
        while os.read(0, 4096):
            pass
        os._exit(EXIT_FAILED)

    threading.Thread(target=watch, daemon=True).start()


def measure(settings, trainer, device):
    """All iterations; gives how many were done."""
    warmup, paced = settings["warmup"], settings["paced"]
    metric, first, total = "time.iteration", trainer.done, warmup + settings["iterations"]
    phase_began = time.perf_counter()
    for index in range(total):
        if index == warmup and warmup:
            phase_began = tell_phase("warmup", phase_began)
        if paced and not next_line():
            return index
        trainer.prepare(first + index)
        synchronise(device)
        cpu, began = time.process_time(), time.perf_counter()
        loss, output, norm = trainer.iterate(look=index == 0)
        synchronise(device)
        seconds, cpu = time.perf_counter() - began, sum_of_tasks(time.process_time() - cpu)
        step = trainer.steps(index + 1) if hasattr(trainer, "steps") else first + index + 1
        if hasattr(trainer, "timed"):
            trainer.timed(seconds)
        tell_iteration(step, metric, ".warmup" if index < warmup else "", seconds, cpu, loss, norm)
        if index == 0:
            tell_parity(trainer, *(trainer.parity() if hasattr(trainer, "parity") else (loss, output, norm)))
        emit("progress", done=index + 1, of=total)
        trainer.follow(index, index + 1 == total)
    tell_phase("train", phase_began)
    return total


def tell_phase(name, began):
    now = time.perf_counter()
    emit("phase", name=name, start_s=began - BEGAN, end_s=now - BEGAN)
    return now


CALMER = "lower learning_rate, or limit the gradient with clip"


def tell_iteration(step, metric, suffix, seconds, cpu, loss, norm):
    emit("value", metric=metric + suffix, value=seconds, unit="s", step=step)
    emit("value", metric="cpu.iteration" + suffix, value=cpu, unit="s", step=step)
    if loss is None:
        return
    loss, norm = loss.item(), None if norm is None else norm.item()
    if not math.isfinite(loss):
        raise Ended(EXIT_DIVERGED, f"the loss is {loss} at step {step}", CALMER)
    emit("value", metric="loss.train", value=loss, step=step)
    if norm is not None:
        if not math.isfinite(norm):
            raise Ended(EXIT_DIVERGED, f"the norm of the gradient is not a finite number at step {step}", CALMER)
        emit("value", metric="gradient_norm", value=norm, step=step)


def tell_parity(trainer, loss, output, norm):
    if loss is not None:
        emit("value", metric="parity.loss", value=loss.item())
    emit("value", metric="parity.output", value=output.item())
    norm = trainer.gradient_norm() if norm is None else norm
    if norm is not None:
        emit("value", metric="parity.gradient", value=norm.item())


def run(settings, workload):
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this decides when it ends
    if not settings["paced"]:
        leave_with_parent()
    check_version(settings["mode"])
    device = open_device(settings["device"])
    torch.set_num_threads(max(settings["threads"] // SIZE, 1))
    join_tasks()
    torch.set_float32_matmul_precision("highest")
    tell_environment(device)
    own = resident("RssAnon:")
    began = time.perf_counter()
    trainer = workload(settings, device)
    tell_phase("stage", began)
    steps = measure(settings, trainer, device)
    peak = peak_memory(device)
    tell_memory("memory.peak", None if peak is None else sum_of_tasks(peak))
    if device.type == "cpu" and own is not None:
        # What there was before the model, and all code that was used since.
        tell_memory("memory.interpreter", sum_of_tasks(own + resident("RssFile:")))
    leave_tasks()
    emit("done", steps=steps)


def out_of_memory(error):
    words = str(error)
    return isinstance(error, MemoryError) or any(
        sign in words for sign in ("out of memory", "not enough memory", "can't allocate memory", "bad_alloc")
    )


def main(workload):
    try:
        with open(sys.argv[1]) as file:
            settings = json.load(file)
        run(settings, workload)
    except BrokenPipeError:
        os._exit(EXIT_FAILED)  # nobody listens any more
    except Ended as ended:
        emit("failed", reason=str(ended), hint=ended.hint)
        sys.exit(ended.code)
    except Exception as error:
        reason = f"{type(error).__name__}: {error}".strip().splitlines()[0]
        if out_of_memory(error):
            emit("does_not_fit", reason=reason, hint="lower batch_size or the size of the model")
        else:
            emit("failed", reason=reason)
        sys.exit(EXIT_FAILED)
