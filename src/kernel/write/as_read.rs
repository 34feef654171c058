//! Operations of functions of shaders, as naga reads them: what calls are said to do is held to it.

use naga::{BinaryOperator, Expression, MathFunction, ScalarKind};

/// Operations on floats that a function of a text is written to do, with those of what it calls.
pub(crate) fn flops_as_read(text: &str, name: &str) -> usize {
    let module = naga::front::wgsl::parse_str(text).unwrap_or_else(|error| panic!("{error}"));
    let named = module.functions.iter().find(|(_, function)| function.name.as_deref() == Some(name));
    flops(&module, named.unwrap_or_else(|| panic!("there is no {name}")).1)
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
