//! The linear index of a workgroup. A plan folds its blocks over the axes of the grid, so the last
//! row of the fold may run past them: callers compare with their own number of blocks.

fn block_index(workgroup: vec3<u32>, grid: vec3<u32>) -> u32 {
    return workgroup.x + grid.x * (workgroup.y + grid.y * workgroup.z);
}
