//! Evaluates expressions, and loads and stores: what wraps, and indices that nothing is at.

use super::launch::Operand;
use super::machine::{Machine, State};
use super::operators::{self, Found};
use super::shader::MEANT;
use super::value::{Place, Root, Value};
use naga::{AddressSpace, ArraySize, Expression, GlobalVariable, Handle, Literal, TypeInner};
use std::rc::Rc;

impl<'a> Machine<'a> {
    /// What an expression of the module is worth.
    pub(crate) fn constant(&mut self, handle: Handle<Expression>) -> Value {
        let shader = self.shader;
        match &shader.module.global_expressions[handle] {
            Expression::Literal(literal) => value_of(*literal),
            Expression::ZeroValue(ty) => shader.zero(*ty),
            Expression::Constant(constant) => self.constant(shader.module.constants[*constant].init),
            Expression::Compose { components, .. } => {
                Value::many(components.iter().map(|part| self.constant(*part)))
            }
            Expression::Splat { size, value } => {
                let value = self.constant(*value);
                Value::many((0..*size as usize).map(|_| value.clone()))
            }
            _ => Value::Unknown,
        }
    }

    /// What an expression of the running function was worth when it was evaluated.
    pub(crate) fn value(&mut self, state: &State<'a>, handle: Handle<Expression>) -> Value {
        let frame = state.top();
        match &frame.expressions[handle.index()] {
            Some(value) => value.clone(),
            None if frame.idle[handle.index()] => Value::Unknown,
            None => self.evaluate(state, handle),
        }
    }

