"""Vectors of convolutions by PyTorch in f64: of sequences and volumes, and of training steps of a block of convolution, batch norm and
activation. Writes tests/data/torch/{conv1d,conv3d,convtrain}_*.safetensors.

Run with torch, numpy and safetensors installed (torch 2.15.0 made the committed files):

    python3 tests/networks/convolutions.py tests/data/torch

Images are (batch, ..., channels) and weights (outputs, ..., channels / groups) in the files. Inputs are whole multiples of 1/64; f32
holds them exactly, and bf16 those of sequences and volumes. `f32_dev` is the error of PyTorch in f32, relative to the largest value.
"""

import json
import sys

import numpy
import torch
import torch.nn.functional as functional
from safetensors.numpy import save_file

# The stride, the dilation and the padding are those of each axis.
PLAIN = {
    "conv1d_9_c16_o12": {"x": [2, 37, 16], "weight": [12, 9, 16], "stride": [1], "dilation": [1], "padding": [4]},
    "conv1d_3_s2_d2_groups2": {
        "x": [1, 24, 6], "weight": [8, 3, 3], "stride": [2], "dilation": [2], "padding": [1], "groups": 2,
    },
    "conv3d_3x3x3_c8_o16": {"x": [1, 4, 6, 5, 8], "weight": [16, 3, 3, 3, 8], "padding": [1, 1, 1]},
    "conv3d_3x1x2_s2_d2": {
        "x": [1, 9, 5, 6, 5], "weight": [7, 3, 1, 2, 5], "stride": [2, 1, 2], "dilation": [2, 1, 1], "padding": [2, 0, 1],
    },
    "conv3d_2x3x3_groups2": {
        "x": [1, 4, 5, 5, 16], "weight": [16, 2, 3, 3, 8], "stride": [1, 2, 1], "padding": [1, 1, 1], "groups": 2,
    },
}
# What has a batch norm in training has no bias: its gradient would be that of rounding alone.
TRAINING = {
    "3x3_silu": {"x": [2, 7, 6, 8], "weight": [12, 3, 3, 8], "activation": "silu", "training": 1},
    "3x3_s2_groups2_gelu": {
        "x": [2, 9, 8, 6], "weight": [10, 3, 3, 3], "activation": "gelu", "training": 1, "stride": [2, 2], "groups": 2,
    },
    "3x3_depthwise_d2_silu": {
        "x": [3, 6, 7, 5], "weight": [5, 3, 3, 1], "activation": "silu", "training": 1, "dilation": [2, 2],
        "padding": [2, 2, 2, 2], "groups": 5, "eps": 1e-3,
    },
    "eval_5x3_bias_silu": {
        "x": [2, 8, 6, 4], "weight": [7, 5, 3, 4], "activation": "silu", "training": 0, "bias": 1, "padding": [2, 2, 1, 1],
    },
}
DEFAULTS = {
    "stride": [1, 1], "dilation": [1, 1], "padding": [1, 1, 1, 1], "groups": 1, "bias": 0, "eps": 1e-5, "momentum": 0.1,
}
ACTIVATIONS = {"silu": functional.silu, "gelu": functional.gelu}


def first(x):
    """(batch, ..., channels) as (batch, channels, ...)."""
    return x.movedim(-1, 1)


def part(random, shape, limit):
    return random.integers(-limit, limit + 1, size=shape).astype(numpy.float64) / 64


def plain(given, case, grad_y, dtype):
    """The outputs; without `grad_y` no gradients."""
    of = {name: torch.tensor(value, dtype=dtype, requires_grad=True) for name, value in given.items()}
    function = {1: functional.conv1d, 3: functional.conv3d}[len(case["x"]) - 2]
    options = [case[name] for name in ("stride", "padding", "dilation", "groups")]
    y = function(first(of["x"]), first(of["weight"]), of["bias"], *options).movedim(1, -1)
    found = {"y": y.detach()}
    if grad_y is not None:
        y.backward(torch.tensor(grad_y, dtype=dtype))
        found |= {f"grad_{name}": leaf.grad for name, leaf in of.items()}
    return {name: value.double().numpy() for name, value in found.items()}


