# What the page's tables share: values of JSON objects of one line each, numbers as they are printed, lists.

# The value of a key in this line: a string without its quotes, or a number, true, false or null as it stands.
function value(key,    pattern, found) {
    pattern = "\"" key "\":(\"([^\"\\\\]|\\\\.)*\"|[^,}]*)"
    if (!match($0, pattern)) return ""
    found = substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3)
    if (found !~ /^"/) return found
    found = substr(found, 2, length(found) - 2)
    gsub(/\\"/, "\"", found)
    return found
}

function shape() {
    return value("m") " x " value("n") " x " value("k")
}

function types() {
    return value("dtype") " -> " value("out_dtype")
}

# The kernel and the tile: its block / patch, as the example gemm takes them, and its fragments, if any.
function tile_name(    text, name) {
    text = value("tile")
    name = value("kernel") " "
    if (!match(text, /\([0-9]+x[0-9]+/)) return name text
    name = name substr(text, 1, RSTART - 2) "/" substr(text, RSTART + 1, RLENGTH - 1)
    return name (match(text, /, of [0-9]+x[0-9]+/) ? substr(text, RSTART + 1, RLENGTH - 1) : "")
}

# Three digits or so.
function short(number) {
    return sprintf(number + 0 >= 1000 ? "%.0f" : "%.3g", number)
}

# Counts this line under a title, among those of whom the same is to be said.
function note(title, what, whom,    key) {
    key = title SUBSEP what
    if (!(key in whom_count)) sayings[title, ++saying_count[title]] = what
    if (!((key, whom) in times)) listed[key, ++whom_count[key]] = whom
    times[key, whom]++
    places[key, whom] = places[key, whom] ", " shape() " " types() " " value("layout")
}

# What was noted under a title.
function notes(title,    i, j, key, whom, line) {
    if (!saying_count[title]) return
    print "\n" title ":\n"
    for (i = 1; i <= saying_count[title]; i++) {
        key = title SUBSEP sayings[title, i]
        line = "- " sayings[title, i] ": "
        for (j = 1; j <= whom_count[key]; j++) {
            whom = listed[key, j]
            line = line (j > 1 ? ", " : "") whom
            line = line " (" (times[key, whom] > 2 ? times[key, whom] " products" : substr(places[key, whom], 3)) ")"
        }
        print line
    }
}

# The beginning of an error, on one line; the whole of it is in the JSON.
function brief(text) {
    sub(/.* does not compile: /, "it does not compile: ", text)
    gsub(/\\n|[^ -~]/, " ", text)
    gsub(/In Device::create_shader_module, label = '[^']*'/, "", text)
    gsub(/ +/, " ", text)
    return length(text) > 200 ? substr(text, 1, 200) " ..." : text
}
