//! Tensors: what goes in comes out, views copy nothing, copies and casts are right, on devices with f16 and without.

use support::laid;
use support::laid::flat;
use support::operand::{Placed, View};
use tilewise::{DType, Element, F8E4M3, F8E5M2, Fill, Gpu, Layout, Tensor, bf16, f16};
#[cfg(feature = "ndarray")]
use tilewise::{Error, GpuOptions};

/// Integers that the type holds, of a period that no shape has.
fn counting<T: Element>(len: usize) -> Vec<T> {
    let period = match T::DTYPE {
        DType::I8 => 127,
        DType::Bf16 => 251,
        // Integers to here are exact.
        DType::F8E4M3 => 17,
        DType::F8E5M2 => 9,
        _ => 2039,
    };
    (0..len).map(|i| T::from_f64((i % period) as f64)).collect()
}

/// The elements of a view of `data`, row-major, by definition.
fn elements<T: Element>(data: &[T], layout: &Layout) -> Vec<T> {
    let at = |mut index: usize| {
        let axes = layout.shape().iter().zip(layout.strides()).rev();
        layout.offset()
            + axes.fold(0, |at, (&extent, &stride)| {
                let step = index % extent * stride;
                index /= extent;
                at + step
            })
    };
    (0..layout.len()).map(|index| data[at(index)]).collect()
}

#[test]
fn what_goes_in_comes_out() {
    fn round_trip<T: Element>(gpu: &Gpu) {
        for len in [0, 1, 2, 3, 5, 63, 64, 65, 127, 1000, 4097, 70_001] {
            let data = counting::<T>(len);
            let tensor = gpu.tensor(&data, [len]).unwrap();
            assert_eq!((tensor.shape(), tensor.len(), tensor.is_empty()), (&[len][..], len, len == 0));
            assert_eq!(tensor.to_vec().unwrap(), data, "{} x {}", len, T::DTYPE);
            if len > 3 {
                let tail = tensor.slice(0, 3..).unwrap();
                assert_eq!(tail.to_vec().unwrap(), data[3..], "from an odd offset");
            }
        }
        let scalar = gpu.tensor(&[T::from_f64(7.0)], []).unwrap();
        assert_eq!((scalar.shape(), scalar.to_vec().unwrap()), (&[][..], vec![T::from_f64(7.0)]));
        assert_eq!(gpu.zeros::<T>([3, 5]).unwrap().to_vec().unwrap(), [T::from_f64(0.0); 15]);
    }
    for gpu in support::devices() {
        support::of_every_type!(round_trip, &gpu);
        round_trip::<F8E4M3>(&gpu);
        round_trip::<F8E5M2>(&gpu);
    }
}

#[test]
fn what_is_written_replaces_what_was_there() {
    fn write<T: Element>(gpu: &Gpu) {
        for len in [1, 2, 3, 5, 7, 1001] {
            let (old, new) = (counting::<T>(len), counting::<T>(len + 3)[3..].to_vec());
            let mut tensor = gpu.tensor(&old, [len]).unwrap();
            let half = tensor.slice(0, len / 2..).unwrap();
            let copy = half.cast_saturating::<f32>().unwrap(); // a launch for f32, too
            drop(half);
            tensor.write(&new).unwrap();
            assert_eq!(tensor.to_vec().unwrap(), new, "{len} x {}", T::DTYPE);
            let want: Vec<f32> = old[len / 2..].iter().map(|v| f32::from_f64(v.to_f64())).collect();
            assert_eq!(copy.to_vec().unwrap(), want, "what was recorded before sees what was there before");
        }
    }
    for gpu in support::devices() {
        support::of_every_type!(write, &gpu);
        write::<F8E4M3>(&gpu);
        write::<F8E5M2>(&gpu);
    }
}

