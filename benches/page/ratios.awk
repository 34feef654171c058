# Ours against cuBLAS, from tiles.jsonl, forms.jsonl and peers.jsonl, as far as they are there: a row per shape, types
# and layout, then one per form that cuBLAS has as well.
#
#   awk -f common.awk -f ratios.awk tiles.jsonl forms.jsonl peers.jsonl

value("skipped") {
    skipped = value("skipped")
}

value("tile") {
    tile_lines++
}

value("tflops") && value("peer") {
    peer = value("peer")
    theirs[product()] = value("tflops") + 0
}

value("tflops") && value("kernel") && value("ok") == "true" {
    if (!(product() in best)) products[++product_count] = product()
    types_of[product()] = types()
    rate = value("tflops") + 0
    if (rate > best[product()]) {
        best[product()] = rate
        best_tile[product()] = tile_name()
    }
    if (value("chosen") == "true") {
        choice[product()] = rate
        choice_tile[product()] = tile_name()
    }
}

# Products of some rows, and f32 that may lose what TF32 does.
value("ratio") && (value("case") == "rows" || value("form") == "fast") {
    form_names[++form_count] = value("form")
    form_products[form_count] = shape() " | " types()
    form_peers[form_count] = shape() " | " (value("form") == "fast" ? "tf32 -> f32" : types()) " | nn"
    form_rate[form_count] = value("gops") / 1e3
}

function product() {
    return shape() " | " types() " | " value("layout")
}

END {
    if (peer) print "The peer is " peer "; f32 is compared with its f32 without TF32, fast with its TF32.\n"
    else print "cuBLAS was not measured" (skipped ? ": " skipped : "") ".\n"
    if (product_count) tiles()
    else if (tile_lines) print "No tile was both timed and right."
    if (form_count) forms()
}

function tiles(    line, rule, i) {
    line = "| m x n x k | types | layout | plan's choice | TFLOP/s | best tile | TFLOP/s | choice / best |"
    rule = "|---|---|---|---|---|---|---|---|"
    print line (peer ? " cuBLAS TFLOP/s | choice / cuBLAS | best / cuBLAS |" : "")
    print rule (peer ? "---|---|---|" : "")
    for (i = 1; i <= product_count; i++) row(products[i])
    summary()
}

function forms(    line, i) {
    print "\n| form | m x n x k | types | TFLOP/s |" (peer ? " cuBLAS TFLOP/s | ours / cuBLAS |" : "")
    print "|---|---|---|---|" (peer ? "---|---|" : "")
    for (i = 1; i <= form_count; i++) {
        line = "| " form_names[i] " | " form_products[i] " | " short(form_rate[i]) " |"
        if (peer && form_peers[i] in theirs)
            line = line " " short(theirs[form_peers[i]]) " | " sprintf("%.2f |", form_rate[i] / theirs[form_peers[i]])
        else if (peer) line = line " - | - |"
        print line
    }
}

function row(of,    line) {
    line = "| " of " | "
    if (of in choice) line = line choice_tile[of] " | " short(choice[of]) " | "
    else line = line "- | - | "
    line = line best_tile[of] " | " short(best[of]) " | " ratio(choice, best, of) " |"
    if (peer) line = line " " (of in theirs ? short(theirs[of]) : "-") " |"
    if (peer) line = line " " ratio(choice, theirs, of) " | " ratio(best, theirs, of) " |"
    print line
}

function ratio(ours, others, of) {
    return of in ours && of in others ? sprintf("%.2f", ours[of] / others[of]) : "-"
}

# How often the plan was right, and the geometric mean of the ratios to cuBLAS for each pair of types.
function summary(    i, of, kind) {
    lowest = 1
    for (i = 1; i <= product_count; i++) {
        of = products[i]
        if (!(of in choice)) continue
        choices++
        if (choice[of] == best[of]) hits++
        if (choice[of] / best[of] < lowest) lowest = choice[of] / best[of]
        if (!(of in theirs)) continue
        kind = types_of[of]
        if (!(kind in compared)) kinds[++kind_count] = kind
        compared[kind]++
        choice_logs[kind] += log(choice[of] / theirs[of])
        best_logs[kind] += log(best[of] / theirs[of])
    }
    printf "\nThe plan chose the fastest tile in %d of %d products; its worst choice reached %.2f of the best.\n", \
        hits, choices, lowest
    for (i = 1; i <= kind_count; i++) {
        kind = kinds[i]
        printf "Geometric mean to cuBLAS, %s: %.2f by choice, %.2f at best (%d products).\n", kind, \
            exp(choice_logs[kind] / compared[kind]), exp(best_logs[kind] / compared[kind]), compared[kind]
    }
}
