//! The kernel of attention, for devices that are not here.

use support::failure::{Kind, fails};
use support::heads::heads;
use support::laid::{flat, view};
use tilewise::attention::AttentionKernel;
use tilewise::gpu::{MatrixExtensions, RowSizes, RowSpeed, Verdict};
use tilewise::planning::attention::{
    AttentionBackward, AttentionGradientsOf, AttentionLayouts, AttentionProblem, AttentionRange,
    AttentionStatistics,
};
use tilewise::planning::{Plan, Problem, fixtures};
use tilewise::{Caps, DType, Error};

/// Attention of (heads, key heads), (queries, keys) and a head dim.
fn problem(
    [heads, kv_heads]: [usize; 2],
    [queries, keys]: [usize; 2],
    dim: usize,
    dtype: DType,
) -> AttentionProblem {
    let of = |shape: [usize; 4]| flat(&shape);
    let (q, k) = (of([1, heads, queries, dim]), of([1, kv_heads, keys, dim]));
    let none = None;
    let layouts =
        AttentionLayouts { q: &q, k: &k, v: &k, bias: none, lengths: none, keep: none, slopes: none };
    AttentionProblem::new(layouts, AttentionRange::default(), AttentionStatistics::None, dtype).unwrap()
}

fn is_on_matrices(problem: &AttentionProblem, caps: &Caps) -> bool {
    problem.plan(caps).unwrap().steps()[0].kernel.shader() == "attention/attention_coop"
}

#[test]
fn many_queries_of_f16_are_on_tensor_cores_where_these_are_faster() {
    for (name, caps) in fixtures::ALL {
        let caps = caps();
        let has = ["h200", "h100", "rtx-4090", "a100", "rtx-3090", "t4", "radv-rdna4", "radv-rdna3"]
            .contains(&name);
        for dim in [64, 128] {
            let many = problem([32, 8], [4096, 4096], dim, DType::F16);
            assert_eq!(is_on_matrices(&many, &caps), has, "{name}, dim {dim}: {}", many.plan(&caps).unwrap());
            assert!(!is_on_matrices(&many.pinned(Some(AttentionKernel::Plain)), &caps), "{name}");
            let exact = problem([32, 8], [4096, 4096], dim, DType::F32);
            assert!(!is_on_matrices(&exact, &caps), "{name}: rounded weights");
            // One query for each sequence occupies no tile.
            let one = problem([32, 8], [1, 4096], dim, DType::F16);
            assert!(!is_on_matrices(&one, &caps), "{name}: {}", one.plan(&caps).unwrap());
        }
        let other = problem([32, 8], [4096, 4096], 20, DType::F16);
        assert!(!is_on_matrices(&other, &caps), "{name}");
    }
}

/// The backward pass of attention of (heads, key heads), (queries, keys) and a head dim.
fn gradients(
    heads: [usize; 2],
    lengths: [usize; 2],
    dim: usize,
    pin: Option<AttentionKernel>,
) -> AttentionBackward {
    gradients_of(problem(heads, lengths, dim, DType::F16).pinned(pin), [1, heads[0], lengths[0], dim])
}

/// The gradients of an attention whose result has this shape.
fn gradients_of(forward: AttentionProblem, [batch, heads, queries, dim]: [usize; 4]) -> AttentionBackward {
    let of = |last| flat(&[batch, heads, queries, last]);
    let (y, lse) = (of(dim), of(2));
    AttentionBackward::new(forward, [&y, &lse, &y], AttentionGradientsOf::Operands).unwrap()
}

fn are_on_matrices(plan: &Plan) -> [bool; 2] {
    [1, 2].map(|at| plan.steps()[at].kernel.shader() == "attention/attention_gradients_coop")
}