#[test]
fn every_bit_of_a_value_survives() {
    let Some(gpu) = support::gpu() else { return };
    let bits: Vec<u16> = (0..=u16::MAX).collect();
    let halves: Vec<f16> = bits.iter().map(|&bits| f16::from_bits(bits)).collect();
    let back = gpu.tensor(&halves, [256, 256]).unwrap().to_vec().unwrap();
    assert_eq!(back.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), bits);
    let tail = gpu.tensor(&halves[..999], [999]).unwrap().slice(0, 501..).unwrap();
    assert_eq!(
        pollster::block_on(tail.read()).unwrap(),
        halves[501..999],
        "from an odd offset to an odd end"
    );
    let odd = [f32::NAN, -0.0, f32::MIN_POSITIVE / 8.0, f32::INFINITY, f32::MAX];
    let back = gpu.tensor(&odd, [5]).unwrap().to_vec().unwrap();
    assert_eq!(back.map_bits(), odd.map_bits());
}

trait Bits {
    fn map_bits(&self) -> Vec<u32>;
}

impl<A: AsRef<[f32]>> Bits for A {
    fn map_bits(&self) -> Vec<u32> {
        self.as_ref().iter().map(|v| v.to_bits()).collect()
    }
}

#[test]
fn views_share_their_buffer_and_copy_nothing() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let a = gpu.tensor(&counting::<f32>(24), [2, 3, 4]).unwrap();
    let before = gpu.stats();
    let views = [
        a.t(),
        a.permute(&[2, 0, 1]).unwrap(),
        a.slice(1, 1..).unwrap(),
        a.reshape([6, 4]).unwrap(),
        a.as_strided(&[3, 3], &[0, 2], 1).unwrap(),
        a.clone(),
        a.contiguous().unwrap(),
        a.cast::<f32>().unwrap(),
    ];
    assert!(views.iter().all(|view| view.shares_buffer(&a)));
    assert_eq!(gpu.stats(), before, "no launch, no submit, no byte");
    let data = counting::<f32>(24);
    for view in &views {
        assert_eq!(view.to_vec().unwrap(), elements(&data, view.layout()), "{view:?}");
    }
    let gaps = views[0].contiguous().unwrap();
    assert!(!gaps.shares_buffer(&a) && gaps.layout().is_contiguous());
}

#[test]
fn views_have_the_shapes_and_strides_that_their_names_say() {
    let gpu = support::noop();
    let a = gpu.tensor(&counting::<f32>(24), [2, 3, 4]).unwrap();
    let parts = |t: &Tensor<f32>| (t.shape().to_vec(), t.strides().to_vec(), t.layout().offset());
    assert_eq!(parts(&a), (vec![2, 3, 4], vec![12, 4, 1], 0));
    assert_eq!(parts(&a.t()), (vec![2, 4, 3], vec![12, 1, 4], 0));
    assert_eq!(parts(&a.permute(&[2, 0, 1]).unwrap()), (vec![4, 2, 3], vec![1, 12, 4], 0));
    assert_eq!(parts(&a.slice(1, 1..).unwrap()), (vec![2, 2, 4], vec![12, 4, 1], 4));
    assert_eq!(
        parts(&a.slice(2, ..=1).unwrap().slice(0, 1..2).unwrap()),
        (vec![1, 3, 2], vec![12, 4, 1], 12)
    );
    assert_eq!(parts(&a.slice(0, 2..).unwrap()), (vec![0, 3, 4], vec![12, 4, 1], 0));
    assert_eq!(parts(&a.slice(0, 1..).unwrap().reshape([3, 4]).unwrap()), (vec![3, 4], vec![4, 1], 12));
    assert_eq!(parts(&a.reshape([24]).unwrap().t()), (vec![24], vec![1], 0), "one axis stays as it is");
    assert_eq!(parts(&a.as_strided(&[2, 2], &[0, 5], 3).unwrap()), (vec![2, 2], vec![0, 5], 3));
}

