//! Counts the floating-point operations of a shader's functions in naga's parse of it. Tests compare the declared counts of
//! library functions with this one.

use naga::{BinaryOperator, Expression, MathFunction, ScalarKind};

/// The floating-point operations of a function of a text, including those of the functions that it calls.
pub(crate) fn naga_flops(text: &str, name: &str) -> usize {
    let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|error| panic!("{error}"));
    let named = module.functions.iter().find(|(_, function)| function.name.as_deref() == Some(name));
    flops(&module, named.unwrap_or_else(|| panic!("the text has no function {name}")).1)
}

fn flops(module: &naga::Module, function: &naga::Function) -> usize {
    let mut typifier = naga::front::Typifier::new();
    let context =
        naga::proc::ResolveContext::with_locals(module, &function.local_variables, &function.arguments);
    let mut count = 0;
    for (handle, expression) in function.expressions.iter() {
        typifier.grow(handle, &function.expressions, &context).unwrap();
        let is_float = typifier.get(handle, &module.types).scalar_kind() == Some(ScalarKind::Float);
        count += match expression {
            Expression::CallResult(callee) => flops(module, &module.functions[*callee]),
            _ if !is_float => 0,
            Expression::Binary {
                op:
                    BinaryOperator::Add
                    | BinaryOperator::Subtract
                    | BinaryOperator::Multiply
                    | BinaryOperator::Divide,
                ..
            } => 1,
            Expression::Math { fun: MathFunction::Fma, .. } => 2,
            Expression::Math { .. } => 1,
            _ => 0,
        };
    }
    count
}
