# The tiles against each other, from tiles.jsonl: a table per types and layout, a row per tile, a column per
# shape.
#
#   awk -f common.awk -f tiles.awk tiles.jsonl

function whom() {
    return value("tile") == "null" ? "every tile" : tile_name()
}

value("left_out") {
    note("Not timed", value("left_out"), whom())
}

value("error") {
    note("Failed", brief(value("error")), whom())
}

value("tflops") {
    group = types() ", " value("layout")
    if (!(group in group_seen)) groups[++group_count] = group
    if (!(tile_name() in tile_seen)) tiles[++tile_count] = tile_name()
    if (!(shape() in shape_seen)) shapes[++shape_count] = shape()
    group_seen[group] = tile_seen[tile_name()] = shape_seen[shape()] = 1
    tile_in[group, tile_name()] = shape_in[group, shape()] = 1

    cell = group SUBSEP tile_name() SUBSEP shape()
    rate[cell] = value("tflops") + 0
    chosen[cell] = value("chosen") == "true"
    right[cell] = value("ok") == "true"
    if (!right[cell]) note("WRONG", "the error is beyond its bound", whom())
    else if (rate[cell] > fastest[group, shape()]) fastest[group, shape()] = rate[cell]

    rows++
    if (value("gpu_seconds_max") + 0 > 1.2 * value("gpu_seconds_min")) wide++
    # JSON has no infinity: null it is, of what is not a number.
    if (value("bound_ratio") == "null") infinite = 1
    if (value("bound_ratio") + 0 > worst) worst = value("bound_ratio") + 0
    if (value("check") == "full") full++
    if (value("clock") == "host") by_host = 1
}

END {
    if (rows) {
        print "TFLOP/s by the median of the rounds" (by_host ? ", by the host's clock" : "") \
            "; the fastest tile of a column is bold, \"chosen\" is what the plan would take. Of " rows \
            " medians, " wide + 0 " have a slowest round more than 1.2 times as long as the fastest."
        print "Checked against f64: " full + 0 " products by every entry, " rows - full " by 4096 entries;" \
            " the largest ratio of an error to its bound is " (infinite ? "infinite" : short(worst)) "."
    }
    notes("WRONG")
    notes("Failed")
    notes("Not timed")
    for (i = 1; i <= group_count; i++) table(groups[i])
}

function table(group,    line, rule, s, t) {
    line = "| " group " |"
    rule = "|---|"
    for (s = 1; s <= shape_count; s++)
        if ((group, shapes[s]) in shape_in) {
            line = line " " shapes[s] " |"
            rule = rule "---|"
        }
    print "\n" line "\n" rule
    for (t = 1; t <= tile_count; t++)
        if ((group, tiles[t]) in tile_in) {
            line = "| " tiles[t] " |"
            for (s = 1; s <= shape_count; s++)
                if ((group, shapes[s]) in shape_in) line = line " " entry(group, tiles[t], shapes[s]) " |"
            print line
        }
}

function entry(group, tile, at,    cell, text) {
    cell = group SUBSEP tile SUBSEP at
    if (!(cell in rate)) return "-"
    text = short(rate[cell])
    if (!right[cell]) text = text " WRONG"
    else if (rate[cell] == fastest[group, at]) text = "**" text "**"
    return text (chosen[cell] ? " chosen" : "")
}
