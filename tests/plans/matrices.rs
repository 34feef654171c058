//! When a product of f16 runs on cooperative matrices, and what a plan says if it does not.

use crate::choice::taken;
use support::wgsl;
use tilewise::gemm::GemmKernel;
use tilewise::gpu::{DeviceType, RowSpeed, SubgroupSizes, Verdict};
use tilewise::planning::gemm::{GemmTypes, Pin};
use tilewise::planning::{Problem, fixtures};
use tilewise::{Caps, DType, Error};

const F16: GemmTypes = wgsl::TYPES[2];

/// Why `coop` cannot run on a device, as a plan that passed over it says, and as the error of one that was pinned to it.
fn coop_lacks(caps: &Caps) -> String {
    let problem = wgsl::plain([2048; 3], F16);
    let free = problem.explain(caps).unwrap();
    assert_eq!(taken(&free).kernel, GemmKernel::Tiled, "{free}");
    let reason = free.reasons().iter().find_map(|reason| reason.strip_prefix("coop: needs "));
    let pinned = problem.pinned(Pin::Kernel(GemmKernel::Coop)).plan(caps).expect_err("it cannot run");
    let said = pinned.to_string();
    let Error::Unsupported { op: "matmul", needs, device } = pinned else { panic!("{pinned:?}") };
    assert!(device == caps.adapter && said.contains(&needs), "{said}");
    assert_eq!(reason, Some(needs.as_str()));
    needs
}

#[test]
fn tensor_cores_that_are_not_to_be_trusted_are_passed_over_with_the_row_and_the_reason() {
    const ROW: &str = "cooperative matrices 16x16x16 f16 x f16 -> f32, ";
    let fenced = |verdict| {
        let mut caps = fixtures::rtx_4090();
        caps.rows.iter_mut().for_each(|row| row.verdict = verdict);
        caps
    };
    let problem = wgsl::plain([2048; 3], F16);
    for verdict in [Verdict::Untested, Verdict::Verified] {
        assert_eq!(taken(&problem.plan(&fenced(verdict)).unwrap()).kernel, GemmKernel::Coop, "{verdict}");
    }
    for verdict in [Verdict::Wrong, Verdict::Refused, Verdict::OtherSubgroups] {
        let lacks = coop_lacks(&fenced(verdict));
        assert!(lacks.starts_with(&format!("{ROW}{verdict}")) && lacks.contains("fenced off"), "{lacks}");
    }
    let mut caps = fixtures::rtx_4090();
    caps.rows.clear();
    assert!(coop_lacks(&caps).starts_with(&format!("{ROW}which the adapter does not list")));
    let mut caps = fixtures::rtx_4090();
    caps.subgroups = Some(SubgroupSizes { min: 16, max: 32, matrices: None });
    assert!(coop_lacks(&caps).starts_with(&format!("{ROW}and subgroups of a known size, not 16 to 32")));
    // Subgroups so large that a block has not a unit for every lane.
    caps.subgroups = Some(SubgroupSizes { min: 256, max: 256, matrices: Some(256) });
    assert!(coop_lacks(&caps).contains("smaller subgroups"), "{}", coop_lacks(&caps));
}

#[test]
fn matrices_do_not_store_halves_of_words() {
    let kernel = |n, c| {
        let problem = wgsl::plain([2048, n, 2048], GemmTypes::new(DType::F16, c));
        taken(&problem.plan(&fixtures::rtx_4090()).unwrap()).kernel
    };
    for (n, of_bf16) in [(2048, GemmKernel::Coop), (2047, GemmKernel::Tiled), (2046, GemmKernel::Tiled)] {
        assert_eq!(kernel(n, DType::Bf16), of_bf16, "{n}");
        assert_eq!([DType::F16, DType::F32].map(|c| kernel(n, c)), [GemmKernel::Coop; 2], "{n}");
    }
    let odd = wgsl::plain([2048, 2047, 2048], GemmTypes::new(DType::F16, DType::Bf16));
    let plan = odd.explain(&fixtures::rtx_4090()).unwrap();
    let reason = "coop: needs C of bf16 whose rows are whole vectors of four, as it has no atomics";
    assert!(plan.reasons().contains(&reason.to_owned()), "{plan}");
}

/// A row that was measured to be slower by far than scalar arithmetic is there for whoever pins a kernel on it.
#[test]
fn a_slow_row_is_passed_over_unless_a_kernel_is_pinned() {
    let at = |caps: Caps, times: f64| {
        let mut caps = caps;
        caps.rows.iter_mut().for_each(|row| row.speed = RowSpeed::new(times));
        caps
    };
    for (types, kernel) in [(F16, GemmKernel::Coop), (wgsl::I8, GemmKernel::CoopKhr)] {
        let problem = wgsl::plain([2048; 3], types);
        let plan = |times| problem.explain(&at(fixtures::h200(), times)).unwrap();
        for times in [0.5, 20.0] {
            assert_eq!(taken(&plan(times)).kernel, kernel, "{}", plan(times));
        }
        for times in [0.000_69, 0.499] {
            let slow = plan(times);
            assert!(![GemmKernel::Coop, GemmKernel::CoopKhr].contains(&taken(&slow).kernel), "{slow}");
            let why =
                format!("not tested, {times} times as fast as scalar arithmetic: for pinned kernels only");
            assert!(slow.reasons().join("\n").contains(&why), "{slow}");
            let pinned = problem.pinned(Pin::Kernel(kernel)).plan(&at(fixtures::h200(), times)).unwrap();
            assert_eq!(taken(&pinned).kernel, kernel, "{pinned}");
            let candidates = problem.candidates(&at(fixtures::h200(), times)).unwrap();
            assert!(candidates.iter().all(|plan| taken(plan).kernel != kernel), "tuning tries none");
        }
        // The predictions for a software device know that it emulates matrices.
        let software = fixtures::h200().planned_for(DeviceType::Software);
        let plans =
            [software.clone(), at(software, 0.3)].map(|caps| problem.plan(&caps).unwrap().signature());
        assert_eq!(plans[0], plans[1]);
    }
    // Of several rows, a fast one is used.
    let mut caps = at(fixtures::h200(), 3.0);
    let of_i8 = |row: &&mut tilewise::gpu::CoopRow| row.a == tilewise::gpu::CoopScalar::I8;
    let largest = caps.rows.iter_mut().filter(of_i8).max_by_key(|row| row.m * row.n * row.k).unwrap();
    largest.speed = RowSpeed::new(0.3);
    assert_eq!(taken(&wgsl::plain([2048; 3], wgsl::I8).plan(&caps).unwrap()).kernel, GemmKernel::CoopKhr);
}