#[test]
fn a_layout_knows_its_span_and_whether_it_has_gaps() {
    let layout = |shape: &[usize], strides: &[usize], offset| laid::view(shape, strides, offset);
    for (layout, span, contiguous) in [
        (flat(&[2, 3]), 0..6, true),
        (layout(&[2, 3], &[3, 1], 10), 10..16, true),
        (layout(&[2, 3], &[4, 1], 10), 10..17, false),
        (layout(&[3, 2], &[1, 3], 0), 0..6, false),
        (layout(&[1, 3], &[99, 1], 0), 0..3, true),
        (layout(&[3, 1], &[1, 99], 5), 5..8, true),
        (layout(&[4], &[0], 7), 7..8, false),
        (layout(&[0, 3], &[3, 2], 7), 7..7, true),
        (layout(&[], &[], 3), 3..4, true),
        (layout(&[2], &[999], 0), 0..1000, false),
    ] {
        assert_eq!((layout.span(), layout.is_contiguous()), (span, contiguous), "{layout:?}");
        assert_eq!(layout.len(), layout.shape().iter().product::<usize>());
        assert_eq!(layout.is_empty(), layout.shape().contains(&0), "{layout:?}");
        assert_eq!(layout.rank(), layout.strides().len());
    }
    assert!(Layout::new("test", &[2], &[1000], 0, 1000).is_err(), "one too far");
    assert!(
        Layout::new("test", &[0], &[1], 1000, 1000).is_ok()
            && Layout::new("test", &[0], &[1], 1001, 1000).is_err()
    );
    assert_eq!(format!("{:?}", layout(&[2, 3], &[4, 1], 10)), "[2, 3] strides [4, 1] offset 10");
    assert_eq!(Layout::MAX_RANK, 6);
}

#[test]
fn copies_of_views_have_their_elements_in_order() {
    fn copies<T: Element>(gpu: &Gpu) {
        for view in View::ALL {
            for shape @ [rows, cols] in [[1, 1], [3, 5], [33, 64], [64, 31], [65, 127]] {
                let data = counting::<T>(rows * cols);
                let placed = Placed::new(gpu, &data, shape, view);
                let copy = placed.tensor.contiguous().unwrap();
                assert_eq!(copy.to_vec().unwrap(), data, "{view:?} {shape:?} {}", T::DTYPE);
                assert!(copy.layout().is_contiguous() && copy.shape() == shape);
            }
        }
        // Six axes, in another order, sliced, and with an axis repeated.
        let data = counting::<T>(2 * 3 * 4 * 5 * 6 * 7);
        let a = gpu.tensor(&data, [2, 3, 4, 5, 6, 7]).unwrap();
        let views = [
            a.permute(&[5, 3, 1, 0, 2, 4]).unwrap(),
            a.permute(&[4, 5, 0, 1, 3, 2]).unwrap().slice(0, 1..5).unwrap().slice(4, 2..4).unwrap(),
            a.as_strided(&[2, 3, 2, 5, 3, 7], &[0, 1, 840, 42, 0, 2], 13).unwrap(),
            a.as_strided(&[9, 9], &[1, 1], 3).unwrap(),
            a.as_strided(&[5], &[0], 77).unwrap(),
            a.slice(5, 3..4).unwrap(),
        ];
        for view in &views {
            let copy = view.contiguous().unwrap();
            assert_eq!(copy.to_vec().unwrap(), elements(&data, view.layout()), "{view:?}");
        }
    }
    for gpu in support::devices() {
        support::of_every_type!(copies, &gpu);
    }
}

