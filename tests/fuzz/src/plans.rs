//! Random problems on random devices: every plan is within the device's limits, and its kernels are valid there.

use crate::caps::caps;
use crate::views::{dense, extent, real, view};
use arbitrary::{Error, Result, Unstructured};
use std::cell::RefCell;
use std::collections::HashMap;
use support::families::{Of, PROBLEMS};
use support::limits::{self, Planned};
use support::on_view::{self, On};
use tilewise::clifford::Signature;
use tilewise::clifford::layer::{Gate, LayerProduct};
use tilewise::gemm::{GemmKernel, SplitK};
use tilewise::planning::Buffer;
use tilewise::planning::clifford_layer::ConnectedProblem;
use tilewise::planning::gemm::{
    Distribution, Epilogue, GemmProblem, GemmTypes, GeneratedOperand, HalfAxis, HalfPosition, LineScale,
    OuterAxis, Pin, Previous, Scale, SeedSource, Side, SignHalf, product_shape,
};
use tilewise::planning::kernel::{Kernel, Language, Needs, module_needs};
use tilewise::{Activation, Caps, DType, Layout};

/// The bytes encode a device and a problem.
pub(crate) fn plan(data: &[u8]) {
    let _ = outcome(data);
}

/// Plans the problem that the bytes encode for the device that they encode.
///
/// # Panics
/// If the plan exceeds a limit of the device or has an invalid kernel.
#[must_use]
pub fn outcome(data: &[u8]) -> Outcome {
    // Too few bytes give no problem.
    problem(&mut Unstructured::new(data)).unwrap_or(Outcome::NoProblem)
}

/// The outcome of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A valid plan.
    Planned,
    /// The device cannot compute the problem.
    Refused,
    /// The bytes give no problem.
    NoProblem,
}

fn problem(u: &mut Unstructured<'_>) -> Result<Outcome> {
    let caps = caps(u)?;
    let planned = planned(u, &caps)?;
    let Ok(plan) = &planned.plan else { return Ok(Outcome::Refused) };
    limits::assert_within(plan, &planned, &caps, |kernel| taken(kernel, &caps));
    assert!(!plan.to_string().is_empty());
    Ok(Outcome::Planned)
}

/// A random problem, planned.
pub(crate) fn planned(u: &mut Unstructured<'_>, caps: &Caps) -> Result<Planned> {
    match u.int_in_range(0..=14)? {
        0..=3 => product(u, caps),
        4 => generated_product(u, caps),
        5 => of_an_operation(u, caps),
        6..=13 => on_a_view(u, caps),
        _ => connected(u, caps),
    }
}

thread_local! {
    /// The needs and immediates of kernels that were validated, by kernel and by naga's capabilities.
    static KNOWN: RefCell<HashMap<(Kernel, String), (Needs, u32)>> = RefCell::default();
}

/// The needs and immediates of a kernel, which must be valid on the device.
fn taken(kernel: &Kernel, caps: &Caps) -> (Needs, u32) {
    let allowed = limits::capabilities(caps);
    KNOWN.with_borrow_mut(|known| {
        if known.len() > 1000 {
            known.clear();
        }
        *known.entry((kernel.clone(), format!("{allowed:?}"))).or_insert_with(|| {
            if kernel.language() == Language::Spirv {
                return module_needs(&kernel.words().expect("a module")).expect("a kernel");
            }
            let text = kernel.specialize().unwrap_or_else(|e| panic!("{kernel}: {e}"));
            limits::taken(&limits::validate(&text, allowed).unwrap_or_else(|e| panic!("{kernel}: {e}")))
        })
    })
}

/// Checks that a plan binds exactly the windows of the views from which its problem was built, by index of the operand.
fn of_views(planned: Planned, views: &[(usize, &Layout, DType)]) -> Planned {
    for &(index, view, dtype) in views.iter().filter(|(_, view, _)| !view.is_empty()) {
        if let Ok(plan) = &planned.plan {
            let [end, window] =
                [limits::end_of(plan, Buffer::Operand(index)), limits::window_bytes(view, dtype)];
            assert_eq!(end, window, "operand {index}, {view:?}: {plan}");
        }
    }
    planned
}

fn types(u: &mut Unstructured<'_>) -> Result<GemmTypes> {
    if u.ratio(1, 8)? {
        let results = [DType::I32, DType::I32, DType::F32, DType::F16, DType::Bf16, DType::I8];
        return Ok(GemmTypes::new(DType::I8, *u.choose(&results)?));
    }
    let ab = if u.ratio(1, 8)? { *u.choose(&[DType::F8E4M3, DType::F8E5M2])? } else { real(u)? };
    Ok(GemmTypes::new(ab, if ab.is_fp8() || u.arbitrary()? { DType::F32 } else { ab }))
}

