//! Operations of networks against what PyTorch computed in f64.

mod activation;
mod attention;
mod convolution;
mod cross_entropy;
mod embedding;
mod images;
mod losses;
mod multi_head;
mod norms;
mod oracle;
mod parameters;
mod pool;
mod rope;
mod softmax;
mod transformer;

use oracle::{Oracle, Types};
use std::collections::BTreeSet;
use tilewise::{DType, Gpu, bf16, f16};

/// Checks a file on a device.
type Check = fn(&Gpu, &mut Oracle);

/// A check in each type that holds an oracle's values exactly.
macro_rules! in_types {
    ($($check:ident)::+) => {
        |gpu, oracle| {
            if oracle.holds(DType::F32) {
                $($check)::+::<f32>(gpu, oracle);
            }
            if oracle.holds(DType::F16) {
                $($check)::+::<f16>(gpu, oracle);
            }
            if oracle.holds(DType::Bf16) {
                $($check)::+::<bf16>(gpu, oracle);
            }
        }
    };
}

/// Kinds of files, by the metadata `kind`, and what checks a file.
const KINDS: [(&str, Check); 28] = [
    ("activation", activation::check),
    ("adaptiveavgpool2d", in_types!(pool::adaptive_mean)),
    ("adaptivemaxpool2d", in_types!(pool::adaptive_largest)),
    ("attention", in_types!(attention::check)),
    ("avgpool2d", in_types!(pool::mean)),
    ("batchnorm", in_types!(norms::batch)),
    ("bce_logits", in_types!(losses::check)),
    ("conv1d", in_types!(convolution::sequence)),
    ("conv2d", in_types!(convolution::check)),
    ("conv3d", in_types!(convolution::volume)),
    ("convbnact", in_types!(convolution::block)),
    ("convtrain", in_types!(convolution::training)),
    ("convtranspose2d", in_types!(convolution::transposed)),
    ("crossentropy", in_types!(cross_entropy::check)),
    ("embedding", in_types!(embedding::check)),
    ("groupnorm", in_types!(norms::group)),
    ("huber", in_types!(losses::check)),
    ("interpolate", in_types!(pool::interpolated)),
    ("l1", in_types!(losses::check)),
    ("layernorm", in_types!(norms::layer)),
    ("logsoftmax", softmax::check_log),
    ("maxpool2d", in_types!(pool::largest)),
    ("mha", multi_head::check),
    ("mse", in_types!(losses::check)),
    ("pixelshuffle", in_types!(pool::shuffled)),
    ("rmsnorm", in_types!(norms::rms)),
    ("rope", rope::check),
    ("softmax", softmax::check),
];

/// Every file of `tests/data/torch`, and of the folder that `TILEWISE_ORACLES` names. All parameters come from a file's
/// metadata. A file of another kind fails, and so does one with a tensor that its check does not use.
#[test]
fn oracles() {
    let mut checked = BTreeSet::new();
    for (device, gpu) in support::devices().into_iter().enumerate() {
        // What the types change is how elements are loaded and stored, which `tests/ops` sweeps: one device will do for all types.
        let types = if support::is_full_sweep() || (device == 0 && !support::is_short_sweep()) {
            Types::All
        } else {
            Types::F32
        };
        for path in support::oracles::files("torch", &["safetensors"]) {
            let mut oracle = Oracle::read(&path, types);
            let kind = oracle.kind.clone();
            let (_, check) = KINDS
                .iter()
                .find(|(known, _)| *known == kind)
                .unwrap_or_else(|| panic!("{oracle}: the kind `{kind}` is unknown"));
            check(&gpu, &mut oracle);
            oracle.assert_all_used();
            checked.insert(kind);
        }
    }
    println!("checked: {checked:?}");
    if support::gpu().is_some() {
        for (kind, _) in KINDS {
            assert!(checked.contains(kind), "no file of the kind {kind}");
        }
    }
}
