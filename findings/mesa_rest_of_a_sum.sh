#!/usr/bin/env bash
# The rest of a rounded sum is 0 on Mesa's lavapipe: compensated sums are plain ones.
#
# Guess: a kernel that stores `b - ((a + b) - a)` stores what the rounding of a + b has lost (Dekker's fast two-sum), since
# every operation is one of f32, and the shader names no other order.
# Seen: Mesa simplifies (a + b) - a to b before it compiles, in one expression and over several `let`s, and through a pair
# of bitcasts. The rest is 0 where it is nearly all of b, `(a + b) - a` is b in all its bits, and a Kahan sum has the bits
# of a plain one. WGSL lets compilers reassociate; SPIR-V's NoContraction would forbid it, and WGSL has no word for that.
# What keeps the rest: bits of the sum cut off by a mask from a buffer, which the compiler does not know.
#
# Versions: wgpu 0.32.0 and numpy 2.3.5 of PyPI; mesa-vulkan-drivers 22.3.6-1+deb12u2 of Debian 12. Run on Debian 12, x86-64.
# Passes where this is what happens, and fails where it has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

python3 -m venv venv
venv/bin/pip install --quiet wgpu==0.32.0 numpy==2.3.5
mkdir -p debs/partial root
[ "$(id -u)" -ne 0 ] || apt-get update -qq # as another user: the lists that there are
apt-get install --yes --quiet --download-only -o Dir::Cache::archives="$work/debs" -o APT::Sandbox::User="$(id -un)" \
    mesa-vulkan-drivers=22.3.6-1+deb12u2 libvulkan1 >/dev/null
for package in debs/*.deb; do
    dpkg -x "$package" root
done
libraries=$work/root/usr/lib/x86_64-linux-gnu
printf '{"file_format_version": "1.0.0", "ICD": {"api_version": "1.1.230", "library_path": "%s"}}\n' \
    "$libraries/libvulkan_lvp.so" >driver.json

cat >seen.py <<'END'
import sys
import numpy as np
import wgpu

SHADER = """
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

@compute @workgroup_size(1)
fn main() {
    let a = x[0];
    let b = x[1];
    y[0] = b - ((a + b) - a);
    y[1] = (a + b) - a;
    let through_bits = bitcast<f32>(bitcast<u32>(a + b));
    y[2] = b - (through_bits - a);
    let masked = bitcast<f32>(bitcast<u32>(a + b) & bitcast<u32>(x[2]));
    y[3] = b - (masked - a);
    var kahan = 0.0;
    var rest = 0.0;
    var plain = 0.0;
    for (var i = 0u; i < 1000u; i++) {
        let corrected = b - rest;
        let next = kahan + corrected;
        rest = (next - kahan) - corrected;
        kahan = next;
        plain += b;
    }
    y[4] = kahan;
    y[5] = plain;
}
"""

adapters = wgpu.gpu.enumerate_adapters_sync()
adapter = next(adapter for adapter in adapters if "llvmpipe" in adapter.info["device"])
print("driver:", adapter.info["description"])
device = adapter.request_device_sync()
f32 = np.float32
x = np.array([1.0, 0.1, 0.0], f32)
x.view(np.uint32)[2] = 0xFFFFFFFF
usage = wgpu.BufferUsage
given = device.create_buffer_with_data(data=x, usage=usage.STORAGE)
result = device.create_buffer(size=24, usage=usage.STORAGE | usage.COPY_SRC)
module = device.create_shader_module(code=SHADER)
pipeline = device.create_compute_pipeline(layout="auto", compute={"module": module, "entry_point": "main"})
entries = [{"binding": i, "resource": {"buffer": buffer}} for i, buffer in enumerate((given, result))]
group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
encoder = device.create_command_encoder()
compute = encoder.begin_compute_pass()
compute.set_pipeline(pipeline)
compute.set_bind_group(0, group)
compute.dispatch_workgroups(1)
compute.end()
device.queue.submit([encoder.finish()])
y = np.frombuffer(device.queue.read_buffer(result), f32)

a, b = x[0], x[1]
rest = b - ((a + b) - a)
kahan, lost, plain = f32(0), f32(0), f32(0)
for _ in range(1000):
    corrected = b - lost
    following = kahan + corrected
    lost = (following - kahan) - corrected
    kahan = following
    plain = plain + b
rows = [
    ("b - ((a + b) - a)", y[0], rest, f32(0)),
    ("(a + b) - a", y[1], (a + b) - a, b),
    ("the rest, through a pair of bitcasts", y[2], rest, f32(0)),
    ("the rest, through a mask from a buffer", y[3], rest, rest),
    ("1,000 times 0.1, a Kahan sum", y[4], kahan, y[5]),
    ("1,000 times 0.1, a plain sum", y[5], plain, plain),
]
print(f"{'what, with a = 1 and b = 0.1':40} {'stored':>16} {'as f32 on a CPU':>16}")
for what, stored, on_cpu, _ in rows:
    print(f"{what:40} {stored:16.9g} {on_cpu:16.9g}")
changed = [what for what, stored, _, seen in rows if stored != seen]
if changed or rest == 0 or kahan == plain:
    sys.exit(f"changed: {changed}")
print("as seen: the rest is 0, and the Kahan sum is the plain one")
END
VK_DRIVER_FILES=$work/driver.json LD_LIBRARY_PATH=$libraries venv/bin/python seen.py
