"""The peer on NVIDIA's devices: cuBLAS through PyTorch, timed as the example gemm is. One JSON object per line.

    python3 benches/peers_torch.py 256,1024,4096
"""

import json
import statistics
import sys

import torch

RUNS = 10


def operand(size, dtype, stored):
    """Random, as we multiply them: on zeros a GPU draws less power and runs faster."""
    matrix = torch.rand((size, size), device="cuda").mul_(2).sub_(1).to(dtype)
    return matrix.t() if stored == "t" else matrix


def products(dtype):
    """What to time: how the sums leave, and the call."""
    if dtype == torch.float32:
        yield "f32", lambda a, b: torch.mm(a, b)
        return
    yield "f16", lambda a, b: torch.mm(a, b)
    yield "f32", lambda a, b: torch.mm(a, b, out_dtype=torch.float32)


def seconds(product, a, b):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    product(a, b)
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / 1e3


def main():
    torch.backends.cuda.matmul.allow_tf32 = False  # f32 stays f32, as with us
    peer = f"cuBLAS, PyTorch {torch.__version__}"
    for size in map(int, sys.argv[1].split(",")):
        for name, dtype in (("f32", torch.float32), ("f16", torch.float16)):
            for layout in ("nn", "nt", "tn", "tt"):
                a, b = operand(size, dtype, layout[0]), operand(size, dtype, layout[1])
                for out, product in products(dtype):
                    try:
                        for _ in range(3):
                            product(a, b)
                    except (TypeError, RuntimeError) as error:  # older releases know no out_dtype
                        print(f"{name} to {out}: {error}", file=sys.stderr)
                        continue
                    times = sorted(seconds(product, a, b) for _ in range(RUNS))
                    median = statistics.median(times)
                    report = {
                        "peer": peer,
                        "device": torch.cuda.get_device_name(),
                        "m": size,
                        "n": size,
                        "k": size,
                        "dtype": name,
                        "out_dtype": out,
                        "layout": layout,
                        "gpu_seconds_median": median,
                        "gpu_seconds_min": times[0],
                        "gpu_seconds_max": times[-1],
                        "tflops": 2 * size**3 / median * 1e-12,
                    }
                    print(json.dumps(report, separators=(",", ":")), flush=True)


if __name__ == "__main__":
    main()
