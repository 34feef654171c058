# Factorisations through sketches against those of the CPU, from JSON lines.
#
#   awk -f common.awk -f factor.awk sketch.jsonl

BEGIN {
    print "Medians of rounds in which all sides take their turn; `faer` on all threads of the CPU.\n"
    print "| factorisation | m x n | ms | against | ms in f32 | ms in f64 | times faster than f32 | of products | error over the best |"
    print "|---|---|---|---|---|---|---|---|---|"
}

{
    line = "| " value("case") " | " value("m") " x " value("n") " | " short(1e3 * value("seconds")) " | " value("against")
    line = line " | " short(1e3 * value("seconds_f32")) " | " short(1e3 * value("seconds_f64"))
    line = line " | " short(value("times_faster_than_f32"))
    share = value("share_of_products") == "" ? "" : sprintf("%.0f%%", 100 * value("share_of_products"))
    best = value("error_over_best") == "" ? "" : sprintf("%.4f", value("error_over_best"))
    print line " | " share " | " best " |"
}
