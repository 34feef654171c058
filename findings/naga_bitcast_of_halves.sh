#!/usr/bin/env bash
# naga 30 keeps the width of what a bitcast is given: WGSL cannot make words of halves, nor halves of words.
#
# Guess: `bitcast<u32>(v)` of a vec2<f16>, `bitcast<vec2<u32>>(v)` of a vec4<f16> and the ways back are what WGSL says, a change of
# type that moves no bit, so a shader can convert to f16, look at the bits, and store words.
# Seen: naga refuses each. It takes the kind of the scalar from the target and the width from the operand: the bitcast of a vec2<f16>
# to u32 has the type vec2<u16>, that of a vec2<u32> to vec4<f16> the type vec2<f32>. The errors name these types, or say only that
# the entry point is invalid. Tint, the compiler of Chromium, takes all of them. Bitcasts between types of 32 bits are right in both.
# What is left in wgpu: `pack2x16float`, which truncates on some GPUs, and integer arithmetic.
#
# Versions: naga-cli 30.0.1 of crates.io; webgpu 0.6.2 of npm (Dawn for Node.js, with its null backend). Run on Debian 12, x86-64, with
# Rust 1.95, Node.js 20 and npm.
# Passes where this is what happens, and fails where it has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cargo install --quiet --locked --debug --root naga naga-cli --version 30.0.1
npm install --silent --no-save --no-package-lock --no-audit --no-fund webgpu@0.6.2

cat >tint.mjs <<'END'
// Prints whether Tint takes the shader.
import fs from 'node:fs';
import { create, globals } from 'webgpu';
Object.assign(globalThis, globals);
console.warn = () => {};
const adapter = await create(['backend=null']).requestAdapter();
const device = await adapter.requestDevice({ requiredFeatures: ['shader-f16'] });
device.pushErrorScope('validation');
device.createShaderModule({ code: fs.readFileSync(process.argv[2], 'utf8') });
const error = await device.popErrorScope();
console.log(error ? 'refuses' : 'takes');
process.exit(0);
END

changed=0
# What, the statement, and what naga does; Tint takes all.
try() {
    local what=$1 statement=$2 seen=$3 naga=takes tint
    cat >shader.wgsl <<END
enable f16;
@group(0) @binding(0) var<storage, read_write> halves: array<vec4<f16>>;
@group(0) @binding(1) var<storage, read_write> words: array<vec2<u32>>;
@compute @workgroup_size(1)
fn main() {
    $statement
}
END
    naga/bin/naga shader.wgsl >naga.log 2>&1 || naga=refuses
    tint=$(node tint.mjs shader.wgsl)
    printf '%-28s naga %-8s Tint %-8s' "$what" "$naga" "$tint"
    grep -oE 'elements of `[a-z0-9<>]+` to `[a-z0-9]+`' naga.log || echo
    if [ "$naga $tint" != "$seen takes" ]; then
        changed=1
    fi
}

try 'two f16 to u32' 'words[0].x = bitcast<u32>(halves[0].xy);' refuses
try 'four f16 to vec2<u32>' 'words[0] = bitcast<vec2<u32>>(halves[0]);' refuses
try 'vec2<u32> to four f16' 'halves[0] = bitcast<vec4<f16>>(words[0]);' refuses
try 'u32 to two f16, one of them' 'let two = bitcast<vec2<f16>>(words[0].x); halves[0].x = two.y;' refuses
try 'the bits of a sum of halves' 'words[0].y = bitcast<u32>(halves[0].xy + halves[0].zw) & 0x7fff7fffu;' refuses
try 'f32 to u32' 'words[0].x = bitcast<u32>(f32(halves[0].x));' takes
try 'vec2<u32> to vec2<f32>' 'halves[0].x = f16(bitcast<vec2<f32>>(words[0]).x);' takes
if [ "$changed" = 1 ]; then
    echo "changed: not what was seen" >&2
    exit 1
fi
echo "as seen: naga refuses the bitcasts between halves and words, Tint takes them"
