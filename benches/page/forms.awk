# Each form of a product or a sketch against what it should be as fast as, from JSON lines: a table per case.
#
#   awk -f common.awk -f forms.awk forms.jsonl

BEGIN {
    says["gemv"] = "Few rows or columns; a copy reads and writes the bytes of the long matrix: 0.5 reads as fast."
    says["rows"] = "Some rows; a copy reads and writes the bytes of B: 0.5 reads as fast."
    says["epilogue"] = "A layer in one launch."
    says["precision"] = "f32 by products of f16."
    says["i8"] = "i8, exact in i32."
    says["dense"] = "Operators whose entries are made in the kernel, against the product with the stored matrix."
    says["sparse"] = "Sparse operators; a copy reads and writes the bytes of the operand."
    says["hadamard"] = "Hadamard operators; a copy reads and writes the bytes of the longer of operand and result."
    says["layer"] = "Sketched layers, of one term of rank 16; a copy reads and writes half of the bytes of both products each."
    says["clifford"] = "Products of multivectors, of batch x features x blades of operands and result; their floor is a copy of these bytes, or the multiply-adds at the roof."
    says["clifford-layers"] = "Steerable products, of batch x features x blades; their floor is a copy of three tensors, of five backward, or the multiply-adds at the roof."
    says["connected"] = "Fully connected products, against bare matrix products of the same sizes."
    says["sandwich"] = "One motor applied to many multivectors, likewise."
    says["parts"] = "Few elements, each a sum of many products."
}

value("skipped") {
    print "Skipped: " value("skipped") "."
}

value("error") {
    failed[++failures] = value("case") " at " value("size") ": " brief(value("error"))
}

value("ratio") {
    if (value("software") == "true") software = 1
    of = value("case")
    if (!(of in count)) cases[++case_count] = of
    line = "| " value("form") " | " shape() " | " types() " | " short(1e6 * value("seconds")) " | " value("against")
    line = line " | " short(1e6 * value("seconds_against")) " | " sprintf("%.2f", value("ratio"))
    rows[of, ++count[of]] = line " | " short(value("gops")) " | " value("plan") " |"
}

END {
    if (case_count) {
        print "Medians of rounds in which both take turns. The ratio is of times, round by round: below 1, it is" \
            " faster than what it is held against." (software ? " A software device, and sizes for one." : "")
    }
    if (failures) print "\nFailed:\n"
    for (i = 1; i <= failures; i++) print "- " failed[i]
    for (i = 1; i <= case_count; i++) table(cases[i])
}

function table(of,    unit, i) {
    unit = of == "i8" ? "GOP/s" : "GFLOP/s"
    print "\n" says[of] "\n"
    print "| " of " | m x n x k | types | us | against | us | ratio | " unit " | plan |"
    print "|---|---|---|---|---|---|---|---|---|"
    for (i = 1; i <= count[of]; i++) print rows[of, i]
}
