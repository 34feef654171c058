//! The operands of both sides of an attention: eight elements from `col` on of a query and its gradient (`query_side`), rows of a
//! key head, and of a key and a value (`key_side`). The shorter of two head dims is padded with zeros. `is_column_strange` says
//! whether a column has elements that are not finite.

fn query_side(operand: u32, batch: u32, kv_head: u32, row: u32, col: u32) -> Unit {
    let i = row / dims.group;
    let head = kv_head * dims.group + row % dims.group;
    if operand == 0u {
        if D < DM && col >= D {
            return Unit();
        }
        return query_unit(dims.q.x + batch * dims.q.y + head * dims.q.z + i * dims.q.w, col);
    }
    if DV < DM && col >= DV {
        return Unit();
    }
    return gradient_unit(dims.g.x + batch * dims.g.y + head * dims.g.z + i * dims.g.w, col);
}

fn key_side(operand: u32, batch: u32, kv_head: u32, row: u32, col: u32) -> Unit {
    if operand == 0u {
        if D < DM && col >= D {
            return Unit();
        }
        return key_unit(dims.k.x + batch * dims.k.y + kv_head * dims.k.z + row * dims.k.w, col);
    }
    if DV < DM && col >= DV {
        return Unit();
    }
    return value_unit(dims.v.x + batch * dims.v.y + kv_head * dims.v.z + row * dims.v.w, col);
}

fn is_column_strange(batch: u32, kv_head: u32, column: u32) -> bool {
    for (var col = 0u; col < DM; col += 8u) {
        if !are_finite(column_unit(0u, batch, kv_head, column, col)) || !are_finite(column_unit(1u, batch, kv_head, column, col)) {
            return true;
        }
    }
    return false;
}
