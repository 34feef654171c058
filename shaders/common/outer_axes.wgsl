//! Where a row begins: `at` goes along the axes beside the innermost, of which `rest` counts the rows. A statement of `main`.

    for (var axis = 1u; axis < dims.rank; axis++) {
        let extent = dims.axes[axis].x;
        let outer = rest / extent;
        at += (rest - outer * extent) * dims.axes[axis].yzw;
        rest = outer;
    }
