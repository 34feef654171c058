"""Trains the network of the example `classify` and writes `classifier.safetensors` beside this file.

The pictures are those of `examples/classify/pictures.rs`: digits of `digits.csv.gz`, enlarged, slanted and coloured, on
noisy paper, 64 x 64 pixels of three colours. Every fourth digit is held out. Each epoch draws the others anew, with other
numbers. Needs PyTorch, NumPy, safetensors and five minutes. The seed is fixed; another version may
sum in another order, which moves the weights a little, and the accuracy hardly.
"""

import csv
import gzip
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

FOLDER = Path(__file__).resolve().parent
HELD_OUT = 4  # rows 3, 7, 11, ... are held out, here and in examples/classify
EDGE = 64
EPOCHS, BATCH, RATE = 60, 32, 4e-3
EXPECTED = 8  # held-out pictures whose outputs are stored

# Output channels, edge of the kernel, stride, and whether it is depthwise or adds the input of the layer before it: LAYERS
# of examples/classify/network.rs.
LAYERS = [
    (16, 3, 2, ""),
    (16, 3, 1, "depthwise"),
    (32, 1, 1, ""),
    (67, 3, 2, ""),
    (16, 1, 1, ""),
    (67, 3, 1, "residual"),
    (67, 3, 2, "depthwise"),
    (128, 1, 1, ""),
    (32, 1, 1, ""),
    (128, 3, 1, "residual"),
    (128, 3, 2, "depthwise"),
    (129, 1, 1, ""),
    (32, 1, 1, ""),
    (129, 3, 1, "residual"),
]
CLASSES = 10


def uniform(seeds, first, count):
    """Numbers `first` to `first + count` of SplitMix64 from each seed, in [0, 1): (seeds, count)."""
    with np.errstate(over="ignore"):
        places = np.arange(first + 1, first + count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = seeds.astype(np.uint64)[:, None] + places
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) / 2.0**53


def bilinear(grid, y, x):
    """Values of each grid between its points, and 0 outside: grid (n, h, w), places (n, H, W)."""
    n, height, width = grid.shape
    row, column = np.floor(y), np.floor(x)
    down, across = y - row, x - column
    row, column = row.astype(np.int64), column.astype(np.int64)
    each = np.arange(n)[:, None, None]

    def at(i, j):
        inside = (i >= 0) & (i < height) & (j >= 0) & (j < width)
        return np.where(inside, grid[each, np.clip(i, 0, height - 1), np.clip(j, 0, width - 1)], 0.0)

    upper = at(row, column) * (1.0 - across) + at(row, column + 1) * across
    lower = at(row + 1, column) * (1.0 - across) + at(row + 1, column + 1) * across
    return upper * (1.0 - down) + lower * down