/// Seven products for the forward pass's two, and scores computed twice.
#[test]
fn gradients_of_f16_are_on_tensor_cores_where_these_are_faster() {
    for (name, caps) in fixtures::ALL {
        if name == "bare-vulkan" {
            continue; // it has not as many bindings
        }
        let caps = caps();
        let rates = ["h200", "h100", "a100", "t4"].contains(&name); // tensor cores are eight times as fast and more
        let has = rates || ["rtx-4090", "rtx-3090", "radv-rdna4", "radv-rdna3"].contains(&name);
        for dim in [64, 128] {
            for heads in [[16, 16], [32, 8]] {
                let of = |pin| gradients(heads, [4096, 4096], dim, pin).plan(&caps).unwrap();
                let (free, plain) = (of(None), of(Some(AttentionKernel::Plain)));
                assert_eq!(are_on_matrices(&plain), [false; 2], "{name}: {plain}");
                assert!(free.seconds() <= plain.seconds(), "{name}: {free}{plain}");
                if !has {
                    assert_eq!(are_on_matrices(&free), [false; 2], "{name}: {free}");
                    continue;
                }
                assert_eq!(are_on_matrices(&free), [true; 2], "{name}, dim {dim}: {free}");
                let forward = problem(heads, [4096, 4096], dim, DType::F16).plan(&caps).unwrap();
                let [of_plain, of_forward] = [&plain, &forward].map(|plan| free.seconds() / plan.seconds());
                println!(
                    "{name}, dim {dim}: {of_plain:.3} of the plain kernels, {of_forward:.2} forward passes"
                );
                assert!(of_forward <= 3.8, "{name}, dim {dim}: {of_forward} forward passes: {free}{forward}");
                assert!(!rates || of_plain <= 0.42, "{name}, dim {dim}: {of_plain}: {free}{plain}");
            }
        }
    }
}

#[test]
fn pinned_gradients_say_what_they_lack() {
    let pin = Some(AttentionKernel::Coop);
    let needs = |dim, caps: &Caps| match gradients([4, 4], [64, 64], dim, pin).plan(caps).unwrap_err() {
        Error::Unsupported { needs, .. } => needs,
        error => panic!("{error}"),
    };
    let h200 = fixtures::h200();
    assert!(needs(20, &h200).starts_with("head dims that are multiples of 16 up to 256, not 20, or "));
    assert!(needs(256, &h200).contains("registers per invocation, which a GPU would spill"));
    assert!(needs(256, &fixtures::lavapipe()).contains("a software driver would compile"));
    assert!(needs(64, &fixtures::swiftshader()).contains("which the adapter does not list"));
    // What keys and values have no registers for, queries have.
    let free = gradients([4, 4], [4096, 4096], 256, None).plan(&h200).unwrap();
    assert_eq!(are_on_matrices(&free), [true, false], "{free}");
}

#[test]
fn a_pinned_kernel_says_what_it_lacks() {
    let needs = |problem: AttentionProblem, caps: &Caps| match problem
        .pinned(Some(AttentionKernel::Coop))
        .plan(caps)
        .unwrap_err()
    {
        Error::Unsupported { needs, .. } => needs,
        error => panic!("{error}"),
    };
    let h200 = fixtures::h200();
    let of = |dim, dtype| problem([4, 4], [64, 64], dim, dtype);
    assert_eq!(needs(of(64, DType::F32), &h200), "operands of f16, not f32");
    let dims = needs(of(20, DType::F16), &h200);
    assert!(dims.starts_with("head dims that are multiples of 16 up to 256, not 20, or "), "{dims}");
    let spills = needs(of(256, DType::F16), &h200);
    assert!(spills.contains("registers per invocation, which a GPU would spill"), "{spills}");
    let lavapipe = fixtures::lavapipe();
    let minutes = needs(of(256, DType::F16), &lavapipe);
    assert!(minutes.contains("a software driver would compile"), "{minutes}");
    let none = needs(of(64, DType::F16), &fixtures::swiftshader());
    assert!(none.contains("which the adapter does not list"), "{none}");
}

#[test]
fn attention_is_on_a_slow_row_only_if_that_is_pinned() {
    let problem = problem([8, 8], [1024, 1024], 64, DType::F16);
    let of_gradients =
        |pin, caps: &Caps| are_on_matrices(&gradients([8, 8], [1024, 1024], 64, pin).plan(caps).unwrap());
    let coop = Some(AttentionKernel::Coop);
    let mut caps = fixtures::h200();
    assert!(is_on_matrices(&problem, &caps));
    assert_eq!(of_gradients(None, &caps), [true; 2]);
    caps.rows.iter_mut().for_each(|row| row.speed = RowSpeed::new(0.3));
    assert!(!is_on_matrices(&problem, &caps));
    assert!(is_on_matrices(&problem.pinned(coop), &caps));
    assert_eq!([of_gradients(None, &caps), of_gradients(coop, &caps)], [[false; 2], [true; 2]]);
}

