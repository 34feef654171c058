//! The unit of a row that an invocation has, of those it goes through. Statements of `main`.

let unit = (of_row * UNITS + u) * PART + part;
let feature = min(unit, dims.units - 1u) * WIDTH;
let count = min(dims.features - feature, WIDTH);
