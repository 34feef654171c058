//! What the shaders' files say: their headers, directives and parameters, and uniforms as the host writes them.

use std::mem::offset_of;
use support::wgsl;
use tilewise::Error;
use tilewise::planning::attention::{AttentionBackwardDims, AttentionDeltaDims, AttentionDims};
use tilewise::planning::clifford::CliffordDims;
use tilewise::planning::clifford_layer::{FeaturesDims, GatesDims, OperandGradientsDims, RowDims};
use tilewise::planning::gemm::{F16SplitDims, GemmDims, QuantisedDims, SeededDims, SegmentDims};
use tilewise::planning::kernel::{INCLUDES, KERNELS, Kernel};
use tilewise::planning::ops::{
    CastDims, ChannelDims, CopyDims, CrossEntropyDims, CumsumDims, ElementwiseDims, ElementwiseDimsOfFour,
    ImageDims, LossDims, NormDims, ReduceDims, RotaryDims, SoftmaxDims, TotalDims,
};
use tilewise::planning::peak::{MatrixPeakDims, PeakDims};
use tilewise::planning::sketch::{HadamardDims, SparseDims};

#[test]
fn every_kernel_says_what_it_is_in_the_fixed_lines_of_its_header() {
    const FIELDS: [&str; 6] = ["", "shapes", "grid", "subgroup", "requires", "edges"];
    for (name, text) in KERNELS {
        let header: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
        assert!(header[0].len() > 20 && header[0].ends_with('.'), "{name}: its purpose in a sentence");
        let fields: Vec<&str> =
            header[1..].iter().filter_map(|line| line.get(..11).or(Some(""))).map(str::trim).collect();
        assert_eq!(fields, FIELDS, "{name}");
        assert!(
            header[2..].iter().all(|line| line.len() > 14 && line.as_bytes()[10] == b' '),
            "{name}: {header:?}"
        );
    }
    for (name, text) in INCLUDES {
        assert!(
            text.starts_with("//! ") && text.lines().next().is_some_and(|line| line.len() > 20),
            "{name}"
        );
    }
}

#[test]
fn there_are_seven_directives_and_no_others() {
    for (name, text) in KERNELS.iter().chain(INCLUDES) {
        for line in text.lines().filter(|line| line.contains("//#")) {
            let word = line.split_whitespace().next().unwrap_or_default();
            assert!(
                ["//#import", "//#slot", "//#variant", "//#generated", "//#param", "//#end", "//#unroll"]
                    .contains(&word),
                "{name}: {line}"
            );
        }
        let count = |directive| text.lines().filter(|line| line.starts_with(directive)).count();
        assert_eq!(count("//#param") + count("//#generated"), count("//#end"), "{name}");
    }
}

/// A struct's members: name, offset, size in bytes; then its own size.
type Members = (Vec<(String, u32, u32)>, u32);

fn dims_of(shader: &'static str) -> Members {
    dims_in(&Kernel::new(shader))
}

fn dims_in(kernel: &Kernel) -> Members {
    let text = kernel.specialize().unwrap();
    let module = wgsl::validate(&text, naga::valid::Capabilities::all()).unwrap();
    let (_, dims) =
        module.types.iter().find(|(_, t)| t.name.as_deref() == Some("Dims")).expect("a kernel has Dims");
    let naga::TypeInner::Struct { members, span } = &dims.inner else { panic!("Dims is a struct") };
    let size = |member: &naga::StructMember| module.types[member.ty].inner.size(module.to_ctx());
    (members.iter().map(|m| (m.name.clone().unwrap_or_default(), m.offset, size(m))).collect(), *span)
}

macro_rules! members {
    ($pod:ty: $($field:ident)*) => {{
        let pod: $pod = bytemuck::Zeroable::zeroed();
        let member = |name: &str, offset: usize, size: usize| {
            (name.to_owned(), u32::try_from(offset).unwrap(), u32::try_from(size).unwrap())
        };
        let members = vec![$(member(stringify!($field), offset_of!($pod, $field), size_of_val(&pod.$field))),*];
        (members, u32::try_from(size_of::<$pod>()).unwrap())
    }};
}

