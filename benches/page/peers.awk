# The peers, from peers.jsonl: a row per shape and layout, a column per pair of types.
#
#   awk -f common.awk -f peers.awk peers.jsonl

value("skipped") {
    print "Skipped: " value("skipped") "."
}

value("left_out") {
    note("Not timed", value("left_out"), types())
}

value("tflops") {
    peer = value("peer")
    product = shape() " | " value("layout")
    if (!(product in product_seen)) products[++product_count] = product
    if (!(types() in types_seen)) kinds[++kind_count] = types()
    product_seen[product] = types_seen[types()] = 1
    rate[product, types()] = value("tflops")
    rows++
    if (value("gpu_seconds_max") + 0 > 1.2 * value("gpu_seconds_min")) wide++
}

END {
    if (rows) table()
    notes("Not timed")
}

function table(    line, rule, i, j) {
    print "TFLOP/s by the median of the runs of " peer ". Of " rows " medians, " wide + 0 \
        " have a slowest run more than 1.2 times as long as the fastest.\n"
    line = "| m x n x k | layout |"
    rule = "|---|---|"
    for (j = 1; j <= kind_count; j++) {
        line = line " " kinds[j] " |"
        rule = rule "---|"
    }
    print line "\n" rule
    for (i = 1; i <= product_count; i++) {
        line = "| " products[i] " |"
        for (j = 1; j <= kind_count; j++)
            line = line " " ((products[i], kinds[j]) in rate ? short(rate[products[i], kinds[j]]) : "-") " |"
        print line
    }
}
