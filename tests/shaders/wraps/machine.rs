//! Runs one invocation of a shader: statements, and branches on what is not known, which are both taken.

use super::faults::Faults;
use super::launch::Launch;
use super::shader::Shader;
use super::value::Value;
use naga::{Block, BuiltIn, Expression, Function, Handle, Statement};

/// One invocation of a launch.
pub(crate) struct Machine<'a> {
    pub(crate) shader: &'a Shader,
    pub(crate) launch: &'a Launch,
    pub(crate) faults: &'a mut Faults,
    pub(crate) dims: Value,
    /// The workgroup and the invocation in it.
    pub(crate) workgroup: [u32; 3],
    pub(crate) lane: u32,
    /// Above 0, nothing is reported: the end of a loop is looked for.
    pub(crate) quiet: u32,
    /// Whether it has loaded or stored anything in device memory.
    pub(crate) touched: bool,
}

/// What changes as a shader runs.
#[derive(Clone)]
pub(crate) struct State<'a> {
    pub(crate) frames: Vec<Frame<'a>>,
    /// The variables of the module, by index.
    pub(crate) private: Vec<Value>,
    /// Whether it is by a condition that is not known that the shader has come here.
    pub(crate) guarded: bool,
}

/// A function that was called.
#[derive(Clone)]
pub(crate) struct Frame<'a> {
    pub(crate) function: &'a Function,
    pub(crate) idle: &'a [bool],
    pub(crate) arguments: Vec<Value>,
    pub(crate) expressions: Vec<Option<Value>>,
    pub(crate) locals: Vec<Value>,
}

/// Where a block may go on: several ways, where conditions are not known.
#[derive(Default)]
pub(crate) struct Outcome<'a> {
    pub(crate) falls: Option<State<'a>>,
    pub(crate) breaks: Option<State<'a>>,
    pub(crate) continues: Option<State<'a>>,
    pub(crate) returns: Option<(State<'a>, Value)>,
}

impl<'a> State<'a> {
    pub(crate) fn top(&self) -> &Frame<'a> {
        self.frames.last().expect("a function runs")
    }

    fn top_mut(&mut self) -> &mut Frame<'a> {
        self.frames.last_mut().expect("a function runs")
    }

    /// Every variable.
    pub(crate) fn variables(&mut self) -> impl Iterator<Item = &mut Value> {
        self.frames.iter_mut().flat_map(|frame| &mut frame.locals).chain(&mut self.private)
    }

    pub(crate) fn or(mut self, mut other: Self) -> Self {
        self.guarded |= other.guarded;
        for (mine, theirs) in self.variables().zip(other.variables()) {
            *mine = std::mem::replace(mine, Value::Unknown).or(theirs);
        }
        self
    }
}

pub(crate) fn either<'a>(a: Option<State<'a>>, b: Option<State<'a>>) -> Option<State<'a>> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.or(b)),
        (a, b) => a.or(b),
    }
}

impl<'a> Outcome<'a> {
    pub(crate) fn falling(state: State<'a>) -> Self {
        Self { falls: Some(state), ..Self::default() }
    }

    /// Also goes where `other` goes.
    pub(crate) fn and(self, other: Self) -> Self {
        Self {
            falls: either(self.falls, other.falls),
            breaks: either(self.breaks, other.breaks),
            continues: either(self.continues, other.continues),
            returns: match (self.returns, other.returns) {
                (Some((a, x)), Some((b, y))) => Some((a.or(b), x.or(&y))),
                (a, b) => a.or(b),
            },
        }
    }
}

impl<'a> Machine<'a> {
    /// Runs the invocation from `main` to its end.
    pub(crate) fn run(&mut self) {
        let shader = self.shader;
        let globals = shader.module.global_variables.iter();
        let private = globals.map(|(_, global)| match (global.space, global.init) {
            (naga::AddressSpace::Private, None) => shader.zero(global.ty),
            (naga::AddressSpace::Private, Some(init)) => self.constant(init),
            _ => Value::Unknown,
        });
        let state = State { private: private.collect(), frames: Vec::new(), guarded: false };
        let main = &shader.module.entry_points[0].function;
        let arguments = main.arguments.iter().map(|of| self.argument(of.ty, of.binding.as_ref())).collect();
        let idle = shader.idle.last().expect("there is a main");
        self.call(state, main, idle, arguments);
    }

    /// A built-in, or several in a struct.
    fn argument(&self, ty: naga::Handle<naga::Type>, binding: Option<&naga::Binding>) -> Value {
        match &self.shader.module.types[ty].inner {
            naga::TypeInner::Struct { members, .. } => {
                Value::many(members.iter().map(|member| self.argument(member.ty, member.binding.as_ref())))
            }
            _ => self.built_in(binding),
        }
    }

    fn built_in(&self, binding: Option<&naga::Binding>) -> Value {
        let Some(naga::Binding::BuiltIn(built_in)) = binding else { return Value::Unknown };
        let one = |n: u32| Value::U(n.into());
        let three = |of: [u32; 3]| Value::many(of.map(|n| Value::U(n.into())));
        let subgroup = self.launch.subgroup;
        match built_in {
            BuiltIn::WorkGroupId => three(self.workgroup),
            BuiltIn::NumWorkGroups => three(self.launch.grid),
            BuiltIn::LocalInvocationIndex => one(self.lane),
            BuiltIn::LocalInvocationId => three([self.lane, 0, 0]),
            BuiltIn::SubgroupId => one(self.lane / subgroup),
            BuiltIn::SubgroupInvocationId => one(self.lane % subgroup),
            BuiltIn::SubgroupSize => one(subgroup),
            _ => Value::Unknown,
        }
    }

