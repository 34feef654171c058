//! Convolutions of i8 against their definition in i64, exactly.

use super::convolution::{CASES, Case, geometry, options, shapes};
use support::strided::{Lay, Placed};
use tilewise::conv::{ConvScales, conv2d_quantised};
use tilewise::reference::requantise;
use tilewise::{Activation, DType, Tensor};

/// The sums of a case, in the order of the result.
pub(crate) fn sums(case: Case, x: &[i8], weight: &[i8]) -> Vec<i64> {
    let it = geometry(case);
    let ([height, width], [channels, outputs]) = (it.axes, [it.group_channels(), it.group_outputs()]);
    let mut sums = Vec::new();
    for at in 0..it.output_shape().iter().product() {
        let [output, column] = [at % it.outputs, at / it.outputs % width.output];
        let [row, image] =
            [at / it.outputs / width.output % height.output, at / it.outputs / width.output / height.output];
        let mut sum = 0;
        for (r, s) in (0..height.taps).flat_map(|r| (0..width.taps).map(move |s| (r, s))) {
            let (Some(line), Some(place)) = (height.read(row, r), width.read(column, s)) else { continue };
            let pixel = ((image * height.input + line) * width.input + place) * it.channels;
            let first = pixel + output / outputs * channels;
            let tap = ((output * height.taps + r) * width.taps + s) * channels;
            sum += (0..channels).map(|c| i64::from(x[first + c]) * i64::from(weight[tap + c])).sum::<i64>();
        }
        sums.push(sum);
    }
    sums
}

/// Each case, in any layouts, as its sums, and requantised, with scales that are powers of two, so that nothing is rounded before the last step.
#[test]
fn convolutions_of_i8_are_exact() {
    let Some(gpu) = support::gpu() else { return };
    for (at, case) in CASES.into_iter().enumerate().step_by(support::by_sweep(1, 2, 9)) {
        let [of_x, of_weight] = shapes(case);
        // All numbers of i8.
        let bytes = |of: [usize; 4], seed: u32| -> Vec<i8> {
            let places = seed..seed + u32::try_from(of.iter().product::<usize>()).unwrap();
            places.map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes()[0].cast_signed()).collect()
        };
        let [x, weight] = [bytes(of_x, 1), bytes(of_weight, 1 << 20)];
        let lay = |operand: usize| Lay::ALL[(at * operand + operand) % Lay::ALL.len()];
        let tx = Placed::new(&gpu, &x, &of_x, lay(1)).tensor;
        let tw = Placed::new(&gpu, &weight, &of_weight, lay(2)).tensor;
        // Every third weight is a view of one that is stored channels first.
        let tw = if at % 3 == 0 {
            tw.permute(&[0, 3, 1, 2]).unwrap().contiguous().unwrap().permute(&[0, 2, 3, 1]).unwrap()
        } else {
            tw
        };
        let want = sums(case, &x, &weight);
        let (plain, none) = (ConvScales::default(), Activation::None);
        let exact: Tensor<i32> = conv2d_quantised(&tx, &tw, plain, None, &options(case), none).unwrap();
        assert_eq!(exact.shape(), geometry(case).output_shape());
        let found: Vec<i64> = exact.to_vec().unwrap().into_iter().map(i64::from).collect();
        assert_eq!(found, want, "{case:?}");
        let outputs = of_weight[0];
        let of_channel: Vec<f32> = (0..outputs).map(|at| [0.5, 1.0, 0.25][at % 3]).collect();
        let bias: Vec<f32> = (0..outputs).map(|at| 16.0 * at as f32 - 40.0).collect();
        let [scale, shift] =
            [&of_channel, &bias].map(|values| Placed::new(&gpu, values, &[outputs], lay(3)).tensor);
        let scales = ConvScales { x: 0.125, weight: Some(&scale), out: Some(1024.0) };
        let q: Tensor<i8> =
            conv2d_quantised(&tx, &tw, scales, Some(&shift), &options(case), Activation::Relu).unwrap();
        let rounded = |(at, sum): (usize, &i64)| {
            let (output, sum) = (at % outputs, *sum as f64);
            let value = 0.125 * f64::from(of_channel[output]) * sum + f64::from(bias[output]);
            requantise(value.max(0.0), 1024.0)
        };
        let want: Vec<i8> = want.iter().enumerate().map(rounded).collect();
        assert_eq!(q.to_vec().unwrap(), want, "{case:?} as {}", DType::I8);
    }
}

/// Padding is not multiplied: the smallest number next to it does not change a sum.
#[test]
fn the_padding_of_i8_is_the_quantised_zero() {
    let Some(gpu) = support::gpu() else { return };
    let (x, weight) = (gpu.full([1, 2, 2, 4], -128i8).unwrap(), gpu.full([1, 3, 3, 4], -128i8).unwrap());
    let padded = tilewise::conv::ConvOptions::new().padding(tilewise::conv::Padding::Explicit([[2; 2]; 2]));
    let y: Tensor<i32> =
        conv2d_quantised(&x, &weight, ConvScales::default(), None, &padded, Activation::None).unwrap();
    let places = [1, 2, 2, 1];
    let want: Vec<i32> = (0..16).map(|at| places[at / 4] * places[at % 4] * 4 * 128 * 128).collect();
    assert_eq!(y.to_vec().unwrap(), want);
}
