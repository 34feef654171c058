"""The peer of Clifford layers: flash-clifford's fused kernels (Triton, NVIDIA alone), where its package is, as JSON lines.

    FLASH_CLIFFORD=path/to/flash-clifford python3 benches/peers/flash_clifford.py 512
    python3 benches/peers/flash_clifford.py --batch 4096 64,512

The steerable product of Cl(2) and Cl(3) with GELU and RMS norm, forward and forward plus backward, in f32. Without PyTorch,
CUDA or the package, which has no installer and is found by FLASH_CLIFFORD or beside this script, it says so and ends well.
"""

import argparse
import importlib
import json
import os
import pathlib
import statistics
import sys

RUNS = 20
WARM_UP = 5
OPERATIONS = {
    "Cl(2,0,0)": ("ops.p2m0", "fused_gelu_sgp_norm_2d", 4, 10),
    "Cl(3,0,0)": ("ops.p3m0", "fused_gelu_sgp_norm_3d", 8, 20),
}


def tell(**line):
    print(json.dumps(line, separators=(",", ":")), flush=True)


def seconds(torch, work):
    for _ in range(WARM_UP):
        work()
    times = []
    for _ in range(RUNS):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        start.record()
        work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) * 1e-3)
    return statistics.median(times)


def run(torch, form, batch, features):
    module, name, blades, paths = OPERATIONS[form]
    operation = getattr(importlib.import_module(module), name)
    draw = lambda *shape: torch.randn(*shape, device="cuda", requires_grad=True)
    x, y, weight = draw(blades, batch, features), draw(blades, batch, features), draw(features, paths)
    g = torch.randn(blades, batch, features, device="cuda")
    with torch.no_grad():
        forward = seconds(torch, lambda: operation(x, y, weight))
    both = seconds(torch, lambda: torch.autograd.grad(operation(x, y, weight), (x, y, weight), g))
    passes = blades * batch * features * 4
    common = {"peer": "flash-clifford", "form": form, "batch": batch, "features": features, "dtype": "f32"}
    tell(**common, way="forward", seconds=forward, gbps=3 * passes / forward * 1e-9)
    tell(**common, way="forward and backward", seconds=both, gbps=8 * passes / both * 1e-9)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("features", type=lambda text: [int(size) for size in text.split(",")])
    parser.add_argument("--batch", type=int, default=4096)
    arguments = parser.parse_args()
    here = pathlib.Path(__file__).resolve().parent / "flash-clifford"
    folder = pathlib.Path(os.environ.get("FLASH_CLIFFORD", here))
    if not (folder / "ops").is_dir():
        return tell(skipped="flash-clifford is not here")
    try:
        import torch
    except ImportError as error:
        return tell(skipped=f"flash-clifford: {error}")
    if not torch.cuda.is_available():
        return tell(skipped="flash-clifford: PyTorch has no CUDA")
    sys.path.insert(0, str(folder))
    for features in arguments.features:
        for form in OPERATIONS:
            try:
                run(torch, form, arguments.batch, features)
            except Exception as error:  # of a peer's kernels anything may come
                tell(peer="flash-clifford", form=form, features=features, error=str(error)[:300])


main()