    /// Calls a function: the state behind it, and what it returns.
    fn call(
        &mut self,
        mut state: State<'a>,
        function: &'a Function,
        idle: &'a [bool],
        arguments: Vec<Value>,
    ) -> Option<(State<'a>, Value)> {
        let expressions = vec![None; function.expressions.len()];
        let locals = function.local_variables.iter().map(|(_, local)| self.shader.zero(local.ty)).collect();
        state.frames.push(Frame { function, idle, arguments, expressions, locals });
        for (handle, local) in function.local_variables.iter() {
            if let Some(init) = local.init {
                let value = self.value(&state, init);
                state.top_mut().locals[handle.index()] = value;
            }
        }
        let out = self.block(state, &function.body);
        let fallen = out.falls.map(|state| (state, Value::Unknown));
        let mut both = Outcome { returns: out.returns, ..Outcome::default() }
            .and(Outcome { returns: fallen, ..Outcome::default() })
            .returns?;
        both.0.frames.pop();
        Some(both)
    }

    pub(crate) fn block(&mut self, state: State<'a>, block: &'a Block) -> Outcome<'a> {
        let mut all = Outcome::default();
        let mut now = Some(state);
        for statement in block.iter() {
            let Some(state) = now.take() else { break };
            let mut out = self.statement(state, statement);
            now = out.falls.take();
            all = all.and(out);
        }
        all.falls = now;
        all
    }

    /// One statement of a block.
    pub(crate) fn one(&mut self, state: State<'a>, block: &'a Block, at: usize) -> Outcome<'a> {
        self.statement(state, &block[at])
    }

    fn statement(&mut self, mut state: State<'a>, statement: &'a Statement) -> Outcome<'a> {
        match statement {
            Statement::Emit(range) => {
                for handle in range.clone() {
                    if !state.top().idle[handle.index()] {
                        let value = self.evaluate(&state, handle);
                        state.top_mut().expressions[handle.index()] = Some(value);
                    }
                }
            }
            Statement::Block(block) => return self.block(state, block),
            Statement::If { condition, accept, reject } => {
                return match self.value(&state, *condition) {
                    Value::B(true) => self.block(state, accept),
                    Value::B(false) => self.block(state, reject),
                    _ => self.both(state, &[accept, reject]),
                };
            }
            Statement::Switch { cases, .. } => {
                let blocks: Vec<&Block> = cases.iter().map(|case| &case.body).collect();
                let mut out = self.both(state, &blocks);
                out.falls = either(out.falls, out.breaks.take());
                return out;
            }
            Statement::Loop { body, continuing, break_if } => {
                return self.turns(state, body, continuing, *break_if);
            }
            Statement::Break => return Outcome { breaks: Some(state), ..Outcome::default() },
            Statement::Continue => return Outcome { continues: Some(state), ..Outcome::default() },
            Statement::Return { value } => {
                let value = value.map_or(Value::Unknown, |value| self.value(&state, value));
                return Outcome { returns: Some((state, value)), ..Outcome::default() };
            }
            Statement::Store { pointer, value } => {
                let stored = self.value(&state, *value);
                self.store(&mut state, *pointer, stored);
            }
            Statement::Atomic { pointer, result, .. } => {
                let _ = self.load(&state, *pointer);
                self.forget(&mut state, *result);
            }
            Statement::Call { function, arguments, result } => {
                let values: Vec<Value> =
                    arguments.iter().map(|argument| self.value(&state, *argument)).collect();
                let (called, idle) =
                    (&self.shader.module.functions[*function], &self.shader.idle[function.index()]);
                let known = self.shader.call(*function, &values);
                if let (Some(value), Some(result)) =
                    (known.as_ref().and_then(|call| self.shader.returned(call)), result)
                {
                    state.top_mut().expressions[result.index()] = Some(value);
                    return Outcome::falling(state);
                }
                let Some((behind, value)) = self.call(state, called, idle, values) else {
                    return Outcome::default();
                };
                if let Some(call) = known.filter(|_| self.quiet == 0) {
                    self.shader.keep(call, value.clone());
                }
                state = behind;
                if let Some(result) = result {
                    state.top_mut().expressions[result.index()] = Some(value);
                }
            }
            Statement::WorkGroupUniformLoad { result, .. }
            | Statement::SubgroupBallot { result, .. }
            | Statement::SubgroupGather { result, .. }
            | Statement::SubgroupCollectiveOperation { result, .. } => self.forget(&mut state, Some(*result)),
            Statement::CooperativeStore { data, .. } => self.matrix(&state, data),
            Statement::ControlBarrier(_) | Statement::MemoryBarrier(_) => {}
            other => panic!("{}: no rule for {other:?}", self.shader.name),
        }
        Outcome::falling(state)
    }

    fn forget(&self, state: &mut State<'a>, result: Option<Handle<Expression>>) {
        if let Some(result) = result {
            state.top_mut().expressions[result.index()] = Some(Value::Unknown);
        }
    }

    /// Every one of these blocks, by a condition that is not known.
    fn both(&mut self, state: State<'a>, blocks: &[&'a Block]) -> Outcome<'a> {
        let before = state.guarded;
        let mut all = Outcome::default();
        let mut ways = 0;
        for block in blocks {
            let out = self.block(State { guarded: true, ..state.clone() }, block);
            ways += usize::from(out.falls.is_some());
            all = all.and(out);
        }
        // What all of them come to depends on the condition no more.
        if let Some(state) = all.falls.as_mut().filter(|_| ways == blocks.len()) {
            state.guarded = before;
        }
        all
    }
}
