//! A specialised shader, parsed: its functions, which of their expressions are of whole numbers, and its lines.

use super::value::Value;
use naga::proc::TypeResolution;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use naga::{AddressSpace, Function, Handle, Module, ScalarKind, Type, TypeInner};
use std::cell::RefCell;
use std::collections::HashMap;

pub(crate) struct Shader {
    pub(crate) name: &'static str,
    pub(crate) module: Module,
    pub(crate) text: String,
    /// Per function, the last is the entry point: the expressions that are not looked at, being floats.
    pub(crate) idle: Vec<Vec<bool>>,
    lines: Vec<usize>,
    /// Per function, whether what it returns depends on its arguments alone; and what it has returned.
    pure: Vec<bool>,
    returned: RefCell<HashMap<(usize, Vec<i64>), Value>>,
}

/// The comment on a line where what is left of a number that wraps is meant. A reason comes behind it.
pub(crate) const MEANT: &str = "// wraps: ";

impl Shader {
    pub(crate) fn new(name: &'static str, text: String) -> Self {
        let module = naga::front::wgsl::parse_str(&text)
            .unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(&text)));
        let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module);
        let info = info.unwrap_or_else(|e| panic!("{name}: {}", e.emit_to_string(&text)));
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let idle = idle(&module, &info);
        let pure = pure(&module);
        Self { name, module, text, idle, lines, pure, returned: RefCell::default() }
    }

    /// What a function is known by that was called with these arguments, if nothing else decides what it returns.
    pub(crate) fn call(&self, function: Handle<Function>, arguments: &[Value]) -> Option<(usize, Vec<i64>)> {
        let mut numbers = Vec::new();
        let known = arguments.iter().all(|argument| argument.numbers(&mut numbers));
        (known && self.pure[function.index()]).then_some((function.index(), numbers))
    }

    /// What it has returned before.
    pub(crate) fn returned(&self, call: &(usize, Vec<i64>)) -> Option<Value> {
        self.returned.borrow().get(call).cloned()
    }

    pub(crate) fn keep(&self, call: (usize, Vec<i64>), value: Value) {
        self.returned.borrow_mut().insert(call, value);
    }

    /// The lines that an expression is on.
    pub(crate) fn lines_of(&self, function: &Function, expression: Handle<naga::Expression>) -> Vec<&str> {
        let Some(range) = function.expressions.get_span(expression).to_range() else { return Vec::new() };
        let line_of = |at: usize| self.lines.partition_point(|&start| start <= at).saturating_sub(1);
        let end = line_of(range.end.saturating_sub(1).max(range.start));
        self.text
            .lines()
            .skip(line_of(range.start))
            .take(end + 1 - line_of(range.start))
            .map(str::trim)
            .collect()
    }

    /// The value that variables of a type begin with.
    pub(crate) fn zero(&self, ty: Handle<Type>) -> Value {
        match &self.module.types[ty].inner {
            TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => zero(*scalar),
            TypeInner::Vector { size, scalar } => {
                if scalar.kind == ScalarKind::Float {
                    return Value::Unknown;
                }
                Value::many((0..*size as usize).map(|_| zero(*scalar)))
            }
            TypeInner::Array { base, size: naga::ArraySize::Constant(n), .. } if self.has_whole(ty) => {
                Value::many((0..n.get()).map(|_| self.zero(*base)))
            }
            TypeInner::Struct { members, .. } if self.has_whole(ty) => {
                Value::many(members.iter().map(|member| self.zero(member.ty)))
            }
            _ => Value::Unknown,
        }
    }

    fn has_whole(&self, ty: Handle<Type>) -> bool {
        has_whole(&self.module, &self.module.types[ty].inner)
    }

    /// A value of a type as it lies in memory.
    pub(crate) fn read(&self, ty: Handle<Type>, bytes: &[u8]) -> Value {
        let scalar = |kind: ScalarKind, at: usize| {
            let word = u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
            match kind {
                ScalarKind::Uint => Value::U(word.into()),
                ScalarKind::Sint => Value::I(word.cast_signed().into()),
                _ => Value::Unknown,
            }
        };
        match &self.module.types[ty].inner {
            TypeInner::Scalar(of) => scalar(of.kind, 0),
            TypeInner::Vector { size, scalar: of } => {
                Value::many((0..*size as usize).map(|i| scalar(of.kind, 4 * i)))
            }
            TypeInner::Array { base, size: naga::ArraySize::Constant(n), stride } => {
                Value::many((0..n.get() as usize).map(|i| self.read(*base, &bytes[i * *stride as usize..])))
            }
            TypeInner::Struct { members, .. } => Value::many(
                members.iter().map(|member| self.read(member.ty, &bytes[member.offset as usize..])),
            ),
            _ => Value::Unknown,
        }
    }
}

fn zero(scalar: naga::Scalar) -> Value {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Uint, 4) => Value::U(0),
        (ScalarKind::Sint, 4) => Value::I(0),
        (ScalarKind::Bool, _) => Value::B(false),
        _ => Value::Unknown,
    }
}

/// Whether a type has a part that is a whole number or a truth value.
fn has_whole(module: &Module, inner: &TypeInner) -> bool {
    match inner {
        TypeInner::Scalar(scalar) | TypeInner::Vector { scalar, .. } | TypeInner::Atomic(scalar) => {
            scalar.kind != ScalarKind::Float
        }
        TypeInner::Array { base, .. } => has_whole(module, &module.types[*base].inner),
        TypeInner::Struct { members, .. } => {
            members.iter().any(|member| has_whole(module, &module.types[member.ty].inner))
        }
        _ => false,
    }
}

/// Floats, and pointers to floats in a function's own variables: nothing is to be found in them. Loads are looked at.
fn idle(module: &Module, info: &ModuleInfo) -> Vec<Vec<bool>> {
    let of = |function: &Function, types: &naga::valid::FunctionInfo| {
        let idle = |(handle, expression): (Handle<naga::Expression>, &naga::Expression)| {
            let inner = match &types[handle].ty {
                TypeResolution::Handle(ty) => &module.types[*ty].inner,
                TypeResolution::Value(inner) => inner,
            };
            match inner {
                TypeInner::Pointer { base, space: AddressSpace::Function } => {
                    !has_whole(module, &module.types[*base].inner)
                }
                TypeInner::ValuePointer { scalar, space: AddressSpace::Function, .. } => {
                    scalar.kind == ScalarKind::Float
                }
                TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. } => false,
                inner => {
                    let looked_at = matches!(
                        expression,
                        naga::Expression::Load { .. } | naga::Expression::CooperativeLoad { .. }
                    );
                    !looked_at && !has_whole(module, inner)
                }
            }
        };
        function.expressions.iter().map(idle).collect()
    };
    let entry = (&module.entry_points[0].function, info.get_entry_point(0));
    let functions = module.functions.iter().map(|(handle, function)| (function, &info[handle]));
    functions.chain([entry]).map(|(function, types)| of(function, types)).collect()
}

/// Functions that read and write nothing but their arguments and their own variables, nor call others that do.
fn pure(module: &Module) -> Vec<bool> {
    let mut pure = Vec::new();
    for (_, function) in module.functions.iter() {
        let of_module =
            |expression: &naga::Expression| matches!(expression, naga::Expression::GlobalVariable(_));
        let calls = |expression: &naga::Expression| match expression {
            naga::Expression::CallResult(called) => !pure.get(called.index()).copied().unwrap_or(false),
            _ => false,
        };
        let returns = function.result.is_some();
        pure.push(returns && !function.expressions.iter().any(|(_, e)| of_module(e) || calls(e)));
    }
    pure
}
