"""Vectors of operations on images, by PyTorch in f64: writes tests/data/torch/{adaptive,interpolate,pixelshuffle}*.safetensors.

Run with torch, numpy and safetensors installed (torch 2.15.0 made the committed files):

    python3 tests/networks/images.py tests/data/torch

Images are (batch, height, width, channels) in the files, and (batch, channels, height, width) for PyTorch. Inputs are whole
multiples of 1/16, so that f32 and f16 hold them exactly. `f32_dev` is the error of PyTorch in f32, relative to the largest value.
"""

import json
import sys

import numpy
import torch
import torch.nn.functional as functional
from safetensors.numpy import save_file

CASES = [
    ("adaptiveavgpool2d", "7x10_to_3x4", [2, 7, 10, 8], {"size": [3, 4]}),
    ("adaptiveavgpool2d", "5x3_to_7x8", [1, 5, 3, 3], {"size": [7, 8]}),
    ("adaptiveavgpool2d", "6x5_to_1x1", [2, 6, 5, 4], {"size": [1, 1]}),
    ("adaptivemaxpool2d", "7x10_to_3x4_ties", [2, 7, 10, 8], {"size": [3, 4]}),
    ("adaptivemaxpool2d", "9x6_to_4x4", [1, 9, 6, 5], {"size": [4, 4]}),
    ("interpolate", "nearest_4x6_to_8x9", [1, 4, 6, 4], {"size": [8, 9], "mode": "nearest"}),
    ("interpolate", "nearest_9x8_to_4x2", [2, 9, 8, 3], {"size": [4, 2], "mode": "nearest"}),
    ("interpolate", "half_pixel_4x5_to_9x10", [2, 4, 5, 4], {"size": [9, 10], "mode": "half_pixel"}),
    ("interpolate", "half_pixel_9x8_to_4x3", [1, 9, 8, 5], {"size": [4, 3], "mode": "half_pixel"}),
    ("interpolate", "half_pixel_1x7_to_5x1", [1, 1, 7, 4], {"size": [5, 1], "mode": "half_pixel"}),
    ("interpolate", "aligned_4x5_to_9x10", [2, 4, 5, 4], {"size": [9, 10], "mode": "aligned"}),
    ("interpolate", "aligned_9x8_to_4x3", [1, 9, 8, 5], {"size": [4, 3], "mode": "aligned"}),
    ("interpolate", "aligned_5x7_to_1x2", [1, 5, 7, 4], {"size": [1, 2], "mode": "aligned"}),
    ("pixelshuffle", "2_c12", [2, 3, 4, 12], {"factor": 2}),
    ("pixelshuffle", "3_c9", [1, 2, 5, 9], {"factor": 3}),
]


def first(x):
    """(batch, height, width, channels) as (batch, channels, height, width)."""
    return x.permute(0, 3, 1, 2)


def last(x):
    return x.permute(0, 2, 3, 1)


def forward(kind, x, parameters):
    """The outputs y and, of a max pooling, the indices."""
    if kind == "adaptiveavgpool2d":
        return last(functional.adaptive_avg_pool2d(first(x), parameters["size"])), None
    if kind == "adaptivemaxpool2d":
        size = parameters["size"]
        y, indices = functional.adaptive_max_pool2d(first(x), size, return_indices=True)
        return last(y), last(indices)
    if kind == "pixelshuffle":
        return last(functional.pixel_shuffle(first(x), parameters["factor"])), None
    size, mode = parameters["size"], parameters["mode"]
    if mode == "nearest":
        return last(functional.interpolate(first(x), size=size, mode="nearest")), None
    aligned = mode == "aligned"
    return last(functional.interpolate(first(x), size=size, mode="bilinear", align_corners=aligned)), None


def sixteenths(random, shape, limit):
    return random.integers(-limit, limit + 1, size=shape).astype(numpy.float64) / 16


def outputs(kind, x, grad_y, parameters, dtype):
    leaf = torch.tensor(x, dtype=dtype, requires_grad=True)
    y, indices = forward(kind, leaf, parameters)
    y.backward(torch.tensor(grad_y, dtype=dtype))
    return {"y": y.detach().double().numpy(), "grad_x": leaf.grad.double().numpy()}, indices


def main(folder):
    for number, (kind, case, shape, parameters) in enumerate(CASES):
        random = numpy.random.default_rng(number)
        x = sixteenths(random, shape, 6 if "ties" in case else 2000)
        y, _ = forward(kind, torch.tensor(x), parameters)
        grad_y = sixteenths(random, list(y.shape), 1000)
        found, indices = outputs(kind, x, grad_y, parameters, torch.float64)
        short, _ = outputs(kind, x, grad_y, parameters, torch.float32)
        error = {name: float(abs(short[name] - of).max() / abs(of).max()) for name, of in found.items()}
        tensors = {"x": x.astype(numpy.float32), "grad_y": grad_y.astype(numpy.float32), **found}
        if indices is not None:
            tensors["indices"] = indices.numpy().astype(numpy.int32)
        metadata = {"kind": kind, "layout": "NHWC", "exact_in": "f16", "inputs": "x,grad_y"}
        metadata["outputs"] = ",".join(name for name in tensors if name not in ("x", "grad_y"))
        metadata["f32_dev"] = json.dumps(error)
        metadata["made_by"] = f"torch {torch.__version__.split('+')[0]}, f64"
        for name, value in parameters.items():
            metadata[name] = value if isinstance(value, str) else json.dumps(value)
        tensors = {name: numpy.ascontiguousarray(tensor) for name, tensor in tensors.items()}
        save_file(tensors, f"{folder}/{kind}_{case}.safetensors", metadata)


if __name__ == "__main__":
    main(sys.argv[1])
