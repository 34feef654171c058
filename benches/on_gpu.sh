#!/bin/sh
# One call for a machine with a GPU, and without a network or a compiler: runs prebuilt programs, leaves what they
# found as JSON lines and as a Markdown page.
#
#   benches/on_gpu.sh --pack FOLDER        builds the programs here and collects them in FOLDER (target/on-gpu)
#   benches/on_gpu.sh DIR [SECTION...]     runs the sections (all of them, unless named) there; results go to DIR
#
# Sections: info sweep checked gemm tiles bench forms sketch layer clifford layers peers. Each ends within 8 minutes. Where one fails, the others
# still run, and the exit status tells. DIR/results.md shows all sections that have run into DIR, by whichever call; its
# table of ratios, ours to cuBLAS, is printed too.
#
#   TILEWISE_BINARIES=FOLDER     where the programs lie; target/on-gpu unless set
#   TILEWISE_SIZES=256,4096      sizes of the cubes of gemm, tiles, bench, forms and peers
#   TILEWISE_LIMIT=480           seconds that a section may take; in the last tenth, tiles and peers begin nothing
#   TILEWISE_VULKAN=lavapipe     runs the programs through cargo's runner: a trial without a GPU

root=$(cd "${0%/*}/.." && pwd) || exit
programs=${TILEWISE_BINARIES:-$root/target/on-gpu}
sizes=${TILEWISE_SIZES:-256,512,1024,2048,4096,8192}
# Every tile at every size would not end in time; forms are compared with what tiles are.
few_sizes=${TILEWISE_SIZES:-1024,4096,8192}
sketch_sizes=${TILEWISE_SIZES:-4096}
factor_sizes=${TILEWISE_SIZES:-1000}
layer_sizes=${TILEWISE_SIZES:-256,512,1024,2048,4096,8192,16384}
clifford_sizes=${TILEWISE_SIZES:-64,512}
limit=${TILEWISE_LIMIT:-480}
all='info sweep checked gemm tiles bench forms sketch layer clifford layers peers'

usage() {
    sed -n '2,/^$/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

# Builds, strips and collects the programs that the sections run.
pack() {
    folder=$1
    mkdir -p "$folder/tests" "$folder/benches" "$folder/examples" "$folder/lib" || exit
    cd "$root" || exit
    built=$(cargo build --release --tests --benches --examples --message-format=json) || exit
    echo "$built" |
        sed -nE 's/.*"kind":\["(test|bench|example)"\].*"name":"([^"]*)".*"executable":"([^"]*)".*/\1 \2 \3/p' |
        while read -r kind name program; do
            case $kind/$name in
            # It needs the checkout in the place where it was built.
            test/caps) continue ;;
            test/*)
                # Where any device will do, this one was needed to build.
                grep -qsE '^//!.*(No device|Any device will do)\.$' "tests/$name.rs" "tests/$name/main.rs" && continue
                to=$folder/tests/$name
                ;;
            bench/*) to=$folder/benches/$name ;;
            *) to=$folder/${kind}s/$name ;;
            esac
            strip -o "$to" "$program" 2>/dev/null || cp "$program" "$to" || exit
        done
    # The loader of the fetched driver, for a machine that has a driver and no loader.
    cp "${CARGO_TARGET_DIR:-target}/vulkan/lib/libvulkan.so.1" "$folder/lib/" 2>/dev/null
    git rev-parse --short HEAD >"$folder/commit" 2>/dev/null
    cat >"$folder/README.md" <<END
# Tilewise's programs for a machine with a GPU

Tests, benches and examples in release mode, for $(uname -sm) with a C library as of $(getconf GNU_LIBC_VERSION) or
later. \`lib/\` holds a Vulkan loader, which is used only where none is installed. From a checkout of the same commit:

    TILEWISE_BINARIES=this/folder benches/on_gpu.sh DIR [SECTION...]
END
    du -sh "$folder" >&2
}

# Runs one of the programs within what is left of the section's time.
run() {
    program=$programs/$1
    shift
    [ -x "$program" ] || {
        echo "on_gpu: $program is missing; see $0 --pack" >&2
        return 1
    }
    left=$((limit - $(date +%s) + started))
    [ "$left" -gt 0 ] || {
        echo "on_gpu: no time is left for ${program##*/}" >&2
        return 1
    }
    if [ -n "${TILEWISE_VULKAN:-}" ]; then
        timeout "$left" "$root/.cargo/runner" "$program" "$@"
    else
        timeout "$left" "$program" "$@"
    fi
}