fn product(u: &mut Unstructured<'_>, caps: &Caps) -> Result<Planned> {
    let types = types(u)?;
    let [m, n, k] = [extent(u)?, extent(u)?, extent(u)?];
    let batch: Vec<usize> =
        (0..u.int_in_range(0..=2)?).map(|_| u.int_in_range(1..=5)).collect::<Result<_>>()?;
    let [a, b] = [view(u, &[&batch[..], &[m, k]].concat())?, view(u, &[&batch[..], &[k, n]].concat())?];
    let c = dense(&product_shape(&a, &b).map_err(|_| Error::IncorrectFormat)?)?;
    let problem = GemmProblem::new(&a, &b, &c, types).map_err(|_| Error::IncorrectFormat)?;
    let problem = with_epilogue(u, problem)?;
    let problem = with_pin(u, problem)?;
    let planned = Planned::of("product", &problem, caps);
    Ok(of_views(planned, &[(0, &a, types.ab), (1, &b, types.ab), (2, &c, types.c)]))
}

/// A product with a generated operand, or with an operand of which one half is generated.
fn generated_product(u: &mut Unstructured<'_>, caps: &Caps) -> Result<Planned> {
    let types = GemmTypes::new(real(u)?, DType::F32);
    let [m, n, k] = [extent(u)?, 2 * extent(u)?, 2 * extent(u)?];
    let [a, b, c] = [view(u, &[m, k])?, dense(&[k, n])?, dense(&[m, n])?];
    let problem = GemmProblem::new(&a, &b, &c, types).map_err(|_| Error::IncorrectFormat)?;
    let outer = *u.choose(&[OuterAxis::Rows, OuterAxis::Columns])?;
    let problem = if u.arbitrary()? {
        let side = *u.choose(&[Side::A, Side::B])?;
        let entries = *u.choose(&[Distribution::Normal, Distribution::Uniform, Distribution::Sign])?;
        let seed = *u.choose(&[SeedSource::Scalars, SeedSource::Tensor([0, 63])])?;
        problem.generated(GeneratedOperand { side, entries, outer, tag: 1, seed })
    } else {
        let axis = *u.choose(&[HalfAxis::Outer, HalfAxis::K])?;
        let signs =
            SignHalf { axis, half: *u.choose(&[HalfPosition::First, HalfPosition::Second])?, outer, tag: 3 };
        let half = view(u, &if axis == HalfAxis::Outer { [k, n / 2] } else { [k / 2, n] })?;
        problem.sign_half(signs, &half).map_err(|_| Error::IncorrectFormat)?
    };
    Ok(Planned::of("product with a generated operand", &with_epilogue(u, problem)?, caps))
}

/// Adds an epilogue to a third of the products.
fn with_epilogue(u: &mut Unstructured<'_>, problem: GemmProblem) -> Result<GemmProblem> {
    let types = problem.types();
    // Sums of i32 are not scaled.
    if types.c == DType::I32 || !u.ratio(1, 3)? {
        return Ok(problem);
    }
    let added = if types.c == DType::I8 { Previous::Overwritten } else { Previous::Added };
    let epilogue = Epilogue {
        scale: *u.choose(&[Scale::One, Scale::Alpha])?,
        line_scale: if types.ab.is_real() { LineScale::None } else { *u.choose(&LineScale::ALL)? },
        previous: *u.choose(&[Previous::Overwritten, added])?,
        bias: if u.arbitrary()? { Some(real(u)?) } else { None },
        residual: if u.arbitrary()? { Some(types.c) } else { None },
        activation: *u.choose(&Activation::ALL)?,
    };
    Ok(limits::finished(problem, epilogue, *u.choose(&[1, 1, 7, 1 << 20])?))
}

/// Pins a kernel, a tile or a number of splits for some products.
fn with_pin(u: &mut Unstructured<'_>, problem: GemmProblem) -> Result<GemmProblem> {
    let problem = match u.int_in_range(0..=5)? {
        0 => problem.pinned(Pin::Kernel(*u.choose(&GemmKernel::ALL)?)),
        1 => {
            let kernel = *u.choose(&GemmKernel::ALL)?;
            problem.pinned(Pin::Tile(*u.choose(kernel.tiles())?))
        }
        _ => problem,
    };
    if u.ratio(1, 4)? {
        return Ok(problem.split_k(SplitK::Splits(*u.choose(&[0, 1, 2, 7, 1000, u32::MAX])?)));
    }
    Ok(problem)
}

