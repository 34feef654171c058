//! Loops: their first turns, one in the middle, the last, and how many there are.

use super::machine::{Machine, Outcome, State, either};
use super::value::Value;
use naga::{Block, Expression, Handle, Statement};

/// Turns that are run before any are passed over: what changes evenly has changed twice by then.
const FIRST: usize = 3;
/// Passed over are more turns than this.
const FEW: i64 = 3;
/// Turns of a loop whose end is not solved for, halving for one.
const MOST: usize = 600;
/// No loop of a shader has more turns.
const ENDLESS: i64 = 1 << 33;

impl<'a> Machine<'a> {
    /// Runs a loop. Where its head compares what steps evenly, or to and fro, the turns between the first three, one in
    /// the middle and the last are passed over. Where the condition is not known, it has two turns, the last with all
    /// that the others have changed unknown.
    pub(crate) fn turns(
        &mut self,
        state: State<'a>,
        body: &'a Block,
        continuing: &'a Block,
        break_if: Option<Handle<Expression>>,
    ) -> Outcome<'a> {
        let mut out = Outcome::default();
        let before = state.guarded;
        let mut now = Some(state);
        let mut starts: Vec<State<'a>> = Vec::new();
        let (mut open, mut passed) = (0, false);
        for turn in 0.. {
            let Some(mut state) = now.take() else { break };
            if turn > MOST {
                self.report(&state, None, || {
                    format!("a loop has more than {MOST} turns, and no step that is even")
                });
            }
            if open > 1 || turn > MOST {
                state.guarded = before;
                out.falls = either(out.falls, Some(state));
                break;
            }
            starts.push(state.clone());
            if let [.., first, second, _] = &starts[..] {
                let n = if turn < FIRST || passed {
                    None
                } else {
                    self.turns_left([first, second, &state], body)
                };
                match n {
                    Some(ENDLESS) => {
                        self.report(&state, None, || "the loop has no end".to_owned());
                        out.falls = either(out.falls, Some(state));
                        break;
                    }
                    Some(n) if n > FEW => {
                        passed = true;
                        let at = |n| ahead([first, second, &state], n);
                        let (middle, end) = (at(n / 2), at(n - 1));
                        self.turn(middle, body, continuing, break_if);
                        state = end;
                    }
                    _ => {}
                }
                starts.remove(0);
            }
            let mut turned = self.turn(state, body, continuing, break_if);
            now = turned.falls.take();
            if turned.breaks.is_some() && now.is_some() {
                open += 1;
            }
            if let (Some(next), Some(first), 1) = (&mut now, starts.last(), open) {
                let mut first = first.clone();
                for (value, before) in next.variables().zip(first.variables()) {
                    *value = std::mem::replace(value, Value::Unknown).or(before);
                }
            }
            // Behind the loop nothing hangs on when it was left.
            let left = turned.breaks.take().map(|state| State { guarded: before, ..state });
            out.falls = either(out.falls, left);
            out = out.and(turned);
        }
        out
    }

    /// One turn: it falls where the next begins, and breaks where the loop is left.
    fn turn(
        &mut self,
        state: State<'a>,
        body: &'a Block,
        continuing: &'a Block,
        break_if: Option<Handle<Expression>>,
    ) -> Outcome<'a> {
        let mut out = self.block(state, body);
        let next = either(out.falls.take(), out.continues.take());
        let Some(next) = next else { return out };
        let mut out = out.and(self.block(next, continuing));
        match (&out.falls, break_if) {
            (Some(state), Some(condition)) => {
                let condition = self.value(state, condition);
                let state = out.falls.take();
                if condition != Value::B(false) {
                    out.breaks = either(out.breaks, state.clone());
                }
                if condition != Value::B(true) {
                    out.falls = state;
                }
                out
            }
            _ => out,
        }
    }

    /// How many turns there are from the one on that starts with the last of these states, if its head says so.
    fn turns_left(&mut self, states: [&State<'a>; 3], body: &'a Block) -> Option<i64> {
        let breaks = |block: &Block| matches!(block.last(), Some(Statement::Break));
        let head = body.iter().position(
            |statement| matches!(statement, Statement::If { accept, reject, .. } if breaks(accept) || breaks(reject)),
        )?;
        self.quiet += 1;
        let mut ends = |n: i64| {
            let out = self.head(ahead(states, n), body, head);
            match (out.breaks.is_some(), out.falls.is_some()) {
                (true, true) => None,
                (ends, _) => Some(ends),
            }
        };
        let mut find = || {
            let (mut low, mut high) = (0, 1); // it does not end before `low`
            while !ends(high)? {
                (low, high) = (high, high * 2);
                if high > ENDLESS {
                    return Some(ENDLESS);
                }
            }
            while high - low > 1 {
                let middle = i64::midpoint(low, high);
                if ends(middle)? { high = middle } else { low = middle }
            }
            Some(high)
        };
        let found = find();
        self.quiet -= 1;
        found
    }

    fn head(&mut self, state: State<'a>, body: &'a Block, to: usize) -> Outcome<'a> {
        let mut all = Outcome::default();
        let mut now = Some(state);
        for i in 0..=to {
            let Some(state) = now.take() else { break };
            let mut out = self.one(state, body, i);
            now = out.falls.take();
            all = all.and(out);
        }
        all.falls = now;
        all
    }
}

/// The state `n` turns behind the last of three that follow one another.
fn ahead<'a>([before, last, now]: [&State<'a>; 3], n: i64) -> State<'a> {
    let mut state = now.clone();
    let (mut before, mut last) = (before.clone(), last.clone());
    for ((value, last), before) in state.variables().zip(last.variables()).zip(before.variables()) {
        *value = Value::behind([before, last, &value.clone()], n);
    }
    state
}