#[test]
fn the_gradient_of_a_bias_is_that_of_a_bias() {
    let of = |shape: &[usize]| flat(shape);
    let (x, lse, bias) = (of(&[2, 3, 5, 8]), of(&[2, 3, 5, 2]), of(&[3, 1, 5]));
    let forward = |bias| {
        let layouts = AttentionLayouts { bias, ..heads([&x, &x, &x]) };
        let none = AttentionStatistics::None;
        AttentionProblem::new(layouts, AttentionRange::default(), none, DType::F32).unwrap()
    };
    let backward = |bias, of| AttentionBackward::new(forward(bias), [&x, &lse, &x], of);
    assert!(backward(Some(&bias), AttentionGradientsOf::Bias(bias)).is_ok());
    let wide = view(&[3, 1, 5], &[10, 10, 2], 0);
    let many_axes = of(&[1, 1, 3, 1, 5]);
    for (bias, wrong) in
        [(None, bias), (Some(&bias), wide), (Some(&bias), many_axes), (Some(&bias), of(&[3, 1, 4]))]
    {
        fails(backward(bias, AttentionGradientsOf::Bias(wrong)), Kind::Shape, &[]);
    }
}

/// Of bf16 WGSL has no matrices. Both passes are on matrices of flexible size, and take as long as in f16.
#[test]
fn bf16_is_on_matrices_of_flexible_size_where_a_driver_lists_them() {
    let of_bf16 = |pin| {
        let of = |shape: &[usize]| flat(shape);
        let forward = problem([16, 16], [4096, 4096], 64, DType::Bf16).pinned(pin);
        let (y, lse) = (of(&[1, 16, 4096, 64]), of(&[1, 16, 4096, 2]));
        let backward =
            AttentionBackward::new(forward, [&y, &lse, &y], AttentionGradientsOf::Operands).unwrap();
        (forward, backward)
    };
    let mut flexible = Vec::new();
    for (name, caps) in fixtures::ALL.into_iter().filter(|(name, _)| *name != "bare-vulkan") {
        let caps = caps();
        let (forward, backward) = of_bf16(None);
        let plans = [forward.plan(&caps).unwrap(), backward.plan(&caps).unwrap()];
        let shader = |plan: &Plan, at: usize| plan.steps()[at].kernel.shader();
        let has = shader(&plans[0], 0) == "spirv/attention_nv2.bf16";
        for at in [1, 2] {
            let of_backward = shader(&plans[1], at) == "spirv/attention_gradients_nv2.bf16";
            assert_eq!(of_backward, has, "{name}: {}", plans[1]);
        }
        if !has {
            continue;
        }
        flexible.push(name);
        let (plain, plain_gradients) = of_bf16(Some(AttentionKernel::Plain));
        let plain = [plain.plan(&caps).unwrap(), plain_gradients.plan(&caps).unwrap()];
        let in_f16 = [
            problem([16, 16], [4096, 4096], 64, DType::F16).plan(&caps).unwrap(),
            gradients([16, 16], [4096, 4096], 64, None).plan(&caps).unwrap(),
        ];
        for ((plan, plain), in_f16) in plans.iter().zip(&plain).zip(&in_f16) {
            let [of_plain, of_f16] = [plain, in_f16].map(|other| plan.seconds() / other.seconds());
            println!("{name}, {}: {of_plain:.3} of the plain kernel, {of_f16:.2} of f16", plan.op());
            assert!(of_plain < 1.0 && of_f16 <= 1.05, "{name}: {of_plain}, {of_f16}: {plan}{plain}{in_f16}");
        }
    }
    assert_eq!(flexible, ["h200", "h100", "rtx-4090", "a100", "rtx-3090"]);
}

