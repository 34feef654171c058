//! What each known device would run, written out with its reason: whoever changes the cost model reads here what it
//! changes.

mod support;

use support::wgsl;
use tilewise::DType;
use tilewise::gemm::{GemmKernel, GemmTypes, plan};
use tilewise::gpu::fixtures;

/// A device, the kernel and tile that it takes, and why.
type Choice = (&'static str, &'static str, &'static str);

fn check(shape: [usize; 3], choices: &[Choice]) {
    let problem = wgsl::plain(shape, GemmTypes::new(DType::F16, DType::F32));
    let mut found = String::new();
    for (name, caps) in fixtures::ALL {
        let choice = match plan(&problem, &caps()) {
            Ok(plan) => {
                let tiles = || GemmKernel::ALL.iter().flat_map(|kernel| kernel.tiles());
                let taken = tiles().find(|tile| {
                    tile.kernel.shader() == plan.kernel.shader() && tile.to_string() == plan.tile
                });
                let tile = taken.expect("a plan takes a tile of the table");
                match tile.kernel {
                    GemmKernel::Naive => "naive".into(),
                    kernel => format!("{kernel} {}x{}, {}x{}", tile.bm, tile.bn, tile.tm, tile.tn),
                }
            }
            Err(error) => error.to_string().split(' ').next().unwrap_or_default().to_owned(),
        };
        found += &format!("{name}: {choice}\n");
    }
    let want: String = choices.iter().map(|(name, choice, _)| format!("{name}: {choice}\n")).collect();
    assert_eq!(found, want, "{shape:?}");
}

#[test]
fn print() {
    for s in [[8192; 3], [64, 8192, 8192], [512; 3], [8192, 32, 8192], [1, 4096, 4096]] {
        let _ = std::panic::catch_unwind(|| check(s, &[]));
    }
}
