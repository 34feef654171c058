//! The linear index of a workgroup. A plan folds its blocks over the axes of the grid, so the grid may have more workgroups
//! than blocks: callers compare the index with their number of blocks.

fn block_index(workgroup: vec3<u32>, grid: vec3<u32>) -> u32 {
    return workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z);
}
