//! The rows of a lane: LANES / dims.lanes lanes share rows `first` to `end`, and `rows_of(lane, first, end)` are those of one lane.
//! It takes TURN of them together.

struct LaneRows {
    first: u32,
    end: u32,
    apart: u32, // from one of the lane's rows to its next
}

fn rows_of(lane: u32, first: u32, end: u32) -> LaneRows {
    let at_once = LANES / dims.lanes;
    let own = lane / dims.lanes;
    if RANGES {
        let turns = (end - first + at_once * TURN - 1u) / (at_once * TURN);
        let begin = first + own * turns * TURN;
        return LaneRows(begin, min(end, begin + turns * TURN), 1u);
    }
    return LaneRows(first + own, select(first, end, own < at_once), at_once);
}