    pub(crate) fn evaluate(&mut self, state: &State<'a>, handle: Handle<Expression>) -> Value {
        let shader = self.shader;
        let frame = state.top();
        match &frame.function.expressions[handle] {
            Expression::Literal(literal) => value_of(*literal),
            Expression::Constant(constant) => self.constant(shader.module.constants[*constant].init),
            Expression::ZeroValue(ty) => shader.zero(*ty),
            Expression::Compose { components, .. } => {
                let mut parts = Vec::new();
                for part in components {
                    match self.value(state, *part) {
                        // Vectors are made of shorter ones too.
                        Value::Many(values) if !self.is_aggregate(state, handle) => {
                            parts.extend(values.iter().cloned())
                        }
                        value => parts.push(value),
                    }
                }
                if parts.len() < components.len() { Value::Unknown } else { Value::many(parts) }
            }
            Expression::Splat { size, value } => {
                let value = self.value(state, *value);
                Value::many((0..*size as usize).map(|_| value.clone()))
            }
            Expression::Swizzle { size, vector, pattern } => {
                let vector = self.value(state, *vector);
                let part = |i: usize| vector.part(pattern[i] as usize).unwrap_or(Value::Unknown);
                Value::many((0..*size as usize).map(part))
            }
            Expression::Access { base, index } => {
                let (base, index) = (self.value(state, *base), self.value(state, *index));
                let index = match index {
                    Value::U(index) | Value::I(index) => Some(index),
                    _ => None,
                };
                self.access(state, handle, base, index)
            }
            Expression::AccessIndex { base, index } => {
                let base = self.value(state, *base);
                self.access(state, handle, base, Some((*index).into()))
            }
            Expression::FunctionArgument(index) => frame.arguments[*index as usize].clone(),
            Expression::GlobalVariable(global) => {
                Value::At(Place { root: Root::Global(*global), path: Vec::new() })
            }
            Expression::LocalVariable(local) => Value::At(Place {
                root: Root::Local(state.frames.len() - 1, local.index()),
                path: Vec::new(),
            }),
            Expression::Load { pointer } => self.load(state, *pointer),
            Expression::Unary { op, expr } => {
                let value = self.value(state, *expr);
                self.each(state, handle, &[value], &|parts| operators::unary(*op, &parts[0]))
            }
            Expression::Binary { op, left, right } => {
                let sides = [self.value(state, *left), self.value(state, *right)];
                self.each(state, handle, &sides, &|parts| operators::binary(*op, &parts[0], &parts[1]))
            }
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let arguments = [Some(*arg), *arg1, *arg2, *arg3].into_iter().flatten();
                let values: Vec<Value> = arguments.map(|argument| self.value(state, argument)).collect();
                self.each(state, handle, &values, &|parts| operators::math(*fun, parts))
            }
            Expression::As { expr, kind, convert } => {
                let value = self.value(state, *expr);
                self.each(state, handle, &[value], &|parts| operators::converted(&parts[0], *kind, *convert))
            }
            Expression::Select { condition, accept, reject } => {
                let condition = self.value(state, *condition);
                let (accept, reject) = (self.value(state, *accept), self.value(state, *reject));
                select(&condition, accept, reject)
            }
            Expression::Relational { fun, argument } => match (fun, self.value(state, *argument)) {
                (naga::RelationalFunction::All, Value::Many(parts)) => all(&parts, true),
                (naga::RelationalFunction::Any, Value::Many(parts)) => all(&parts, false),
                _ => Value::Unknown,
            },
            Expression::ArrayLength(pointer) => match self.value(state, *pointer) {
                Value::At(Place { root: Root::Global(global), .. }) => {
                    let length = self.length(global).unwrap_or(0);
                    Value::U(length)
                }
                _ => Value::Unknown,
            },
            Expression::CooperativeLoad { data, .. } => {
                self.matrix(state, data);
                Value::Unknown
            }
            _ => Value::Unknown,
        }
    }

    /// Whether an expression puts an array or a struct together, and no vector.
    fn is_aggregate(&self, state: &State<'a>, handle: Handle<Expression>) -> bool {
        let Expression::Compose { ty, .. } = state.top().function.expressions[handle] else { return false };
        !matches!(self.shader.module.types[ty].inner, TypeInner::Vector { .. })
    }

    /// An operator on each part of vectors, or on scalars.
    fn each(
        &mut self,
        state: &State<'a>,
        handle: Handle<Expression>,
        operands: &[Value],
        apply: &dyn Fn(&[Value]) -> Found,
    ) -> Value {
        let length = operands.iter().find_map(|operand| match operand {
            Value::Many(parts) => Some(parts.len()),
            _ => None,
        });
        let Some(length) = length else {
            if self.quiet == 0 {
                let unknown = operands.contains(&Value::Unknown);
                *(if unknown { &mut self.faults.unknown } else { &mut self.faults.known }) += 1;
            }
            return match apply(operands) {
                Found::Value(value) => value,
                Found::Fault(why) => {
                    self.report(state, Some(handle), || why);
                    Value::Unknown
                }
                Found::Wraps(value) => self.wrapped(state, handle, operands, value),
            };
        };
        let mut parts = Vec::with_capacity(length);
        for i in 0..length {
            let part = |operand: &Value| match operand {
                Value::Many(parts) => parts.get(i).cloned().unwrap_or(Value::Unknown),
                scalar => scalar.clone(),
            };
            let of_part: Vec<Value> = operands.iter().map(part).collect();
            parts.push(self.each(state, handle, &of_part, apply));
        }
        Value::many(parts)
    }

    /// What is left of a number that 32 bits do not hold, as the mark of the line says.
    fn wrapped(
        &mut self,
        state: &State<'a>,
        handle: Handle<Expression>,
        operands: &[Value],
        value: Value,
    ) -> Value {
        if self.quiet > 0 {
            return value;
        }
        let lines = self.shader.lines_of(state.top().function, handle);
        match lines.iter().find(|line| line.contains(MEANT)) {
            Some(line) => drop(self.faults.needed.insert((*line).to_owned())),
            None => {
                self.report(state, Some(handle), || format!("{value:?} of {operands:?} is not in 32 bits"));
            }
        }
        value.wrapped()
    }

    /// A part of a value, or of what a pointer points to.
    fn access(
        &mut self,
        state: &State<'a>,
        handle: Handle<Expression>,
        base: Value,
        index: Option<i64>,
    ) -> Value {
        match (base, index) {
            (Value::At(mut place), index) => {
                place.path.push(index);
                Value::At(place)
            }
            (Value::Many(parts), Some(index)) => {
                let part = usize::try_from(index).ok().and_then(|index| parts.get(index));
                if part.is_none() && !state.guarded {
                    self.report(state, Some(handle), || {
                        format!("there is no part {index} of {}", parts.len())
                    });
                }
                part.cloned().unwrap_or(Value::Unknown)
            }
            _ => Value::Unknown,
        }
    }

    /// The operand that a variable is: a kernel has no other.
    fn operand(&self, global: Handle<GlobalVariable>) -> Option<&'a Operand> {
        let variable = &self.shader.module.global_variables[global];
        let name = variable.name.as_deref().unwrap_or_default();
        let operand =
            self.launch.operand(variable.binding.as_ref().map_or(u32::MAX, |binding| binding.binding));
        assert!(operand.is_some(), "{}: what {name} is bound to", self.shader.name);
        operand
    }

    /// Elements of a variable that is an array, if it is one.
    fn length(&self, global: Handle<GlobalVariable>) -> Option<i64> {
        let variable = &self.shader.module.global_variables[global];
        let TypeInner::Array { size, stride, .. } = self.shader.module.types[variable.ty].inner else {
            return None;
        };
        match (size, variable.space) {
            (ArraySize::Constant(n), _) => Some(n.get().into()),
            _ => {
                let bytes = self.operand(global).map(|operand| operand.bytes / u64::from(stride))?;
                i64::try_from(bytes).ok()
            }
        }
    }

    /// Whether what a pointer points to is there, as far as that is known.
    fn check(&mut self, state: &State<'a>, handle: Handle<Expression>, place: &Place, further: i64) {
        let Place { root: Root::Global(global), path } = place else { return };
        self.touched |=
            !matches!(self.shader.module.global_variables[*global].space, AddressSpace::WorkGroup);
        let (Some(length), Some(Some(index))) = (self.length(*global), path.first()) else { return };
        let last = index + further;
        if last >= length && !state.guarded {
            let name = self.shader.module.global_variables[*global].name.clone().unwrap_or_default();
            self.report(state, Some(handle), || {
                format!("there is no element {last} of {name}, which has {length}")
            });
        }
    }

    /// A cooperative matrix's first element and the first of its last row or column are in memory.
    pub(crate) fn matrix(&mut self, state: &State<'a>, data: &naga::CooperativeData) {
        let (place, stride) = (self.value(state, data.pointer), self.value(state, data.stride));
        if let (Value::At(place), Value::U(stride)) = (place, stride) {
            // The least that there are: rows of 8.
            self.check(state, data.pointer, &place, 7 * stride);
        }
    }

    pub(crate) fn load(&mut self, state: &State<'a>, pointer: Handle<Expression>) -> Value {
        let Value::At(place) = self.value(state, pointer) else { return Value::Unknown };
        self.check(state, pointer, &place, 0);
        let variable = match place.root {
            Root::Local(frame, local) => state.frames[frame].locals[local].clone(),
            Root::Global(global) => match self.shader.module.global_variables[global].space {
                AddressSpace::Private => state.private[global.index()].clone(),
                AddressSpace::Uniform | AddressSpace::Immediate => self.dims.clone(),
                AddressSpace::Storage { .. } => return self.word(global, &place),
                _ => return Value::Unknown,
            },
        };
        place.path.iter().fold(variable, |value, &index| match value {
            Value::Unknown => Value::Unknown,
            value => self.access(state, pointer, value, index),
        })
    }

    /// A word of an operand whose contents are known.
    fn word(&self, global: Handle<GlobalVariable>, place: &Place) -> Value {
        let words = self.operand(global).and_then(|operand| operand.words.as_ref());
        let word = match (words, &place.path[..]) {
            (Some(words), [Some(index)]) => usize::try_from(*index).ok().and_then(|index| words.get(index)),
            _ => None,
        };
        word.map_or(Value::Unknown, |word| Value::U((*word).into()))
    }

    pub(crate) fn store(&mut self, state: &mut State<'a>, pointer: Handle<Expression>, stored: Value) {
        let Value::At(place) = self.value(state, pointer) else { return };
        self.check(state, pointer, &place, 0);
        let guarded = state.guarded;
        let variable = match place.root {
            Root::Local(frame, local) => &mut state.frames[frame].locals[local],
            Root::Global(global)
                if self.shader.module.global_variables[global].space == AddressSpace::Private =>
            {
                &mut state.private[global.index()]
            }
            Root::Global(_) => return,
        };
        let missing = put(variable, &place.path, stored);
        if missing && !guarded {
            self.report(state, Some(pointer), || format!("there is no part {:?}", place.path));
        }
    }

    /// Notes a fault of an expression, or of a loop.
    pub(crate) fn report(
        &mut self,
        state: &State<'a>,
        expression: Option<Handle<Expression>>,
        why: impl FnOnce() -> String,
    ) {
        if self.quiet > 0 {
            return;
        }
        let function = state.top().function;
        let lines = expression.map_or(Vec::new(), |expression| self.shader.lines_of(function, expression));
        let name = function.name.as_deref().unwrap_or("main");
        let (workgroup, lane, launch) = (self.workgroup, self.lane, self.launch);
        let line = lines.join(" ");
        self.faults.add([self.shader.name, name, &line], || {
            format!(
                "{}\n    invocation {lane} of workgroup {workgroup:?} of {:?}: {}",
                why(),
                launch.grid,
                launch.what
            )
        });
    }
}