/// The problem of an operation's row, of any size.
fn of_an_operation(u: &mut Unstructured<'_>, caps: &Caps) -> Result<Planned> {
    let (what, plan) = *u.choose(&PROBLEMS)?;
    let of = Of::large(extent(u)?, caps).of_type(*u.choose(&DType::ALL)?);
    checked(Planned { what, plan: plan(&if u.arbitrary()? { of.with_gaps() } else { of }) })
}

/// What is planned or refused by the device. Another error says that there is no such problem.
fn checked(planned: Planned) -> Result<Planned> {
    match planned.plan {
        Err(tilewise::Error::Input { .. } | tilewise::Error::Shape { .. }) => Err(Error::IncorrectFormat),
        _ => Ok(planned),
    }
}

/// Families of which some forms leave the view aside, or take a part of it.
const IN_PART: [&str; 9] = [
    "clifford",
    "cross-entropy",
    "elementwise of several types",
    "loss",
    "normal",
    "one-hot",
    "pad",
    "scatter",
    "versors",
];

/// A form of a family on a view.
fn on_a_view(u: &mut Unstructured<'_>, caps: &Caps) -> Result<Planned> {
    let row = *u.choose(&on_view::all().collect::<Vec<_>>())?;
    let (dtype, shape) = (*u.choose(row.1)?, shape(u)?);
    let (x, y) = (view(u, &shape)?, view(u, &shape)?);
    let mut on = On::new([x, y], dtype, caps, *u.choose(&[1, 1000, 1 << 20])?);
    let planned = checked(on.form(&row, u.arbitrary()?))?;
    if let Ok(plan) = &planned.plan
        && !IN_PART.contains(&row.0)
        && !x.is_empty()
    {
        let mut ends = (0..plan.parameters().len()).map(|at| limits::end_of(plan, Buffer::Operand(at)));
        assert!(ends.any(|end| end == limits::window_bytes(&x, dtype)), "{}, {x:?}: {plan}", row.0);
    }
    Ok(planned)
}

/// A shape of up to six axes: of multivectors, of an image, or of neither.
fn shape(u: &mut Unstructured<'_>) -> Result<Vec<usize>> {
    match u.int_in_range(0..=5)? {
        0 | 1 => return Ok(vec![*u.choose(&[4, 8, 16])?, extent(u)?, extent(u)?]),
        2 => return Ok(vec![extent(u)?, extent(u)?, u.int_in_range(1..=4)?]),
        _ => {}
    }
    (0..u.int_in_range(1..=6)?).map(|i| if i < 3 { extent(u) } else { u.int_in_range(1..=4) }).collect()
}

const ALGEBRAS: [Signature; 4] = [Signature::CL2, Signature::CL3, Signature::PGA2D, Signature::SPACETIME];

/// One of the problems of a fully connected layer: a product, its gates or its gradients.
fn connected(u: &mut Unstructured<'_>, caps: &Caps) -> Result<Planned> {
    let signature = *u.choose(&ALGEBRAS)?;
    let (rows, inputs, outputs, dtype) = (extent(u)?, extent(u)?, extent(u)?, real(u)?);
    let blades = signature.blades();
    let [x, y, g] = [inputs, inputs, outputs].map(|features| view(u, &[blades.len(), rows, features]));
    let (x, y, g) = (x?, y?, g?);
    let weight = view(u, &[signature.paths().len(), inputs, outputs])?;
    let gate = *u.choose(&Gate::ALL)?;
    let product = LayerProduct::new(signature).gate(gate);
    let wrong = |_| Error::IncorrectFormat;
    let problem = ConnectedProblem::new(product, &blades, [&x, &y], &weight, dtype).map_err(wrong)?;
    let (product, views) = match u.int_in_range(0..=4)? {
        0 => (problem.forward(), vec![(0, &x, dtype), (1, &weight, dtype), (3, &y, dtype)]),
        1 => (problem.weight_gradient(&g), vec![(0, &x, dtype), (1, &g, dtype), (3, &y, dtype)]),
        2 => (problem.path_gradients(&g), vec![(0, &g, dtype), (1, &weight, dtype)]),
        3 => {
            let Some(problem) = problem.gates().map_err(wrong)? else { return Err(Error::IncorrectFormat) };
            return Ok(Planned::of("gates", &problem, caps));
        }
        _ => {
            let problem = problem.operand_gradients([0, rows]).map_err(wrong)?;
            let views = [(3, &x, dtype), (4, &y, dtype)];
            return Ok(of_views(Planned::of("gradients", &problem, caps), &views));
        }
    };
    Ok(of_views(Planned::of("connected", &product.map_err(wrong)?, caps), &views))
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    crate::noise(256)
}