/// The shaders of a plan that are modules.
fn modules(plan: &Plan) -> Vec<&str> {
    let shaders = plan.steps().iter().map(|step| step.kernel.shader());
    shaders.filter(|shader| shader.starts_with("spirv/")).collect()
}

/// Without rows of multiples, modules take a row whose sums can be converted to an operand: n = k. The functions of elements are those of
/// `VK_EXT_cooperative_matrix_maintenance1` if the device has it, else those of `VK_NV_cooperative_matrix2`.
#[test]
fn attention_is_on_exact_matrices_by_the_functions_that_a_driver_has() {
    let pin = Some(AttentionKernel::CoopNv2);
    let cases = [([true, true], "maintenance1"), ([true, false], "maintenance1"), ([false, true], "exact")];
    for (device, rows, in_wgsl) in
        [(fixtures::h200(), " BR=16 ", true), (fixtures::intel_xe2(), " BR=8 ", false)]
    {
        for ([maintenance1, flexible], variant) in cases {
            let mut caps = device.clone();
            caps.rows.retain(|row| row.sizes == RowSizes::Exact);
            caps.extensions =
                MatrixExtensions { maintenance1, flexible, bfloat16: true, ..MatrixExtensions::default() };
            for (dtype, of) in [(DType::F16, "f16"), (DType::Bf16, "bf16")] {
                let plans = |pin| {
                    let forward = problem([16, 16], [4096, 4096], 64, dtype).pinned(pin);
                    let backward = gradients_of(forward, [1, 16, 4096, 64]);
                    [forward.plan(&caps).unwrap(), backward.plan(&caps).unwrap()]
                };
                let pinned = plans(pin);
                let name = |kernel: &str| format!("spirv/{kernel}.{of}_{variant}");
                let of_backward = name("attention_gradients_nv2");
                assert_eq!(modules(&pinned[0]), [name("attention_nv2")], "{}", pinned[0]);
                assert_eq!(modules(&pinned[1]), [of_backward.clone(), of_backward], "{}", pinned[1]);
                let kernel = pinned[0].steps()[0].kernel.to_string();
                assert!(kernel.contains(rows) && kernel.contains(" CHUNK=16 "), "{kernel}");
                // Where WGSL has a kernel on the device's matrices, plans take that.
                for free in plans(None) {
                    let takes_module = !modules(&free).is_empty();
                    assert_eq!(takes_module, dtype == DType::Bf16 || !in_wgsl, "{}: {free}", caps.adapter);
                }
            }
        }
    }
}

#[test]
fn a_device_without_functions_of_elements_says_what_it_lacks() {
    let needs = |change: &dyn Fn(&mut Caps)| {
        let mut caps = fixtures::h200();
        caps.extensions.maintenance1 = true;
        change(&mut caps);
        let pinned = problem([4, 4], [64, 64], 64, DType::F16).pinned(Some(AttentionKernel::CoopNv2));
        pinned.plan(&caps).map(|plan| modules(&plan)[0].to_owned()).map_err(|error| error.to_string())
    };
    let exact = |caps: &mut Caps| caps.rows.retain(|row| row.sizes == RowSizes::Exact);
    assert_eq!(needs(&|_| ()).unwrap(), "spirv/attention_nv2.f16", "rows of multiples come first");
    assert_eq!(needs(&exact).unwrap(), "spirv/attention_nv2.f16_maintenance1");
    let none = needs(&|caps| {
        exact(caps);
        caps.extensions = MatrixExtensions::default();
    });
    let none = none.unwrap_err();
    assert!(
        none.contains("f16 x f16 -> f32 of flexible size, or with n = k and functions of elements"),
        "{none}"
    );
    let other = needs(&|caps| caps.rows.retain(|row| row.sizes == RowSizes::Exact && row.n != row.k));
    assert!(other.unwrap_err().contains("which the adapter does not list"));
    // Exact matrices have the same functions as those that have failed.
    let wrong = needs(&|caps| {
        caps.rows
            .iter_mut()
            .filter(|row| row.sizes != RowSizes::Exact)
            .for_each(|row| row.verdict = Verdict::Wrong);
    });
    assert!(wrong.unwrap_err().contains("fenced off: wrong results"));
}
