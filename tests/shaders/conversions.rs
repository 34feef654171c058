//! No kernel rounds by converting there and back: compilers remove such pairs (Mesa's do, for lavapipe, AMD and NVIDIA), and
//! what is left has all its digits. Nor does any pack halves by the built-in, which truncates on GPUs of AMD and NVIDIA, unless they
//! are f16 already. `shaders/common/rounded.wgsl` does both on bits.

use naga::{Expression, Function, Handle, MathFunction, Module, ScalarKind, Statement};
use support::wgsl;

/// Bytes of an f16.
const HALF: u8 = 2;

/// What a module converts to f16 and back, or packs by the built-in, by the names of functions. Those of `may_pack` may pack.
pub(crate) fn rounding_by_conversion(module: &Module, may_pack: &[&str]) -> Vec<String> {
    let functions = module.functions.iter().map(|(_, function)| function);
    let all = functions.chain(module.entry_points.iter().map(|entry| &entry.function));
    let found = all.flat_map(|function| {
        let is_such = |(_, of): &(Handle<Expression>, &Expression)| match **of {
            Expression::As { expr, kind: ScalarKind::Float, convert: Some(bytes) } if bytes > HALF => {
                is_narrowed(module, function, expr)
            }
            Expression::Math { fun: MathFunction::Unpack2x16float, arg, .. } => is_packed(function, arg),
            Expression::Math { fun: MathFunction::Pack2x16float, .. } => {
                !may_pack.contains(&name_of(function))
            }
            _ => false,
        };
        let name = name_of(function);
        function.expressions.iter().filter(is_such).map(move |(_, of)| format!("{name}: {of:?}"))
    });
    found.collect()
}

fn name_of(function: &Function) -> &str {
    function.name.as_deref().unwrap_or("main")
}

/// Whether a value, or a part of it, was converted to f16: where it stands, in a variable before, or in a function that was called.
fn is_narrowed(module: &Module, function: &Function, of: Handle<Expression>) -> bool {
    let inner = |of| is_narrowed(module, function, of);
    match function.expressions[of] {
        Expression::As { kind: ScalarKind::Float, convert: Some(HALF), .. } => true,
        Expression::Compose { ref components, .. } => components.iter().any(|part| inner(*part)),
        Expression::Splat { value: of, .. }
        | Expression::Swizzle { vector: of, .. }
        | Expression::AccessIndex { base: of, .. }
        | Expression::Access { base: of, .. }
        | Expression::Unary { expr: of, .. } => inner(of),
        Expression::Select { accept, reject, .. } => inner(accept) || inner(reject),
        Expression::Load { pointer } => {
            let Some(variable) = variable_of(function, pointer) else { return false };
            stored(&function.body).into_iter().any(|(to, value)| {
                // What a variable is set to from itself adds nothing.
                variable_of(function, to) == Some(variable)
                    && !reads(function, value, variable)
                    && inner(value)
            })
        }
        Expression::CallResult(called) => {
            let called = &module.functions[called];
            returned(&called.body).into_iter().any(|value| is_narrowed(module, called, value))
        }
        _ => false,
    }
}

fn is_packed(function: &Function, of: Handle<Expression>) -> bool {
    matches!(function.expressions[of], Expression::Math { fun: MathFunction::Pack2x16float, .. })
}

/// The local variable that a pointer is to, or to a part of.
fn variable_of(function: &Function, pointer: Handle<Expression>) -> Option<Handle<naga::LocalVariable>> {
    match function.expressions[pointer] {
        Expression::LocalVariable(variable) => Some(variable),
        Expression::AccessIndex { base, .. } | Expression::Access { base, .. } => variable_of(function, base),
        _ => None,
    }
}

/// Whether a value is a variable's own, or a part of it.
fn reads(function: &Function, value: Handle<Expression>, variable: Handle<naga::LocalVariable>) -> bool {
    match function.expressions[value] {
        Expression::Load { pointer } => variable_of(function, pointer) == Some(variable),
        Expression::Compose { ref components, .. } => {
            components.iter().any(|part| reads(function, *part, variable))
        }
        Expression::Splat { value: of, .. }
        | Expression::Swizzle { vector: of, .. }
        | Expression::AccessIndex { base: of, .. }
        | Expression::Access { base: of, .. }
        | Expression::Unary { expr: of, .. } => reads(function, of, variable),
        _ => false,
    }
}

/// All stores of a block and the blocks in it: to what, and which value.
fn stored(block: &naga::Block) -> Vec<(Handle<Expression>, Handle<Expression>)> {
    let mut found = Vec::new();
    each(block, &mut |statement| {
        if let Statement::Store { pointer, value } = *statement {
            found.push((pointer, value));
        }
    });
    found
}

/// What a function returns.
fn returned(block: &naga::Block) -> Vec<Handle<Expression>> {
    let mut found = Vec::new();
    each(block, &mut |statement| {
        if let Statement::Return { value: Some(value) } = *statement {
            found.push(value);
        }
    });
    found
}

fn each(block: &naga::Block, of: &mut impl FnMut(&Statement)) {
    for statement in block.iter() {
        of(statement);
        match statement {
            Statement::Block(inner) => each(inner, of),
            Statement::If { accept, reject, .. } => {
                [accept, reject].into_iter().for_each(|inner| each(inner, of))
            }
            Statement::Loop { body, continuing, .. } => {
                [body, continuing].into_iter().for_each(|inner| each(inner, of));
            }
            Statement::Switch { cases, .. } => cases.iter().for_each(|case| each(&case.body, of)),
            _ => {}
        }
    }
}

#[test]
fn the_check_for_conversions_there_and_back_finds_them() {
    let found = |body: &str| {
        let text = format!(
            "enable f16;\n@group(0) @binding(0) var<storage, read_write> o: array<f32>;\n\
             @group(0) @binding(1) var<storage, read_write> h: array<f16>;\n\
             fn half(x: f32) -> f16 {{ return f16(x); }}\n\
             @compute @workgroup_size(1) fn main() {{ let x = o[1]; {body} }}"
        );
        let module = wgsl::validate(&text, naga::valid::Capabilities::all()).unwrap();
        rounding_by_conversion(&module, &[]).len()
    };
    for bad in [
        "o[0] = f32(f16(x));",
        "o[0] = vec4<f32>(vec4<f16>(vec4<f32>(x))).y;",
        "let y = f16(x); o[0] = f32(y);",
        "let y = vec2<f16>(f16(x), h[0]); o[0] = vec2<f32>(y).x;",
        "var y = h[0]; if x > 0.0 { y = f16(x); } o[0] = f32(y);",
        "o[0] = f32(half(x));",
        "o[0] = f32(-f16(x));",
        "o[0] = bitcast<f32>(pack2x16float(vec2<f32>(x)));",
    ] {
        assert_eq!(found(bad), 1, "{bad}");
    }
    assert_eq!(found("o[0] = unpack2x16float(pack2x16float(vec2<f32>(x))).x;"), 2);
    for good in [
        "h[0] = f16(x); o[0] = f32(h[1]);",
        "o[0] = f32(h[0] + h[1]);",
        "let y = f32(h[0]); h[1] = f16(y);",
        "var y = h[0]; y = y; o[0] = f32(y);",
        "o[0] = unpack2x16float(bitcast<u32>(x)).x;",
    ] {
        assert_eq!(found(good), 0, "{good}");
    }
}