# As run, and says on stderr what and how long.
told() {
    echo "== $*" >&2
    run "$@"
}

section_info() {
    told examples/info >"$dir/info.txt" && run examples/info --json >"$dir/info.json"
}

# Every kernel, tile, type, layout and edge, as users run them.
section_sweep() {
    sweep 0
}

# The same with run-time checks in the shaders.
section_checked() {
    sweep 1
}

sweep() {
    : >"$dir/$section.jsonl"
    failed=0
    for test in "$programs"/tests/*; do
        name=${test##*/}
        begun=$(date +%s)
        ok=true
        echo "== tests/$name" >&2
        GPU_REQUIRED=1 TILEWISE_SWEEP=full TILEWISE_CHECKED=$1 \
            run "tests/$name" --nocapture >"$dir/.test" 2>&1 || ok=false
        cat "$dir/.test" >&2
        passed=$(sed -n 's/^test result: .* \([0-9]*\) passed.*/\1/p' "$dir/.test")
        rm -f "$dir/.test"
        [ $ok = true ] || failed=1
        seconds=$(($(date +%s) - begun))
        echo "{\"test\":\"$name\",\"ok\":$ok,\"passed\":${passed:-0},\"seconds\":$seconds}" >>"$dir/$section.jsonl"
    done
    return $failed
}

# Every size, type and layout by the plan's choice; the smaller ones by the plainest kernel too.
section_gemm() {
    : >"$dir/gemm.jsonl"
    failed=0
    for size in $(echo "$sizes" | tr ',' ' '); do
        for dtype in f32 f16; do
            for layout in nn nt tn tt; do
                one_gemm --layout $layout || failed=1
            done
            [ "$size" -gt 1024 ] || one_gemm --kernel naive || failed=1
        done
    done
    return $failed
}

one_gemm() {
    told examples/gemm --m "$size" --n "$size" --k "$size" --dtype $dtype --repeat 10 --json "$@" >>"$dir/gemm.jsonl"
}

# Every tile of every kernel, checked and timed. What there is no time for is told in the lines.
section_tiles() {
    TILEWISE_SIZES=$few_sizes TILEWISE_SECONDS=$((limit * 9 / 10)) GPU_REQUIRED=1 \
        told benches/tiles >"$dir/tiles.jsonl"
}

section_bench() {
    export TILEWISE_TABLE=json GPU_REQUIRED=1
    told benches/gemm >"$dir/bench.jsonl" && told benches/host >>"$dir/bench.jsonl"
}

# Each form of a product against what it should be as fast as.
section_forms() {
    TILEWISE_SIZES=$few_sizes GPU_REQUIRED=1 told benches/forms >"$dir/forms.jsonl"
}

# Sketches, against copies and stored operators; factorisations, against the CPU's.
section_sketch() {
    TILEWISE_SIZES=$sketch_sizes GPU_REQUIRED=1 told benches/sketch >"$dir/sketch.jsonl" &&
        TILEWISE_SIZES=$factor_sizes GPU_REQUIRED=1 told benches/factor >>"$dir/sketch.jsonl"
}

# Sketched layers, against dense ones and against the least that they could take.
section_layer() {
    TILEWISE_SIZES=$layer_sizes GPU_REQUIRED=1 told benches/layer >"$dir/layer.jsonl"
}

# Products of multivectors, against copies of their bytes.
section_clifford() {
    TILEWISE_SIZES=$clifford_sizes GPU_REQUIRED=1 told benches/clifford >"$dir/clifford.jsonl"
}

# Clifford layers, against their floors and bare products; and flash-clifford's kernels, where they are.
section_layers() {
    export GPU_REQUIRED=1
    TILEWISE_SIZES=$clifford_sizes told benches/clifford_layers >"$dir/layers.jsonl" || return 1
    TILEWISE_SIZES=$clifford_sizes told benches/connected >>"$dir/layers.jsonl" || return 1
    command -v python3 >/dev/null || {
        echo '{"skipped":"there is no python3"}' >"$dir/flash.jsonl"
        return 0
    }
    timeout 120 python3 "$root/benches/peers/flash_clifford.py" "$clifford_sizes" >"$dir/flash.jsonl"
}