#[test]
fn the_uniforms_of_the_shaders_lie_as_the_host_writes_them() {
    let gemm: Members = members!(GemmDims: m n k k_per_split batches batch1 splits a_outer a_k a_offset a_batch0 a_batch1 b_outer b_k b_offset b_batch0 b_batch1 ldc c_offset c_batch0 c_batch1 alpha beta bias_row bias_col bias_offset residual_row residual_col residual_offset residual_batch0 residual_batch1 scaled_row);
    for shader in [
        "gemm/broadcast",
        "gemm/coop",
        "gemm/dot",
        "gemm/gemv",
        "gemm/naive",
        "gemm/reduce_splits",
        "gemm/tiled",
    ] {
        assert_eq!(dims_of(shader), gemm, "{shader}");
    }
    assert_eq!(gemm.1, 128, "what every device has room for as immediates");
    let quantised: Members = members!(QuantisedDims: m n k k_per_split batches batch1 splits a_outer a_k a_offset a_batch0 a_batch1 b_outer b_k b_offset b_batch0 b_batch1 ldc c_offset c_batch0 c_batch1 alpha beta bias_row bias_col bias_offset residual_row residual_col residual_offset residual_batch0 residual_batch1 out_scale row_scale_step row_scale_offset column_scale_step column_scale_offset);
    for shader in ["gemm/dot", "gemm/naive", "gemm/reduce_splits"] {
        assert_eq!(dims_in(&Kernel::new(shader).slot("gemm_dims", "quantised")), quantised, "{shader}");
    }
    let seeded: Members = members!(SeededDims: m n k k_per_split batches batch1 splits a_outer a_k a_offset seed_low seed_high b_outer b_k b_offset stored_batch0 stored_batch1 ldc c_offset c_batch0 c_batch1 alpha beta bias_row bias_col bias_offset residual_row residual_col residual_offset residual_batch0 residual_batch1 scaled_row);
    let segments: Members = members!(SegmentDims: m n k k_per_split batches splits segment_step segment_length a_outer a_k a_offset a_plane b_outer b_k b_offset b_plane y_outer y_k y_offset y_plane gates_outer gates_k ldc reserved);
    for (variant, members) in [("seeded", &seeded), ("segments", &segments)] {
        for shader in ["gemm/coop", "gemm/tiled"] {
            assert_eq!(dims_in(&Kernel::new(shader).slot("gemm_dims", variant)), *members, "{shader}");
        }
    }
    let cast: Members = members!(CastDims: axes a_offset count rank reserved);
    for shader in ["ops/cast", "ops/cast_vectors"] {
        assert_eq!(dims_of(shader), cast, "{shader}");
    }
    let copy: Members = members!(CopyDims: axes c_offset a_offset c_stride a_stride row row_units units rank);
    for shader in ["ops/copy", "ops/copy_parts"] {
        assert_eq!(dims_of(shader), copy, "{shader}");
    }
    assert_eq!(dims_of("peak/multiply_add"), members!(PeakDims: words iterations factor reserved));
    assert_eq!(dims_of("peak/matrices"), members!(MatrixPeakDims: m iterations reserved0 reserved1));
    let image: Members = members!(ImageDims: units row_units run width channels texel_row offset row_stride pixel_stride channel_stride scale shift);
    for shader in ["ops/read_image", "ops/write_image"] {
        assert_eq!(dims_of(shader), image, "{shader}");
    }
    let halves: Members = members!(F16SplitDims: rows outer k batch1 batch0_stride batch1_stride outer_stride k_stride x_offset units hi lo);
    assert_eq!(dims_of("gemm/f16_split"), halves);
    let elementwise: Members = members!(ElementwiseDims: axes offsets units rank numbers);
    let of_four: Members =
        members!(ElementwiseDimsOfFour: axes offsets units rank numbers more_axes more_offsets more_numbers);
    for shader in ["ops/elementwise", "ops/elementwise_vectors"] {
        assert_eq!(dims_of(shader), elementwise, "{shader}");
        assert_eq!(dims_in(&Kernel::new(shader).slot("elementwise_dims", "four")), of_four, "{shader}");
    }
    let softmax: Members =
        members!(SoftmaxDims: axes strides a_offset m_offset rows rank lanes scale parts reserved);
    for shader in
        ["ops/softmax", "ops/softmax_columns", "ops/softmax_backward", "ops/softmax_backward_columns"]
    {
        assert_eq!(dims_of(shader), softmax, "{shader}");
    }
    let rotary: Members = members!(RotaryDims: axes a_offset a_stride width pairs row_units pair_units units rank start last sines sign);
    assert_eq!(dims_of("ops/rotary"), rotary);
    assert_eq!(rotary.1, 128, "what every device has room for as immediates");
    let cumsum: Members =
        members!(CumsumDims: axes strides a_offset rows rank lanes parts chunk reserved0 reserved1);
    for shader in ["ops/cumsum", "ops/cumsum_columns"] {
        assert_eq!(dims_of(shader), cumsum, "{shader}");
    }
    let reductions: Members = members!(ReduceDims: axes a_offset a_stride length lines rows kept reduced lanes parts finish number start);
    for shader in ["ops/reduce", "ops/reduce_columns", "ops/reduce_parts"] {
        assert_eq!(dims_of(shader), reductions, "{shader}");
    }
    let entropy: Members = members!(CrossEntropyDims: axes a_offset target_offset weight_offset g_offset a_stride target_stride weight_stride g_stride length rows rank lanes ignores ignored kept spread factor g counted_offset log_sums_offset);
    assert_eq!(dims_of("ops/cross_entropy"), entropy);
    let loss: Members = members!(LossDims: axes offsets units all_units rank blocks lanes g_stride factor g delta total_factor reserved0 reserved1);
    assert_eq!(dims_of("ops/loss"), loss);
    let total: Members = members!(TotalDims: count lanes factor target_offset weight_offset weight_stride classes ignores ignored reserved0 reserved1 reserved2);
    assert_eq!(dims_of("ops/loss_total"), total);
    let norm: Members = members!(NormDims: axes a_offset b_offset a_stride b_stride gamma_offset beta_offset length rows rank lanes each eps);
    for shader in ["ops/norm", "ops/norm_long", "ops/norm_backward", "ops/norm_backward_long"] {
        assert_eq!(dims_of(shader), norm, "{shader}");
    }
    let channels: Members = members!(ChannelDims: outer inner channels of_group a b gamma_offset beta_offset chunks each lanes eps momentum span);
    for (shader, _) in KERNELS.iter().filter(|(name, _)| name.starts_with("ops/channel")) {
        assert_eq!(dims_of(shader), channels, "{shader}");
    }
    let attention: Members = members!(AttentionDims: q k v y bias along queries keys group kv_heads dim dim_v lanes parts lower upper keep keep_along lengths lengths_stride slopes slopes_stride scale heads reserved);
    for shader in ["attention/attention", "attention/attention_coop", "attention/attention_merge"] {
        assert_eq!(dims_of(shader), attention, "{shader}");
    }
    let delta: Members =
        members!(AttentionDeltaDims: y g along_y along_g lse heads queries rows dim_v reserved);
    assert_eq!(dims_of("attention/attention_delta"), delta);
    let gradients: Members = members!(AttentionBackwardDims: q k v g dq dk dv bias along bias_shape queries keys group kv_heads dim dim_v lanes along_g lower upper keep keep_along lengths lengths_stride slopes slopes_stride scale batches heads);
    for shader in [
        "attention/attention_dq",
        "attention/attention_dkv",
        "attention/attention_dbias",
        "attention/attention_gradients_coop",
    ] {
        assert_eq!(dims_of(shader), gradients, "{shader}");
    }
    let hadamard: Members = members!(HadamardDims: undo rows_in rows_out x_offset x_row x_column x_batch0 x_batch1 y_offset y_row y_column y_batch0 y_batch1 columns batch0 batches low_bits bits shift scale seed_low seed_high tag column_lanes folded_bits);
    assert_eq!(dims_of("sketch/hadamard"), hadamard);
    assert_eq!(hadamard.1, 128, "what every device has room for as immediates");
    let sparse: Members = members!(SparseDims: lines positions nonzeros distinct seed_low seed_high tag scale columns extent0 extent1 x_offset x_axis x_stride0 x_stride1 x_stride2 y_axis y_stride0 y_stride1 y_stride2 rows width split_lines chunk splits y_split reserved0 reserved1);
    for shader in ["sketch/gather", "sketch/scatter"] {
        assert_eq!(dims_of(shader), sparse, "{shader}");
    }
    let clifford: Members = members!(CliffordDims: axes blades offsets units rank out reserved0);
    for shader in ["clifford/product", "clifford/table"] {
        assert_eq!(dims_of(shader), clifford, "{shader}");
    }
    let rows_of_multivectors: Members =
        members!(RowDims: x y g w rows features plane units iterations strips blocks parts);
    assert_eq!(dims_of("clifford/rows"), rows_of_multivectors);
    assert_eq!(clifford.1, 128, "what every device has room for as immediates");
    let features: Members = members!(FeaturesDims: x g a b rows features strip units);
    for shader in ["clifford/features", "clifford/mean"] {
        assert_eq!(dims_of(shader), features, "{shader}");
    }
    let gates: Members = members!(GatesDims: rows features units x_offset x_row x_feature y_offset y_row y_feature reserved0 reserved1 reserved2);
    assert_eq!(dims_of("clifford/gates"), gates);
    let back: Members = members!(OperandGradientsDims: positions features first plane x_offset x_blade x_row x_feature y_offset y_blade y_row y_feature);
    assert_eq!(dims_of("clifford/operand_gradients"), back);
    let of_layers = [rows_of_multivectors, features, gates, back];
    let all = [
        clifford,
        gemm,
        quantised,
        seeded,
        segments,
        cast,
        copy,
        halves,
        elementwise,
        of_four,
        softmax,
        reductions,
        cumsum,
        rotary,
        entropy,
        loss,
        total,
        norm,
        channels,
        attention,
        delta,
        gradients,
        hadamard,
        sparse,
    ];
    for (members, size) in all.into_iter().chain(of_layers) {
        assert_eq!(
            members.iter().map(|(_, _, size)| size).sum::<u32>(),
            size,
            "no gaps and no field forgotten"
        );
        assert!(size.is_multiple_of(16) && size <= 256, "a uniform of {size} bytes, a step of the ring");
    }
}

