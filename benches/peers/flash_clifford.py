"""The peer of Clifford layers: flash-clifford's fused kernels (Triton, on NVIDIA only), as JSON lines.

    FLASH_CLIFFORD=path/to/flash-clifford python3 benches/peers/flash_clifford.py 512
    python3 benches/peers/flash_clifford.py --batch 4096 64,512

The steerable product of Cl(2) and Cl(3) with GELU and RMS norm, forward and forward plus backward, in f32. The package has no
installer: FLASH_CLIFFORD names its folder, or it is next to this script. Without it, PyTorch or CUDA, one line says why
nothing was measured, and the exit status is 0.
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


def report(**line):
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


def run(torch, algebra, batch, features):
    module, name, blades, paths = OPERATIONS[algebra]
    operation = getattr(importlib.import_module(module), name)
    draw = lambda *shape: torch.randn(*shape, device="cuda", requires_grad=True)
    x, y, weight = draw(blades, batch, features), draw(blades, batch, features), draw(features, paths)
    g = torch.randn(blades, batch, features, device="cuda")
    with torch.no_grad():
        forward = seconds(torch, lambda: operation(x, y, weight))
    both = seconds(torch, lambda: torch.autograd.grad(operation(x, y, weight), (x, y, weight), g))
    tensor_bytes = blades * batch * features * 4
    common = {"peer": "flash-clifford", "variant": algebra, "batch": batch, "features": features, "dtype": "f32"}
    report(**common, direction="forward", seconds=forward, gbps=3 * tensor_bytes / forward * 1e-9)
    report(**common, direction="forward and backward", seconds=both, gbps=8 * tensor_bytes / both * 1e-9)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("features", type=lambda text: [int(size) for size in text.split(",")])
    parser.add_argument("--batch", type=int, default=4096)
    arguments = parser.parse_args()
    here = pathlib.Path(__file__).resolve().parent / "flash-clifford"
    folder = pathlib.Path(os.environ.get("FLASH_CLIFFORD", here))
    if not (folder / "ops").is_dir():
        return report(skipped="flash-clifford is not installed")
    try:
        import torch
    except ImportError as error:
        return report(skipped=f"flash-clifford: {error}")
    if not torch.cuda.is_available():
        return report(skipped="flash-clifford: PyTorch has no CUDA")
    sys.path.insert(0, str(folder))
    for features in arguments.features:
        for algebra in OPERATIONS:
            try:
                run(torch, algebra, arguments.batch, features)
            except Exception as error:  # a peer's kernels may raise anything
                report(peer="flash-clifford", variant=algebra, features=features, error=str(error)[:300])


main()