/// Stores into a part of a variable; whether there is no such part.
fn put(variable: &mut Value, path: &[Option<i64>], stored: Value) -> bool {
    match (path, variable) {
        ([], variable) => *variable = stored,
        (_, Value::Unknown) => {}
        ([None, ..], variable) => *variable = Value::Unknown,
        ([Some(index), rest @ ..], Value::Many(parts)) => {
            let part = usize::try_from(*index).ok().and_then(|index| Rc::make_mut(parts).get_mut(index));
            return part.is_none_or(|part| put(part, rest, stored));
        }
        (_, variable) => *variable = Value::Unknown,
    }
    false
}

fn value_of(literal: Literal) -> Value {
    match literal {
        Literal::U32(n) => Value::U(n.into()),
        Literal::I32(n) => Value::I(n.into()),
        Literal::Bool(b) => Value::B(b),
        _ => Value::Unknown,
    }
}

fn select(condition: &Value, accept: Value, reject: Value) -> Value {
    match (condition, accept, reject) {
        (Value::B(true), accept, _) => accept,
        (Value::B(false), _, reject) => reject,
        (Value::Many(conditions), Value::Many(accept), Value::Many(reject)) => {
            let parts = conditions.iter().zip(accept.iter()).zip(reject.iter());
            Value::many(parts.map(|((condition, a), r)| select(condition, a.clone(), r.clone())))
        }
        (_, accept, reject) => accept.or(&reject),
    }
}

/// Whether all of these are true, or any.
fn all(parts: &[Value], all: bool) -> Value {
    if parts.contains(&Value::B(!all)) {
        return Value::B(!all);
    }
    if parts.contains(&Value::Unknown) { Value::Unknown } else { Value::B(all) }
}