#[test]
fn what_does_not_exist_is_an_error_that_names_it() {
    for (kernel, names) in [
        (Kernel::new("gemm/magic"), vec!["gemm/magic", "the kernel does not exist"]),
        (Kernel::new("gemm/naive").slot("load_z", "element"), vec!["gemm/naive", "no slot load_z"]),
        (
            Kernel::new("gemm/naive").slot("load_a", "magic"),
            vec!["shaders/gemm/naive.wgsl:", "load_a", "shaders/common/load.wgsl has no variant magic"],
        ),
        (Kernel::new("gemm/naive").param("BQ", 4), vec!["gemm/naive", "no parameter BQ"]),
        (Kernel::new("gemm/naive").param("GROUP", 4), vec!["no parameter GROUP"]),
        (Kernel::new("gemm/tiled").param("TM", "dims.m"), vec!["gemm/tiled", "cannot unroll"]),
    ] {
        let error = kernel.specialize().expect_err("it does not exist");
        assert!(matches!(error, Error::Input { .. }), "{kernel}: {error:?}");
        let said = error.to_string();
        assert!(names.iter().all(|name| said.contains(name)), "{kernel}: {said}");
    }
}

#[test]
fn an_illegal_tile_does_not_pass_validation() {
    for (param, value) in [("TM", 6), ("BM", 60), ("BK", 7)] {
        let text = Kernel::new("gemm/tiled").param(param, format!("{value}u")).specialize().unwrap();
        let error =
            wgsl::validate(&text, naga::valid::Capabilities::all()).expect_err("a const_assert holds");
        assert!(error.contains("const_assert"), "{param} = {value}: {error}");
    }
}
