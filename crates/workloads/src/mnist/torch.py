"""The workload `mnist` in PyTorch.

The network, its initial weights, the order of its data and its masks of dropout are those that the documentation of the
native engine defines (`mnist.rs`, `mnist/network.rs`, `schedule.rs` and `initial.rs`), so that both engines compute the
same numbers. Pixels in order and masks are laid ready before the clock runs.
"""

import math
import os

from assay_adapter import draws, fill_uniform, finalize_all, key_of, main, mix, norm_of, root_mean_square, shifted, signed
from assay_adapter import GOLDEN, RANK, SIZE, averaged, emit, mean_of_tasks, root_mean_of_tasks
import torch
import torch.nn.functional as F

SIDE, CLASSES, HIDDEN = 28, 10, 128

# The network.


class Block(torch.nn.Module):
    def __init__(self, channels, filters):
        super().__init__()
        self.conv = torch.nn.Conv2d(channels, filters, 3)

    def forward(self, x):
        return F.relu(F.max_pool2d(self.conv(x), 2))


class Network(torch.nn.Module):
    """The names of its parameters are the names of the tensors."""

    def __init__(self, softmax):
        super().__init__()
        self.softmax = softmax
        self.layer1 = Block(1, 32)
        self.layer2 = Block(32, 64)
        self.layer3 = torch.nn.Linear(1600, HIDDEN)
        self.layer4 = torch.nn.Linear(HIDDEN, CLASSES)

    def initialize(self, seed):
        inputs = {"layer1": 9, "layer2": 288, "layer3": 1600, "layer4": HIDDEN}
        for name, tensor in self.named_parameters():
            fill_uniform(tensor, name, seed, 1.0 / math.sqrt(inputs[name.split(".")[0]]))

    def outputs(self, images, mask=None):
        hidden = F.relu(self.layer3(self.layer2(self.layer1(images)).flatten(1)))
        return self.layer4(hidden if mask is None else hidden * mask)

    def forward(self, images, labels, mask):
        """The loss, and the outputs for whoever wants to look at them."""
        outputs = self.outputs(images, mask)
        return F.cross_entropy(outputs.softmax(1) if self.softmax else outputs, labels), outputs.detach()


# Data.


def read_bytes(path):
    return torch.from_file(path, shared=False, size=os.path.getsize(path), dtype=torch.uint8)


class Images:
    """Images with labels, from files of bytes."""

    def __init__(self, settings, part):
        self.pixels = read_bytes(settings[part + "_images"]).view(-1, SIDE * SIDE)
        self.labels = read_bytes(settings[part + "_labels"])
        values = (torch.arange(256, dtype=torch.float64) / 255.0 - 0.1307) / 0.3081
        self.values = values.to(torch.float32).to(torch.get_default_dtype())

    def __len__(self):
        return self.labels.numel()

    def take(self, numbers, device, memory_format):
        """The images with these numbers, and their labels."""
        images = self.values[self.pixels[numbers].long()].view(-1, 1, SIDE, SIDE)
        return images.to(device, memory_format=memory_format), self.labels[numbers].long().to(device)


def order_of(seed, epoch, count):
    """The order of an epoch: sample numbers, sorted by draws as unsigned numbers."""
    keys = draws(mix(key_of("order", seed), epoch), 0, count)
    return torch.sort(keys ^ signed(1 << 63), stable=True).indices


HALF = 0xFFFFFFFF


def spread(number):
    number = ((number ^ (number >> 16)) * 0x7FEB352D) & HALF
    number = ((number ^ (number >> 15)) * 0x846CA68B) & HALF
    return number ^ (number >> 16)


def masks_of(seed, step, rows, probability):
    """The masks of dropout of a step: rows by numbers of the hidden layer."""
    seeds = draws(mix(key_of("dropout", seed), step), 0, rows)
    keys = finalize_all(seeds + signed(GOLDEN)).unsqueeze(1)
    low, high = keys & HALF, shifted(keys, 32)
    drawn = spread(spread((torch.arange(HIDDEN) + low) & HALF) ^ high) >> 8
    single = torch.tensor(probability, dtype=torch.float32)
    threshold = math.floor(single.item() * (1 << 24) + 0.5)
    scale = (torch.ones((), dtype=torch.float32) / (1.0 - single)).item()
    return torch.where(drawn < threshold, 0.0, scale).to(torch.get_default_dtype())


# The run.


