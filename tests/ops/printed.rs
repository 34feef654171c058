//! What tensors print, and operators of owned tensors.

use half::{bf16, f16};
use support::failure::says;
use tilewise::{Element, Fill, Gpu, Result, Tensor};

/// The lines after the first, which names the device.
fn lines<T: Element>(x: &Tensor<T>) -> Vec<String> {
    let text = x.to_string();
    let (first, rest) = text.split_once('\n').unwrap_or((&text, ""));
    assert_eq!(first, format!("{} {:?} on {}", T::DTYPE, x.shape(), x.gpu().caps().adapter));
    rest.lines().map(String::from).collect()
}

#[test]
fn a_tensor_prints_a_corner_of_its_first_matrix() -> Result<()> {
    let Some(gpu) = support::gpu() else { return Ok(()) };
    let count = |n: usize| -> Vec<i32> { (0..).take(n).collect() };
    assert_eq!(lines(&gpu.tensor(&[-7], [1])?.squeeze(0)?), ["   -7"]);
    assert_eq!(lines(&gpu.tensor(&count(6), [6])?), ["   0  1  2  3  4  5"]);
    assert_eq!(lines(&gpu.tensor(&count(7), [7])?), ["   0  1  2  3  4  5  ..."]);
    assert_eq!(lines(&gpu.zeros::<f32>([3, 0])?), [""; 0]);
    let table = gpu.tensor(&count(2 * 3 * 7 * 8), [2, 3, 7, 8])?;
    let found = lines(&table);
    assert_eq!(found.len(), 8);
    assert_eq!(found[0], "    0   1   2   3   4   5  ...");
    assert_eq!(found[5], "   40  41  42  43  44  45  ...");
    assert_eq!(found[6..], ["   ...", "  (the first of 6 matrices)"]);
    // A view prints its own elements.
    let view = table.slice(0, 1..)?.slice(1, 2..)?.t().slice(3, ..2)?;
    assert_eq!(view.shape(), [1, 1, 8, 2]);
    assert_eq!(lines(&view)[1], "   281  289");
    Ok(())
}

#[test]
fn numbers_print_with_four_digits_or_as_asked() -> Result<()> {
    let Some(gpu) = support::gpu() else { return Ok(()) };
    let row = |values: &[f32]| gpu.tensor(values, [values.len()]);
    assert_eq!(lines(&row(&[1.0, -0.5, 99999.0])?), ["       1.0000     -0.5000  99999.0000"]);
    assert_eq!(lines(&row(&[0.0, f32::NAN, f32::NEG_INFINITY])?), ["   0.0000     NaN    -inf"]);
    // One number that would show no digit, or too many, changes all.
    assert_eq!(lines(&row(&[1.0, 1e-4])?), ["    1.0000e0  1.0000e-4"]);
    assert_eq!(lines(&row(&[2e5, 1.0])?), ["   2.0000e5  1.0000e0"]);
    let asked = format!("{:.1}", row(&[0.25, 1.0])?);
    assert!(asked.ends_with("\n   0.2  1.0"), "{asked}");
    assert_eq!(lines(&gpu.tensor(&[f16::from_f32(0.1), f16::ONE], [2])?), ["   0.1000  1.0000"]);
    assert_eq!(lines(&gpu.tensor(&[bf16::MIN, bf16::ONE], [2])?), ["   -3.3895e38    1.0000e0"]);
    Ok(())
}

#[test]
fn a_tensor_that_cannot_be_read_prints_why() -> Result<()> {
    let Some(gpu) = support::own(|_| ()) else { return Ok(()) };
    let x = gpu.tensor(&[1.0f32], [1])?;
    gpu.device().destroy();
    let found = lines(&x);
    assert!(found.len() == 1 && found[0].contains("lost"), "{found:?}");
    Ok(())
}

/// In a closure that nothing can be read in, a tensor prints that, and the closure goes on.
#[test]
fn printing_in_a_capture_or_a_frame_says_that_nothing_can_be_read_there() -> Result<()> {
    let Some(gpu) = support::own(|_| ()) else { return Ok(()) };
    let x = gpu.tensor(&[1.0f32, 2.0], [2])?;
    let check = || {
        let found = lines(&x);
        assert!(found.len() == 1 && found[0].starts_with("  to_vec: "), "{found:?}");
        &x + &x
    };
    let mut replay = gpu.capture(&[x.view()], check)?;
    assert_eq!(replay.run(&[x.view()])?.to_vec()?, [2.0, 4.0]);
    let mut encoder = gpu.device().create_command_encoder(&Default::default());
    let y = gpu.record_into(&mut encoder, check)?;
    gpu.queue().submit([encoder.finish()]);
    assert_eq!(y.to_vec()?, [2.0, 4.0]);
    assert_eq!(lines(&y), ["   2.0000  4.0000"]);
    Ok(())
}

/// The bits of every way to write an operator are those of the function.
fn assert_operators<T: Element>(gpu: &Gpu) -> Result<()> {
    let [x, y] = [1, 2].map(|seed| gpu.random::<T>([5], Fill::Uniform, seed));
    let (x, y) = (x?, y?);
    let same = |found: Result<Tensor<T>>, want: Result<Tensor<T>>| -> Result<()> {
        assert_eq!(found?.to_vec()?, want?.to_vec()?);
        Ok(())
    };
    macro_rules! each {
        ($($operator:tt $function:ident),*) => {$(
            let want = || tilewise::ops::$function(&x, &y);
            same(&x $operator &y, want())?;
            same(x.clone() $operator &y, want())?;
            same(&x $operator y.clone(), want())?;
            same(x.clone() $operator y.clone(), want())?;
            same(x.clone() $operator 3, &x $operator 3)?;
            same(3 $operator x.clone(), 3 $operator &x)?;
            if T::DTYPE.is_real() {
                same(x.clone() $operator 2.0f32, &x $operator 2)?;
                same(2.0f32 $operator x.clone(), 2 $operator &x)?;
            }
        )*};
    }
    each!(+ add, - sub, * mul);
    same(-x.clone(), tilewise::ops::neg(&x))?;
    same((&x * 2)? + &x, &x * 3)?;
    Ok(())
}

#[test]
fn operators_take_owned_tensors() -> Result<()> {
    let Some(gpu) = support::gpu() else { return Ok(()) };
    assert_operators::<f32>(&gpu)?;
    assert_operators::<i32>(&gpu)?;
    let [x, y] = [gpu.tensor(&[1.0f32, 3.0], [2])?, gpu.tensor(&[2.0f32, 4.0], [2])?];
    assert_eq!((x.clone() / y.clone())?.to_vec()?, [0.5, 0.75]);
    assert_eq!((x.clone() / &y)?.to_vec()?, [0.5, 0.75]);
    assert_eq!((&x / y)?.to_vec()?, [0.5, 0.75]);
    assert_eq!((3 / x.clone())?.to_vec()?, [3.0, 1.0]);
    assert_eq!((x / 2.0)?.to_vec()?, [0.5, 1.5]);
    says(gpu.zeros::<f32>([2])? + gpu.zeros::<f32>([3])?, &["^add: ", "[2]", "[3]"]);
    Ok(())
}
