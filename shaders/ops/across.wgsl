//! Combines the values of the lanes that share a row, in a fixed order: `across_x(own, lane)`, by `joined_x`. All of them receive
//! the result. Every invocation of the workgroup calls it.

fn across_x(own: held, lane: u32) -> held {
    var all = own;
    for (var step = 1u; step < min(dims.lanes, SUBGROUP); step *= 2u) {
        all = joined_x(all, exchanged(all, step));
    }
    if dims.lanes <= SUBGROUP {
        return all;
    }
    // Each subgroup has one value now. It combines with those of the row's other subgroups through shared memory.
    let count = dims.lanes / SUBGROUP;
    let part = lane % dims.lanes / SUBGROUP;
    let at = lane / SUBGROUP;
    let is_first = lane % SUBGROUP == 0u;
    if is_first { parts[at] = all; }
    workgroupBarrier();
    if LANES / SUBGROUP <= SUBGROUP {
        all = parts[at - part + lane % count];
        for (var step = 1u; step < count; step *= 2u) {
            all = joined_x(all, exchanged(all, step));
        }
    } else {
        for (var width = count / 2u; width > 0u; width /= 2u) {
            if is_first && part < width { parts[at] = joined_x(parts[at], parts[at + width]); }
            workgroupBarrier();
        }
        all = parts[at - part];
    }
    workgroupBarrier();
    return all;
}
