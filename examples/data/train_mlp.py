"""Trains the perceptron of the example `mlp` and writes its weights beside this file: `python3 train_mlp.py`.

64 pixels -> 64 (GELU) -> 10 classes, on three of every four digits, as they are and shifted by a pixel; the others
are held out. Needs NumPy and ten seconds. The seed is fixed: the same NumPy on the same machine writes the same
bytes. Another may sum in another order, which moves the weights a little, and the accuracy hardly.
"""

import csv
import gzip
import math
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
HELD_OUT = 4  # rows 3, 7, 11, ... are held out, here and in examples/mlp.rs
SIZES = 64, 64, 10
EPOCHS, BATCH = 60, 64
RATE, BETAS, DECAY = 3e-3, (0.9, 0.999), 0.02  # AdamW: Loshchilov and Hutter, 2019

erf = np.vectorize(math.erf, otypes=[float])


def digits():
    """Pixels in 0..1 and classes: those to train on, then those held out."""
    with gzip.open(FOLDER / "digits.csv.gz", "rt") as file:
        rows = np.array([[int(field) for field in row] for row in csv.reader(file)])
    held_out = np.arange(len(rows)) % HELD_OUT == HELD_OUT - 1
    return [(part[:, :-1] / 16, part[:, -1]) for part in (rows[~held_out], rows[held_out])]


def shifted(x, classes):
    """Each digit as it is, and a pixel higher, lower, to the left and to the right."""
    padded = np.pad(x.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    places = (1, 1), (0, 1), (2, 1), (1, 0), (1, 2)
    x = np.concatenate([padded[:, i : i + 8, j : j + 8].reshape(-1, 64) for i, j in places])
    return x, np.tile(classes, len(places))


def forward(weights, x):
    """The logits, and what the gradient needs of the way there: z, Phi(z) and h."""
    w1, b1, w2, b2 = weights
    z = x @ w1.T + b1
    phi = (1 + erf(z / math.sqrt(2))) / 2
    h = z * phi  # GELU, the one by erf
    return h @ w2.T + b2, z, phi, h


def gradient(weights, x, classes):
    """The gradient of the mean cross-entropy, in the order of the weights."""
    y, z, phi, h = forward(weights, x)
    y = np.exp(y - y.max(axis=1, keepdims=True))
    y /= y.sum(axis=1, keepdims=True)
    y[np.arange(len(classes)), classes] -= 1
    y /= len(classes)
    dz = (y @ weights[2]) * (phi + z * np.exp(-z * z / 2) / math.sqrt(2 * math.pi))
    return dz.T @ x, dz.sum(axis=0), y.T @ h, y.sum(axis=0)


def train(x, classes):
    rng = np.random.RandomState(1)  # its stream is frozen, unlike that of default_rng
    inputs, hidden, outputs = SIZES
    weights = [
        rng.standard_normal((hidden, inputs)) * math.sqrt(2 / inputs),
        np.zeros(hidden),
        rng.standard_normal((outputs, hidden)) * math.sqrt(1 / hidden),
        np.zeros(outputs),
    ]
    means, squares = [np.zeros_like(w) for w in weights], [np.zeros_like(w) for w in weights]
    batches = math.ceil(len(x) / BATCH)
    for step in range(EPOCHS * batches):
        if step % batches == 0:
            order = rng.permutation(len(x))
        chosen = order[step % batches * BATCH :][:BATCH]
        rate = RATE * (1 + math.cos(math.pi * step / (EPOCHS * batches))) / 2
        for w, g, mean, square in zip(weights, gradient(weights, x[chosen], classes[chosen]), means, squares):
            mean += (1 - BETAS[0]) * (g - mean)
            square += (1 - BETAS[1]) * (g * g - square)
            m, s = mean / (1 - BETAS[0] ** (step + 1)), square / (1 - BETAS[1] ** (step + 1))
            w -= rate * (m / (np.sqrt(s) + 1e-8) + DECAY * w)
    # A driver may take an operand that is subnormal in f16 for zero, and no bound covers that: none is written.
    return [np.where(np.abs(w) < 2.0**-14, 0, w).astype("<f4") for w in weights]


def main():
    (x, classes), (x_held_out, classes_held_out) = digits()
    weights = train(*shifted(x, classes))
    for name, w in zip(("w1", "b1", "w2", "b2"), weights):
        np.save(FOLDER / f"mlp_{name}.npy", w)
    for name, x, classes in ("trained on", x, classes), ("held out", x_held_out, classes_held_out):
        right = int((forward(weights, x)[0].argmax(axis=1) == classes).sum())
        print(f"{name}: {right} of {len(classes)}, {right / len(classes):.1%}")


if __name__ == "__main__":
    main()