#[test]
fn casts_round_to_the_nearest_and_overflow_to_infinity() {
    for gpu in support::devices() {
        let device = if gpu.caps().f16 { "f16" } else { "packed" };
        // Every finite half, wide and back again: exact.
        let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).filter(|v| v.is_finite()).collect();
        let tensor = gpu.tensor(&halves, [halves.len()]).unwrap();
        let wide = tensor.cast::<f32>().unwrap();
        assert_eq!(wide.to_vec().unwrap(), halves.iter().map(|v| v.to_f32()).collect::<Vec<_>>(), "{device}");
        assert_eq!(wide.cast::<f16>().unwrap().to_vec().unwrap(), halves, "{device}");
        // Between two halves: the nearest.
        let values: Vec<f32> = Fill::Uniform.values::<f32>(999, 5).iter().map(|v| v * 1.0003 + 1.5).collect();
        let narrow = gpu.tensor(&values, [values.len()]).unwrap().cast::<f16>().unwrap().to_vec().unwrap();
        for (value, got) in values.iter().zip(&narrow) {
            assert_eq!(*got, f16::from_f32(*value), "{device}: {value}");
        }
        let large = [1e6, -1e6, f32::INFINITY, f32::NEG_INFINITY, 65_504.0];
        let narrow = gpu.tensor(&large, [5]).unwrap().cast::<f16>().unwrap().to_vec().unwrap();
        let (up, down) = (f16::INFINITY, f16::NEG_INFINITY);
        assert_eq!(narrow, [up, down, up, down, f16::MAX], "{device}");
        let nan = gpu.tensor(&[f32::NAN], [1]).unwrap().cast::<f16>().unwrap().to_vec().unwrap();
        assert!(nan[0].is_nan(), "{device}");
    }
}

#[test]
fn a_view_is_cast_in_one_launch() {
    for gpu in support::devices() {
        let data = counting::<f32>(77);
        let view = gpu.tensor(&data, [7, 11]).unwrap().t().slice(0, 2..9).unwrap();
        let before = gpu.stats().launches;
        let cast = view.cast::<f16>().unwrap();
        assert_eq!(gpu.stats().launches - before, 1);
        let want: Vec<f16> = elements(&data, view.layout()).into_iter().map(f16::from_f32).collect();
        assert_eq!((cast.shape(), cast.to_vec().unwrap()), (&[7, 7][..], want.clone()));
        let back = cast.t().cast::<f32>().unwrap().t();
        assert_eq!(back.to_vec().unwrap(), want.iter().map(|v| v.to_f32()).collect::<Vec<_>>());
        let empty = view.slice(1, 0..0).unwrap().cast::<f16>().unwrap();
        assert_eq!((empty.shape(), empty.to_vec().unwrap()), (&[7, 0][..], vec![]));
    }
}

/// `SplitMix64`, as in its paper: a state that advances, mixed as it comes out.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[test]
fn random_values_are_the_same_everywhere_for_ever() {
    assert_eq!(split_mix(&mut 1_234_567), 6_457_827_717_110_365_317, "the generator's published test value");
    let mut expected = vec![];
    // The sequence of a seed: the generator started where the seed's own first output, one step back, says.
    let mut state = split_mix(&mut 42).wrapping_sub(0x9e37_79b9_7f4a_7c15);
    for _ in 0..100 {
        expected.push(split_mix(&mut state));
    }
    let uniform: Vec<f32> =
        expected.iter().map(|bits| (bits / (1 << 40)) as f32 / 8_388_608.0 - 1.0).collect();
    let integers: Vec<f32> = expected.iter().map(|bits| ((bits / (1 << 32)) % 7) as f32 - 3.0).collect();
    assert_eq!(Fill::Uniform.values::<f32>(100, 42), uniform);
    assert_eq!(Fill::Integers.values::<f32>(100, 42), integers);
    assert_eq!(Fill::Uniform.values::<f32>(4, 42), GOLDEN_UNIFORM.map(|v| v / 8_388_608.0));
    assert_eq!(Fill::Integers.values::<f32>(8, 42), GOLDEN_INTEGERS);
    let gpu = support::noop();
    let halves = gpu.random::<f16>([10, 10], Fill::Uniform, 42).unwrap().to_vec().unwrap();
    let down: Vec<f32> = uniform.iter().map(|v| (v * 1024.0).floor() / 1024.0).collect();
    assert_eq!(halves.iter().map(|v| v.to_f32()).collect::<Vec<_>>(), down, "f16 is f32 rounded down");
    let narrow = gpu.random::<bf16>([10, 10], Fill::Uniform, 42).unwrap().to_vec().unwrap();
    let down: Vec<f32> = uniform.iter().map(|v| (v * 128.0).floor() / 128.0).collect();
    assert_eq!(narrow.iter().map(|v| v.to_f32()).collect::<Vec<_>>(), down, "bf16 is f32 rounded down");
    let steps = |values: f64| uniform.iter().map(|v| (f64::from(*v) * values).floor()).collect::<Vec<_>>();
    let i8s: Vec<f64> = Fill::Uniform.values::<i8>(100, 42).into_iter().map(f64::from).collect();
    let i32s: Vec<f64> = Fill::Uniform.values::<i32>(100, 42).into_iter().map(f64::from).collect();
    assert_eq!((i8s, i32s), (steps(128.0), steps(8_388_608.0)), "integers count the steps");
    let small = Fill::Integers.values::<i8>(100, 42).into_iter().map(f32::from).collect::<Vec<_>>();
    assert_eq!(small, integers);
}

