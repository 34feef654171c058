# flash-clifford's kernels, from flash.jsonl: a row per algebra, size and way.
#
#   awk -f common.awk -f flash.awk flash.jsonl

value("skipped") {
    print "Skipped: " value("skipped") "."
}

value("error") {
    print "Failed: " value("form") ", " value("features") " features: " brief(value("error"))
}

value("gbps") {
    if (!rows++) {
        print "GB/s of three tensors forward, and of eight forward and backward, by the medians of the runs.\n"
        print "| algebra | batch x features | way | us | GB/s |\n|---|---|---|---|---|"
    }
    print "| " value("form") " | " value("batch") " x " value("features") " | " value("way") " | " short(1e6 * value("seconds")) " | " short(value("gbps")) " |"
}
