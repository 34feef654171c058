#!/usr/bin/env bash
# glslang declares f16 arithmetic, not 16-bit storage, for a buffer of bfloat16_t.
#
# Guess: a shader that only stores bfloat16_t into a storage buffer declares `StorageBuffer16BitAccess`, as the same shader of
# float16_t does, and besides that only what stands for bfloat16_t.
# Seen: it declares `Float16`, with and without GL_EXT_shader_16bit_storage, and no 16-bit storage. spirv-val takes it. So who reads a
# module's capabilities to learn what a device needs is told of `shaderFloat16`, which the shader does not use, and not of
# `storageBuffer16BitAccess`, which Vulkan asks for.
#
# Versions: glslang-tools 16.6.0-1 and spirv-tools 2026.4~rc2-1 of Debian's unstable release. Run on Debian 12, x86-64.
# Passes where this is what happens, and fails where it has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Debian's unstable release, with this machine's own mirror and settings, and nothing of it installed.
mirror=$(apt-get update --print-uris | sed -n "s|^'\(.*/debian/*\)dists/[^/]*/InRelease'.*|\1|p" | head -n 1)
mkdir -p apt/lists/partial apt/archives/partial root
: >apt/status
echo "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror sid main" >apt/sources.list
options=(-qq -o Dir::State::lists="$work/apt/lists" -o Dir::State::status="$work/apt/status" -o Dir::Cache::archives="$work/apt/archives"
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o Dir::Etc::sourcelist="$work/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o APT::Sandbox::User="$(id -un)" -o APT::Install-Recommends=false)
apt-get "${options[@]}" update
apt-get "${options[@]}" install --yes --download-only glslang-tools=16.6.0-1 spirv-tools=2026.4~rc2-1 >/dev/null
for package in apt/archives/*.deb; do
    dpkg-deb -x "$package" root
done
libraries=$work/root/usr/lib/x86_64-linux-gnu
run() {
    local tool=$1
    shift
    "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" "$work/root/usr/bin/$tool" "$@"
}

shader() {
    printf '#version 460\n%b' "$1"
    cat <<END
layout(local_size_x = 1) in;
layout(set = 0, binding = 0) readonly buffer From { float from[]; };
layout(set = 0, binding = 1) writeonly buffer To { $2 to[]; };
void main() { to[gl_GlobalInvocationID.x] = $2(from[gl_GlobalInvocationID.x]); }
END
}

storage='#extension GL_EXT_shader_16bit_storage : require\n'
bfloat='#extension GL_EXT_bfloat16 : require\n'
shader "$storage" float16_t >half.comp
shader "$bfloat" bfloat16_t >bfloat.comp
shader "$storage$bfloat" bfloat16_t >both.comp

run glslang --version | head -n 1
failed=0
expect() {
    local name=$1 want=$2 found
    run glslang -V --quiet --target-env vulkan1.3 -o "$name.spv" "$name.comp"
    run spirv-val --target-env vulkan1.3 "$name.spv"
    found=$(run spirv-dis "$name.spv" | sed -n 's/^ *OpCapability //p' | paste -sd ' ')
    echo "$name: $found"
    [ "$found" = "$want" ] || failed=1
}
expect half 'Shader StorageBuffer16BitAccess'
expect bfloat 'Shader Float16 BFloat16TypeKHR'
expect both 'Shader Float16 BFloat16TypeKHR'
[ "$failed" = 0 ] || { echo 'this has changed' >&2; exit 1; }
echo 'as described'
