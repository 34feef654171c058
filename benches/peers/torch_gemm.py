"""The peer on NVIDIA's devices: cuBLAS through PyTorch, on the shapes of the benches `tiles` and `variants`, as JSON
lines.

    python3 benches/peers/torch_gemm.py 1024,4096,8192
    python3 benches/peers/torch_gemm.py --device cpu 64,128     a trial of this script, by the host's clock

Without PyTorch or CUDA, one line says why nothing was measured, and the exit status is 0.
"""

import argparse
import itertools
import json
import math
import pathlib
import statistics
import sys
import time

try:
    import torch
except ImportError as error:
    torch = None
    missing = str(error)

SHAPES = pathlib.Path(__file__).resolve().parent.parent / "shapes.txt"
# Timed runs of a case; seconds that a run should take at least; products in a run at most.
RUNS = 10
ENOUGH = 0.01
MAX_PRODUCTS = 32
WARM_UP = 3
# Rows of the products of the bench `variants` that are neither GEMV nor cubes; in f16 only, as there.
SOME_ROWS = (16, 32, 64)
# Pairs of operands take turns, as in the bench `tiles`. Together they are several times as large as the largest cache
# (an H200's: 60 MB), so that no product finds its operands there from their last use.
PAIRS_BYTES = 256 << 20
MIN_PAIRS = 2
MAX_PAIRS = 32


class CudaClock:
    """Seconds by the device's events, while the device never waits for the host.

    A product costs the host some microseconds in PyTorch, which is more than the device takes for a small one.
    So the device first gets other work, which lasts until everything between the two events is queued.
    """

    name = "gpu"

    def __init__(self):
        self.other = torch.rand((4096, 4096), device="cuda", dtype=torch.float16)
        self.others = 1

    def seconds(self, work):
        while True:
            start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            torch.cuda.synchronize()
            for _ in range(self.others):
                torch.mm(self.other, self.other)
            start.record()
            work()
            end.record()
            late = start.query()
            end.synchronize()
            if not late or self.others >= 64:
                return start.elapsed_time(end) / 1e3
            self.others *= 2


class HostClock:
    """Seconds by the host's clock, on the CPU."""

    name = "host"

    def seconds(self, work):
        start = time.perf_counter()
        work()
        return time.perf_counter() - start


def kinds():
    """The kinds of products: names of both types, the operands' type, whether TF32 is allowed, the call.

    All else is PyTorch's default: for outputs of f16 and bf16, cuBLAS may add partial sums in that type.
    """

    def to_f32(a, b):
        return torch.mm(a, b, out_dtype=torch.float32)

    yield "f16", "f32", torch.float16, False, to_f32
    yield "f16", "f16", torch.float16, False, torch.mm
    yield "bf16", "f32", torch.bfloat16, False, to_f32
    yield "bf16", "bf16", torch.bfloat16, False, torch.mm
    yield "f32", "f32", torch.float32, False, torch.mm
    yield "tf32", "f32", torch.float32, True, torch.mm


def cases(cubes):
    """Shapes, layouts and kinds: the cubes in each layout, some rows, the listed shapes that are not larger.

    The products of some rows have the layout of the bench `variants`, the listed shapes those of the bench `tiles`.
    """
    for size in cubes:
        yield (size, size, size), ("nn", "nt", "tn", "tt"), list(kinds())
    of_f16 = [kind for kind in kinds() if kind[2] == torch.float16]
    for size in cubes:
        for m in SOME_ROWS:
            yield (m, size, size), ("nn",), of_f16
    for line in SHAPES.read_text().splitlines():
        if not line.startswith("#"):
            shape = tuple(map(int, line.split()))
            if math.prod(shape) <= max(cubes) ** 3:
                yield shape, ("nn", "nt"), list(kinds())


def operand(rows, columns, dtype, stored, device):
    """Random, as in our benches: on zeros a GPU draws less power and runs faster."""
    shape = (rows, columns) if stored == "n" else (columns, rows)
    matrix = torch.rand(shape, device=device).mul_(2).sub_(1).to(dtype)
    return matrix if stored == "n" else matrix.t()


def measure(shape, dtype, layout, product, device, clock):
    """Sorted seconds of one product, and how they were measured."""
    m, n, k = shape
    pair_bytes = (m * k + k * n) * (torch.finfo(dtype).bits // 8)
    count = min(max(-(-PAIRS_BYTES // pair_bytes), MIN_PAIRS), MAX_PAIRS)
    stored_a, stored_b = layout
    pairs = [
        (operand(m, k, dtype, stored_a, device), operand(k, n, dtype, stored_b, device))
        for _ in range(count)
    ]
    cycle = itertools.cycle(pairs)

    def work(products):
        for a, b in itertools.islice(cycle, products):
            product(a, b)

    work(WARM_UP)
    once = clock.seconds(lambda: work(1))
    products = min(max(math.ceil(ENOUGH / once), 1), MAX_PRODUCTS)
    seconds = sorted(clock.seconds(lambda: work(products)) / products for _ in range(RUNS))
    return seconds, {"rounds": RUNS, "products_per_round": products, "operand_pairs": count}


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("cubes", help="sizes of the cubes, such as 1024,4096")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--seconds", type=float, default=math.inf, help="after which nothing new is started")
    arguments = parser.parse_args()
    started = time.monotonic()

    def report(**fields):
        print(json.dumps(fields, separators=(",", ":")), flush=True)

    if torch is None:
        report(skipped=f"no PyTorch: {missing}")
        return
    on_cpu = arguments.device == "cpu"
    if not on_cpu and not torch.cuda.is_available():
        report(skipped=f"PyTorch {torch.__version__} finds no CUDA device")
        return
    clock = HostClock() if on_cpu else CudaClock()
    peer = f"PyTorch {torch.__version__} on the CPU" if on_cpu else f"cuBLAS, PyTorch {torch.__version__}"
    device = "cpu" if on_cpu else torch.cuda.get_device_name()
    torch.manual_seed(1)

    for shape, layouts, multiplied in cases([int(size) for size in arguments.cubes.split(",")]):
        for name, out, dtype, tf32, product in multiplied:
            torch.set_float32_matmul_precision("high" if tf32 else "highest")
            for layout in layouts:
                m, n, k = shape
                case = {"peer": peer, "device": device, "m": m, "n": n, "k": k}
                case |= {"dtype": name, "out_dtype": out, "layout": layout}
                if time.monotonic() - started > arguments.seconds:
                    report(**case, left_out="the time was up")
                    continue
                try:
                    seconds, how = measure(shape, dtype, layout, product, arguments.device, clock)
                # Older releases have no out_dtype, the CPU lacks some types, and memory may be short.
                except (TypeError, RuntimeError) as error:
                    report(**case, left_out=str(error).splitlines()[0])
                    continue
                median = statistics.median(seconds)
                report(
                    **case,
                    clock=clock.name,
                    **how,
                    gpu_seconds_median=median,
                    gpu_seconds_min=seconds[0],
                    gpu_seconds_max=seconds[-1],
                    tflops=2 * m * n * k / median * 1e-12,
                )


if __name__ == "__main__":
    main()