class Trainer:
    """A network with its data: computes one iteration, which is a few steps, after the other."""

    def __init__(self, settings, device):
        self.device, self.seed, self.dropout = device, settings["seed"], settings["dropout"]
        # Steps are those of all tasks together.
        self.batch, self.test_batch = SIZE * settings["batch_size"], settings["test_batch_size"]
        self.done = 0  # iterations before this run
        self.steps_done, self.step_limit = 0, settings["steps"]
        self.train, self.test = Images(settings, "train"), Images(settings, "test")
        self.steps_of_epoch = -(-len(self.train) // self.batch)
        self.steps_per_iteration = min(settings["steps_per_iteration"], self.steps_of_epoch)
        self.epoch, self.epoch_s = None, 0.0
        last = settings["mode"] == "channels_last"
        self.memory_format = torch.channels_last if last else torch.contiguous_format
        self.model = Network(settings["softmax"])
        with torch.no_grad():
            self.model.initialize(self.seed)
        self.model.to(device, memory_format=self.memory_format)
        self.parameters = list(self.model.parameters())
        self.optimizer = make_optimizer(self.parameters, settings)
        model = averaged(self.model)
        self.compute = torch.compile(model) if settings["mode"] == "compile" else model
        self.first = None

    def prepare(self, number):
        """Lays images, labels and masks of all steps of an iteration ready."""
        per_epoch = -(-self.steps_of_epoch // self.steps_per_iteration)
        epoch, within = divmod(number, per_epoch)
        if epoch != self.epoch:
            self.epoch, self.order = epoch, order_of(self.seed, epoch, len(self.train))
        begin = within * self.steps_per_iteration
        end = min(begin + self.steps_per_iteration, self.steps_of_epoch)
        end = min(end, self.step_limit - epoch * self.steps_of_epoch)
        self.ends_epoch = end == self.steps_of_epoch
        self.ready = []
        for step in range(begin, end):
            numbers = self.order[step * self.batch : (step + 1) * self.batch]
            total = len(numbers)
            mine = slice(total * RANK // SIZE, total * (RANK + 1) // SIZE)
            images, labels = self.train.take(numbers[mine], self.device, self.memory_format)
            mask = masks_of(self.seed, epoch * self.steps_of_epoch + step, total, self.dropout)[mine]
            self.ready.append((images, labels, mask.to(self.device), total))

    def step(self, images, labels, mask, total, look):
        for parameter in self.parameters:
            parameter.grad = None
        loss, outputs = self.compute(images, labels, mask)
        if SIZE > 1:
            # The mean over the tasks is the mean over all samples, also where tasks have different numbers of them.
            loss = loss * (SIZE * labels.numel() / total)
        loss.backward()
        loss = mean_of_tasks(loss.detach())
        if look:
            self.first = loss, root_mean_of_tasks(root_mean_square(outputs)), self.gradient_norm()
        self.optimizer.step()
        return loss

    def iterate(self, look):
        """All steps of an iteration. Gives the mean loss of its samples, or the first that is not a finite number."""
        losses, samples = [], []
        for number, (images, labels, mask, total) in enumerate(self.ready):
            losses.append(self.step(images, labels, mask, total, look and number == 0))
            samples.append(total)
        losses = torch.stack(losses)
        samples = torch.tensor(samples, device=self.device)
        mean = (losses * samples).sum() / samples.sum()
        if not torch.isfinite(mean):
            wrong = torch.isfinite(losses).logical_not().nonzero().flatten()
            if wrong.numel():
                self.steps_done += int(wrong[0]) + 1
                return losses[wrong[0]], None, None
        self.steps_done += len(self.ready)
        return mean, None, None

    def parity(self):
        return self.first

    def steps(self, iterations):
        return self.steps_done

    def gradient_norm(self):
        return torch.linalg.vector_norm(torch.stack([norm_of(parameter.grad) for parameter in self.parameters]))

    def timed(self, seconds):
        self.epoch_s += seconds

    def follow(self, index, last):
        """Tests after every epoch."""
        if not (last or self.ends_epoch):
            return
        right, loss = self.evaluate()
        emit("value", metric="epoch_s", value=self.epoch_s, unit="s", step=self.steps_done)
        accuracy = {"metric": "accuracy", "value": right / len(self.test), "count": float(len(self.test))}
        emit("value", step=self.steps_done, **accuracy)
        if math.isfinite(loss):
            emit("value", metric="loss.test", value=loss, step=self.steps_done)
        if last:
            emit("value", **accuracy)
        self.epoch_s = 0.0

    def evaluate(self):
        """Right answers and the mean loss on the test images, without dropout."""
        right, loss = 0, 0.0
        with torch.inference_mode():
            for numbers in torch.arange(len(self.test)).split(self.test_batch):
                images, labels = self.test.take(numbers, self.device, self.memory_format)
                outputs = self.model.outputs(images)
                right += int((outputs.argmax(1) == labels).sum())
                outputs = outputs.softmax(1) if self.model.softmax else outputs
                loss += F.cross_entropy(outputs, labels, reduction="sum").item()
        return right, loss / len(self.test)


def make_optimizer(parameters, settings):
    options = {"lr": settings["learning_rate"], "momentum": settings["momentum"]}
    try:
        return torch.optim.SGD(parameters, fused=True, **options)
    except (RuntimeError, TypeError):
        return torch.optim.SGD(parameters, **options)  # an older PyTorch, or a device that has no fused one


if __name__ == "__main__":
    main(Trainer)