const GOLDEN_UNIFORM: [f32; 4] = [3_317_465.0, -2_629_126.0, 7_646_161.0, -229_017.0]; // of 2^23
const GOLDEN_INTEGERS: [f32; 8] = [-3.0, -2.0, 2.0, 0.0, -3.0, -1.0, 2.0, 3.0];

#[test]
fn random_values_are_spread_as_their_names_say() {
    let uniform = Fill::Uniform.values::<f32>(20_000, 3);
    assert!(uniform.iter().all(|v| (-1.0..1.0).contains(v)));
    let odd = uniform.iter().filter(|v| (*v * 4_194_304.0).fract() != 0.0).count();
    assert!((9600..10_400).contains(&odd), "{odd} of 20,000 have the last bit set");
    let mean = uniform.iter().sum::<f32>() / 20_000.0;
    assert!(mean.abs() < 0.02, "mean {mean}"); // five standard errors
    assert!(uniform.iter().any(|v| *v < -0.999) && uniform.iter().any(|v| *v > 0.999));
    let integers = Fill::Integers.values::<f16>(20_000, 3);
    for value in -3..=3 {
        let count = integers.iter().filter(|v| **v == <f16 as Element>::from_f64(f64::from(value))).count();
        assert!((2600..3120).contains(&count), "{value} comes {count} times of 20,000");
    }
    let bytes = Fill::Uniform.values::<i8>(20_000, 3);
    for value in i8::MIN..=i8::MAX {
        let count = bytes.iter().filter(|v| **v == value).count();
        assert!((30..130).contains(&count), "{value} comes {count} times of 20,000");
    }
    assert_ne!(Fill::Uniform.values::<f32>(100, 1), Fill::Uniform.values::<f32>(100, 2));
    assert_eq!(Fill::Uniform.values::<f32>(10, 1), Fill::Uniform.values::<f32>(100, 1)[..10]);
}

#[test]
fn element_types_say_what_they_are() {
    let all = [f32::DTYPE, f16::DTYPE, bf16::DTYPE, i8::DTYPE, i32::DTYPE, F8E4M3::DTYPE, F8E5M2::DTYPE];
    assert_eq!(all, DType::ALL);
    let said = all.map(|t| (t.to_string(), t.size(), t.is_real(), t.is_float(), t.is_fp8()));
    let want = [
        ("f32", 4, true, true, false),
        ("f16", 2, true, true, false),
        ("bf16", 2, true, true, false),
        ("i8", 1, false, false, false),
        ("i32", 4, false, false, false),
        ("e4m3", 1, false, true, true),
        ("e5m2", 1, false, true, true),
    ];
    assert_eq!(said, want.map(|(name, size, real, float, fp8)| (name.to_owned(), size, real, float, fp8)));
    assert_eq!(
        (<bf16 as Element>::from_f64(1.0 / 3.0).to_f64(), i8::from_f64(-2.5), i8::from_f64(1e9)),
        (0.333_984_375, -2, 127)
    );
    assert_eq!(
        (i32::from_f64(-1e10), i32::from_f64(f64::NAN), i32::MAX.to_f64()),
        (i32::MIN, 0, 2_147_483_647.0)
    );
    assert_eq!(
        (<f16 as Element>::from_f64(1.0 / 3.0).to_f64(), f32::from_f64(0.1)),
        (0.333_251_953_125, 0.1)
    );
    let gpu = support::noop();
    let printed = format!("{:?}", gpu.zeros::<f16>([2, 3]).unwrap());
    assert!(printed.starts_with("Tensor<f16>([2, 3] strides [3, 1] offset 0, Gpu("), "{printed}");
}