def pictures(digits, seeds):
    """Bytes (n, 64, 64, 3) of digits (n, 8, 8) in 0..16."""
    n = len(digits)
    u = uniform(seeds, 0, 95)
    one = [u[:, i][:, None, None] for i in range(14)]
    side = 40.0 + 20.0 * one[0]
    top, left = (EDGE - side) * one[1], (EDGE - side) * one[2]
    slant, tilt = 0.5 * (one[3] - 0.5), one[4]
    paper = 0.15 + 0.7 * u[:, 5:8]
    step = 0.3 + 0.3 * u[:, 8:11]
    ink_colour = np.where(paper < 0.5, paper + step, paper - step)
    faded = paper + 0.3 * (u[:, 11:14] - 0.5)
    rows, columns = np.arange(EDGE, dtype=np.float64)[:, None], np.arange(EDGE, dtype=np.float64)[None, :]
    y = (rows + 0.5 - top) / side * 8.0 - 0.5 + 0.0 * columns
    x = (columns + 0.5 - left) / side * 8.0 - 0.5 + slant * (y - 3.5)
    ink = bilinear(digits.astype(np.float64), y, x) / 16.0
    fade = (rows * tilt + columns * (1.0 - tilt)) / 63.0
    places = np.zeros((n, EDGE, EDGE))
    clouds = bilinear(u[:, 14:95].reshape(n, 9, 9), rows / 8.0 + places, columns / 8.0 + places)
    grain = uniform(seeds, 95, EDGE * EDGE * 3).reshape(n, EDGE, EDGE, 3)
    colour = paper[:, None, None] + (faded - paper)[:, None, None] * fade[..., None]
    colour = colour + ink[..., None] * (ink_colour[:, None, None] - colour)
    colour = colour + 0.3 * (clouds - 0.5)[..., None] + 0.24 * (grain - 0.5)
    return np.floor(np.clip(colour, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8)


def inputs(pictures):
    """What the network reads: bytes as -1 to 1, which f16 and bf16 hold exactly. PyTorch has channels first."""
    return torch.from_numpy((pictures.astype(np.float32) - 128.0) / 128.0).permute(0, 3, 1, 2)


def digits():
    """Rows, digits and classes: those to train on, then those held out."""
    with gzip.open(FOLDER / "digits.csv.gz", "rt") as file:
        table = np.array([[int(field) for field in row] for row in csv.reader(file)])
    rows = np.arange(len(table))
    held_out = rows % HELD_OUT == HELD_OUT - 1
    return [(rows[part], table[part, :-1].reshape(-1, 8, 8), table[part, -1]) for part in (~held_out, held_out)]


class Layer(nn.Module):
    def __init__(self, channels, outputs, kernel, stride, kind):
        super().__init__()
        groups = channels if kind == "depthwise" else 1
        self.conv = nn.Conv2d(channels, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
        self.bn = nn.BatchNorm2d(outputs)

    def forward(self, x):
        return functional.silu(self.bn(self.conv(x)))


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        channels = [3] + [outputs for outputs, *_ in LAYERS]
        self.layers = nn.ModuleList(Layer(of, *layer) for of, layer in zip(channels, LAYERS))
        self.classifier = nn.Linear(channels[-1], CLASSES)

    def forward(self, x):
        for layer, (*_, kind) in zip(self.layers, LAYERS):
            y = layer(x)
            x, before = y + before if kind == "residual" else y, x
        return self.classifier(x.mean((2, 3)))


def right(network, x, classes):
    network.eval()
    with torch.no_grad():
        found = torch.cat([network(part).argmax(1) for part in x.split(64)])
    return int((found == torch.from_numpy(classes)).sum())


def train(rows, marks, classes):
    torch.manual_seed(1)
    network = Network().to(memory_format=torch.channels_last)
    random = np.random.RandomState(1)
    descent = torch.optim.AdamW(network.parameters(), RATE, weight_decay=0.02)
    steps = EPOCHS * (len(rows) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(descent, RATE, total_steps=steps)
    for epoch in range(EPOCHS):
        network.train()
        order, total = random.permutation(len(rows)), 0.0
        for batch in range(len(rows) // BATCH):
            chosen = order[batch * BATCH :][:BATCH]
            x = inputs(pictures(marks[chosen], rows[chosen] + 100_000 * (epoch + 1)))
            loss = functional.cross_entropy(
                network(x.contiguous(memory_format=torch.channels_last)),
                torch.from_numpy(classes[chosen]),
                label_smoothing=0.05,
            )
            descent.zero_grad()
            loss.backward()
            descent.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch + 1}: loss {total / (len(rows) // BATCH):.3f}", flush=True)
    return network


def main():
    torch.set_num_threads(1)  # two are slower for layers of this size
    (rows, marks, classes), (rows_held_out, marks_held_out, classes_held_out) = digits()
    network = train(rows, marks, classes)
    # Weights are stored in f16: no element is subnormal there, which a driver may take for zero.
    with torch.no_grad():
        for name, tensor in network.named_parameters():
            if name.endswith("conv.weight") or name == "classifier.weight":
                tensor.copy_(torch.where(tensor.abs() < 2.0**-14, 0.0, tensor).half().float())
    x = inputs(pictures(marks_held_out, np.arange(len(rows_held_out))))  # their number is the seed
    found = right(network, x, classes_held_out)
    print(f"held out: {found} of {len(rows_held_out)}, {found / len(rows_held_out):.1%}")
    tensors = {
        name: tensor.half() if name.endswith("conv.weight") or name == "classifier.weight" else tensor
        for name, tensor in network.state_dict().items()
        if not name.endswith("num_batches_tracked")
    }
    with torch.no_grad():
        tensors["expected"] = network.double()(x[:EXPECTED].double())
    tensors = {name: tensor.contiguous() for name, tensor in tensors.items()}
    out = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER / "classifier.safetensors"
    save_file(tensors, out, {"origin": "examples/data/train_classifier.py"})


if __name__ == "__main__":
    main()
