//! A product of multivectors with many terms: a loop over a table of terms.
//!
//! shapes    as clifford/product; the table has the index of the first term of each blade of C, the end, then all terms
//! grid      one invocation per position and blade of C, LANES a workgroup
//! subgroup  not used; consecutive invocations have consecutive positions, so that they read the same terms
//! requires  nothing
//! edges     invocations past the end return: any extents >= 1

//#import places

//#slot dims default immediate
//#import block
//#slot pack_pair default f16

//#param  set by CliffordProblem::table_kernel; these defaults are a legal kernel
alias x_unit = f32;
alias y_unit = f32;
alias c_unit = f32;
alias sum = f32; // type of results before they are stored
const LANES: u32 = 64u;
//#end

@group(0) @binding(0) var<storage, read_write> c: array<c_unit>;

@group(0) @binding(1) var<storage, read> x: array<x_unit>;
@group(0) @binding(2) var<storage, read> y: array<y_unit>;
@group(0) @binding(3) var<storage, read> table: array<u32>;

//#slot load x=x default element
//#slot load x=y default element
//#slot save x=c default element

@compute @workgroup_size(LANES)
fn main(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_id) local: vec3<u32>,
) {
    let lane = local.x;
    let unit = block_index(workgroup, grid) * LANES + lane;
    let positions = dims.offsets.w;
    let blade = unit / positions;
    if blade >= dims.out {
        return;
    }
    let position = unit - blade * positions;
    let row = position / dims.axes.axis0.x;
    let at = places(row, 1u, dims.rank, dims.offsets.xyz + (position - row * dims.axes.axis0.x) * dims.axes.axis0.yzw);
    var value = 0.0;
    let end = table[blade + 1u];
    for (var i = table[blade]; i < end; i++) {
        // The indices of both operands' blades, 8 bits each, and a bit that is set if the term is subtracted.
        let term = table[i];
        let x_part = load_x(at.y + (term & 255u) * dims.blades.y);
        let y_part = load_y(at.z + ((term >> 8u) & 255u) * dims.blades.z);
        value += select(x_part, -x_part, (term >> 16u) == 1u) * y_part;
    }
    save_c(at.x + blade * dims.blades.x, value);
}