section_peers() {
    command -v python3 >/dev/null || {
        echo '{"skipped":"there is no python3"}' >"$dir/peers.jsonl"
        return 0
    }
    timeout "$limit" python3 "$root/benches/peers/torch_gemm.py" --seconds $((limit * 9 / 10)) "$sizes" \
        >"$dir/peers.jsonl"
}

# A value of the JSON object in one line.
value() {
    printf '%s\n' "$2" | sed -nE 's/.*"'"$1"'":("([^"]*)"|([^],}]*)).*/\2\3/p'
}

# A number, scaled, with three digits or so; a dash where there is none.
scaled() {
    case $1 in
    '' | null) printf %s - ;;
    *) echo "$1 $2" | awk '{ printf "%.3g", $1 * $2 }' ;;
    esac
}

# The page of all sections whose results are in DIR.
page() {
    first=
    for part in bench gemm tiles forms sketch layer clifford layers; do
        [ -n "$first" ] || first=$(head -n 1 "$dir/$part.jsonl" 2>/dev/null)
    done
    [ -n "$first" ] || first=$(sed 's/.*"devices":\[//' "$dir/info.json" 2>/dev/null)
    device=$(value device "${first%%\"paths\"*}")
    driver=$(value driver "${first%%\"paths\"*}")
    commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || cat "$programs/commit" 2>/dev/null)
    echo "# Tilewise on ${device:-an unknown device}"
    echo
    echo '| device | driver | date | commit | command |'
    echo '|---|---|---|---|---|'
    echo "| $device | $driver | $(date -u +%F) | $commit | \`benches/on_gpu.sh $command\` |"
    echo
    echo '| section | result | seconds |'
    echo '|---|---|---|'
    while read -r line; do
        echo "| $(value section "$line") | $(value result "$line") | $(value seconds "$line") |"
    done <"$dir/sections.jsonl"
    ! has_ratios || {
        printf '\n## Ratios\n\n'
        ratios
    }
    for part in sweep checked gemm tiles bench forms sketch layer clifford layers peers; do
        [ ! -s "$dir/$part.jsonl" ] || "page_$part" "$part" <"$dir/$part.jsonl"
    done
    [ ! -s "$dir/info.txt" ] || {
        printf '\n## Info\n\n```text\n'
        cat "$dir/info.txt"
        echo '```'
    }
}

# One of the tables that are too large for a process per value.
table() {
    awk -f "$root/benches/page/common.awk" -f "$root/benches/page/$1.awk"
}

has_ratios() {
    [ -s "$dir/tiles.jsonl" ] || [ -s "$dir/forms.jsonl" ]
}

# Ours to cuBLAS, as far as both have run.
ratios() {
    cat "$dir/tiles.jsonl" "$dir/forms.jsonl" "$dir/peers.jsonl" 2>/dev/null | table ratios
}

page_sweep() {
    printf '\n## Tests (%s)\n\n| test | passed | seconds | ok |\n|---|---|---|---|\n' "$1"
    while read -r line; do
        echo "| $(value test "$line") | $(value passed "$line") | $(value seconds "$line") | $(value ok "$line") |"
    done
}

page_checked() {
    page_sweep "$1"
}

page_gemm() {
    printf '\n## Products (example gemm)\n\n'
    echo '| m x n x k | types | layout | kernel | ms (min to max) | TFLOP/s | of the bound | check |'
    echo '|---|---|---|---|---|---|---|---|'
    while read -r line; do
        size=$(value m "$line")
        types="$(value dtype "$line") -> $(value out_dtype "$line")"
        layout=$(value layout "$line")
        ok=$(value check "$line")
        [ "$(value ok "$line")" = true ] || ok="$ok: WRONG"
        echo "| $size x $(value n "$line") x $(value k "$line") | $types | $layout | $(value kernel "$line") |" \
            "$(scaled "$(value gpu_seconds_median "$line")" 1e3)" \
            "($(scaled "$(value gpu_seconds_min "$line")" 1e3) to $(scaled "$(value gpu_seconds_max "$line")" 1e3)) |" \
            "$(scaled "$(value tflops "$line")" 1) |" \
            "$(scaled "$(value bound_ratio "$line")" 1) | $ok |"
    done
}

page_tiles() {
    printf '\n## Tiles\n\n'
    table tiles
}