def training_inputs(random, case):
    outputs = case["weight"][0]
    found = {
        "x": part(random, case["x"], 128),
        "weight": part(random, case["weight"], 32),
        "gamma": 1 + part(random, [outputs], 32),
        "beta": part(random, [outputs], 64),
        "running_mean": part(random, [outputs], 64),
        "running_var": 1 + part(random, [outputs], 48),
    }
    if case["bias"]:
        found["bias"] = part(random, [outputs], 64)
    return found


def step(given, case, grad_y, dtype):
    """The outputs; without `grad_y` no gradients."""
    of = {name: torch.tensor(value, dtype=dtype) for name, value in given.items()}
    leaves = {name: of[name].requires_grad_() for name in ("x", "weight", "bias", "gamma", "beta") if name in of}
    top, bottom, left, right = case["padding"]
    assert (top, left) == (bottom, right)
    sums = functional.conv2d(
        first(of["x"]), first(of["weight"]), of.get("bias"), case["stride"], (top, left), case["dilation"], case["groups"]
    )
    statistics = of["running_mean"].clone(), of["running_var"].clone()
    training = case["training"] == 1
    normed = functional.batch_norm(
        sums, *statistics, of["gamma"], of["beta"], training, case["momentum"], case["eps"]
    )
    y = ACTIVATIONS[case["activation"]](normed).movedim(1, -1)
    found = {"y": y.detach(), "running_mean_after": statistics[0], "running_var_after": statistics[1]}
    if grad_y is not None:
        y.backward(torch.tensor(grad_y, dtype=dtype))
        found |= {f"grad_{name}": leaf.grad for name, leaf in leaves.items()}
    return {name: value.double().numpy() for name, value in found.items()}


def write(path, kind, compute, operands, case, exact_in, random):
    shape = compute(operands, case, None, torch.float64)["y"].shape
    grad_y = part(random, shape, 127)
    found = compute(operands, case, grad_y, torch.float64)
    short = compute(operands, case, grad_y, torch.float32)
    error = {name: float(abs(short[name] - value).max() / abs(value).max()) for name, value in found.items()}
    operands = operands | {"grad_y": grad_y}
    tensors = {name: value.astype(numpy.float32) for name, value in operands.items()} | found
    metadata = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in case.items()
        if name not in ("x", "weight")
    }
    metadata |= {
        "kind": kind,
        "layout": "channels last; weight outputs first",
        "exact_in": exact_in,
        "inputs": ",".join(operands),
        "outputs": ",".join(found),
        "f32_dev": json.dumps(error),
        "made_by": f"torch {torch.__version__.split('+')[0]}, f64",
    }
    save_file({name: numpy.ascontiguousarray(tensor) for name, tensor in tensors.items()}, path, metadata)


def main(folder):
    for number, (name, given) in enumerate(PLAIN.items()):
        axes = len(given["x"]) - 2
        case = {"stride": [1] * axes, "dilation": [1] * axes, "groups": 1} | given
        random = numpy.random.default_rng(number)
        limits = {"x": (case["x"], 127), "weight": (case["weight"], 63), "bias": (case["weight"][:1], 127)}
        operands = {name: part(random, *limit) for name, limit in limits.items()}
        write(f"{folder}/{name}.safetensors", name.split("_")[0], plain, operands, case, "bf16", random)
    for number, (name, given) in enumerate(TRAINING.items()):
        case = DEFAULTS | given
        random = numpy.random.default_rng(number)
        operands = training_inputs(random, case)
        write(f"{folder}/convtrain_{name}.safetensors", "convtrain", step, operands, case, "f32", random)


if __name__ == "__main__":
    main(sys.argv[1])