#[test]
#[cfg(feature = "ndarray")]
fn errors_of_arrays_name_the_call() {
    let options = GpuOptions { memory_budget: Some(1 << 16), ..GpuOptions::default() };
    let gpu = support::noop_with(options, |_| ());
    let wide = gpu.zeros::<f32>([1]).unwrap().as_strided(&[256, 256], &[0, 0], 0).unwrap();
    let large = ndarray::Array2::<f32>::zeros((256, 256));
    let is_of =
        |error: Error, call: &str| assert!(error.to_string().starts_with(&format!("{call}: ")), "{error}");
    is_of(gpu.from_ndarray(&large).unwrap_err(), "from_ndarray");
    is_of(wide.to_ndarray().unwrap_err(), "to_ndarray");
    is_of(pollster::block_on(wide.read_ndarray()).unwrap_err(), "read_ndarray");
}

#[test]
#[cfg(feature = "ndarray")]
fn arrays_of_any_memory_order_go_both_ways() {
    use ndarray::{Array1, Array2, Array3, Axis, s};
    let Some(gpu) = support::gpu() else { return };
    let a = Array3::from_shape_vec([2, 3, 4], counting::<f32>(24)).unwrap();
    let tensor = gpu.from_ndarray(&a).unwrap();
    assert_eq!((tensor.shape(), tensor.to_ndarray().unwrap()), (&[2, 3, 4][..], a.clone().into_dyn()));
    assert_eq!(tensor.t().to_ndarray().unwrap(), a.view().permuted_axes([0, 2, 1]).into_dyn());
    for view in [a.slice(s![.., 1.., ..;2]), a.slice(s![..;-1, .., 1..3])] {
        assert_eq!(gpu.from_ndarray(&view).unwrap().to_ndarray().unwrap(), view.to_owned().into_dyn());
    }
    let fortran = a.index_axis(Axis(0), 1).reversed_axes();
    assert_eq!(gpu.from_ndarray(&fortran).unwrap().to_ndarray().unwrap(), fortran.to_owned().into_dyn());
    let halves = Array1::from_vec(counting::<f16>(7));
    assert_eq!(gpu.from_ndarray(&halves).unwrap().to_ndarray().unwrap(), halves.into_dyn());
    let narrow = Array1::from_vec(counting::<bf16>(7));
    assert_eq!(gpu.from_ndarray(&narrow).unwrap().to_ndarray().unwrap(), narrow.into_dyn());
    let bytes = Array3::from_shape_vec([3, 3, 3], counting::<i8>(27)).unwrap();
    let steps = bytes.slice(s![.., 1.., ..;2]);
    assert_eq!(gpu.from_ndarray(&steps).unwrap().to_ndarray().unwrap(), steps.to_owned().into_dyn());
    let words = Array2::from_shape_vec([3, 3], counting::<i32>(9)).unwrap();
    let turned = gpu.from_ndarray(&words).unwrap().t().to_ndarray().unwrap();
    assert_eq!(turned, words.reversed_axes().into_dyn());
    let empty = Array2::<f32>::zeros([0, 3]);
    assert_eq!(gpu.from_ndarray(&empty).unwrap().to_ndarray().unwrap(), empty.into_dyn());
}