page_bench() {
    printf '\n## Benches\n\n'
    while read -r line; do
        case $line in
        *roof_flops*)
            echo "Roofs, measured in the same run: $(scaled "$(value roof_flops "$line")" 1e-12) TFLOP/s by a loop of" \
                "vec4 fma in f32, $(scaled "$(value roof_bytes "$line")" 1e-9) GB/s by a copy. Opening a second Gpu:" \
                "$(scaled "$(value second_gpu_seconds "$line")" 1e3) ms."
            echo
            echo '| m x n x k | type | kernel | TFLOP/s (median) | of the f32 roof | times naive |'
            echo '|---|---|---|---|---|---|'
            ;;
        *host_us*)
            echo
            echo "Host: $(scaled "$(value host_us_min "$line")" 1) us per $(value host "$line") of a shape seen before" \
                "(median $(scaled "$(value host_us_median "$line")" 1)), on wgpu's noop backend."
            ;;
        *)
            echo "| $(value m "$line") x $(value n "$line") x $(value k "$line") | $(value dtype "$line") |" \
                "$(value kernel "$line") | $(scaled "$(value tflops "$line")" 1)" \
                "($(scaled "$(value tflops_median "$line")" 1)) | $(scaled "$(value of_f32_roof "$line")" 100)% |" \
                "$(scaled "$(value of_naive "$line")" 1) |"
            ;;
        esac
    done
}

page_forms() {
    printf '\n## Forms\n\n'
    table forms
}

page_sketch() {
    printf '\n## Sketches\n\n'
    grep '"ratio"\|"error":\|"skipped"' "$dir/sketch.jsonl" | table forms
    printf '\n## Factorisations\n\n'
    grep '"times_faster_than_f32"' "$dir/sketch.jsonl" | table factor
}

page_layer() {
    printf '\n## Sketched layers\n\n'
    table forms
}

page_clifford() {
    printf '\n## Clifford algebras\n\n'
    table forms
}

page_layers() {
    printf '\n## Clifford layers\n\n'
    table forms
    printf '\n### flash-clifford\n\n'
    table flash <"$dir/flash.jsonl"
}

page_peers() {
    printf '\n## Peers\n\n'
    table peers
}

case ${1:-} in
'' | -h | --help) usage ;;
--pack)
    [ $# = 2 ] || usage
    mkdir -p "$2" && pack "$(cd "$2" && pwd)"
    exit
    ;;
-*) usage ;;
esac
command=$*
mkdir -p "$1" || exit
dir=$(cd "$1" && pwd) || exit
shift
for section in "$@"; do
    case " $all " in
    *" $section "*) ;;
    *)
        echo "on_gpu: there is no section $section; there are $all" >&2
        exit 2
        ;;
    esac
done
[ -d "$programs" ] || {
    echo "on_gpu: there are no programs in $programs: set TILEWISE_BINARIES, see $0 --pack" >&2
    exit 2
}
programs=$(cd "$programs" && pwd)
# Tests read their data from where they are run, as cargo runs them.
cd "$root" || exit
# NOTE: ldconfig is not in every user's PATH; without it the packed loader is taken, which does no harm.
PATH=$PATH:/usr/sbin:/sbin ldconfig -p 2>/dev/null | grep -q 'libvulkan\.so\.1' ||
    export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}$programs/lib"
export TILEWISE_SIZES="$sizes"

status=0
touch "$dir/sections.jsonl"
for section in ${*:-$all}; do
    started=$(date +%s)
    result=ok
    (set +e && "section_$section") 2>"$dir/.log" || result=failed status=1
    # The log of each section's last run; a failure shows its end at once.
    { echo "##### $section" && cat "$dir/.log"; } >>"$dir/log.txt"
    [ $result = ok ] || tail -n 20 "$dir/.log" >&2
    seconds=$(($(date +%s) - started))
    grep -v "\"section\":\"$section\"" "$dir/sections.jsonl" >"$dir/.log"
    echo "{\"section\":\"$section\",\"result\":\"$result\",\"seconds\":$seconds}" >>"$dir/.log"
    mv "$dir/.log" "$dir/sections.jsonl"
    echo "on_gpu: $section: $result after $seconds s" >&2
done
page >"$dir/results.md"
! has_ratios || ratios
echo "on_gpu: see $dir/results.md" >&2
exit $status
