//! Counts the floating-point operations of expressions and statements, for one lane.

use super::expression::{Expression, NumberKind, Operator, Sum};
use super::statement::{Block, Statement};
use std::collections::BTreeSet;

impl Expression {
    /// The floating-point operations of the expression.
    ///
    /// A multiplication, a division and an addition count as one each, and a multiply-add as two. A call counts as its
    /// [`Callee`](super::Callee) declares. Signs, comparisons, selections and integer arithmetic do not count.
    pub(crate) fn flops(&self) -> usize {
        if self.kind() == NumberKind::Index {
            return 0;
        }
        match self {
            Self::Name(..) | Self::Float(_) | Self::Index(_) => 0,
            Self::Negative(of) | Self::Member(of, _) | Self::Dereference(of) => of.flops(),
            Self::Element(of) => of[0].flops(),
            Self::Sum(sum) => sum.flops(),
            Self::Binary(operator, operands) => {
                let own = usize::from(matches!(operator, Operator::Multiply | Operator::Divide));
                own + operands.iter().map(Self::flops).sum::<usize>()
            }
            Self::Call(callee, arguments) => callee.flops + arguments.iter().map(Self::flops).sum::<usize>(),
        }
    }

    /// Adds the files of the imported functions that the expression calls.
    fn files(&self, found: &mut BTreeSet<&'static str>) {
        match self {
            Self::Name(..) | Self::Float(_) | Self::Index(_) => {}
            Self::Negative(of) | Self::Member(of, _) | Self::Dereference(of) => of.files(found),
            Self::Sum(sum) => sum.0.iter().for_each(|(_, term)| term.files(found)),
            Self::Binary(_, of) | Self::Element(of) => of.iter().for_each(|of| of.files(found)),
            Self::Call(callee, arguments) => {
                found.extend(callee.file);
                arguments.iter().for_each(|argument| argument.files(found));
            }
        }
    }
}

impl Sum {
    /// The floating-point operations of the sum.
    ///
    /// A sum of n products counts as n multiply-adds, as is usual in linear algebra, although the first product is not
    /// added to anything. Terms that are not products count as one addition each, except the first.
    fn flops(&self) -> usize {
        let products = self.0.iter().filter(|(_, term)| term.is_product()).count();
        let terms: usize = self.0.iter().map(|(_, term)| term.flops()).sum();
        terms + products.max(self.0.len().saturating_sub(1))
    }
}

impl Expression {
    fn is_product(&self) -> bool {
        matches!(self, Self::Binary(Operator::Multiply, _))
    }
}

impl Block {
    /// The floating-point operations of all statements, including those of branches.
    pub(crate) fn flops(&self) -> usize {
        self.0.iter().map(Statement::flops).sum()
    }

    /// Adds the files of the imported functions that the statements call.
    pub(super) fn files(&self, found: &mut BTreeSet<&'static str>) {
        self.0.iter().for_each(|statement| statement.files(found));
    }
}

impl Statement {
    fn flops(&self) -> usize {
        match self {
            Self::Comment(_) | Self::Zero(..) => 0,
            Self::Let(_, value)
            | Self::Var(_, value)
            | Self::Assign(_, value)
            | Self::Call(value)
            | Self::Return(value) => value.flops(),
            Self::Change(what, _, by) => by.flops() + usize::from(what.kind() == NumberKind::Float),
            Self::If(condition, then) => condition.flops() + then.flops(),
            Self::Remarked(of, _) => of.flops(),
        }
    }

    fn files(&self, found: &mut BTreeSet<&'static str>) {
        match self {
            Self::Comment(_) | Self::Zero(..) => {}
            Self::Let(_, value) | Self::Var(_, value) | Self::Call(value) | Self::Return(value) => {
                value.files(found);
            }
            Self::Assign(to, value) | Self::Change(to, _, value) => {
                to.files(found);
                value.files(found);
            }
            Self::If(condition, then) => {
                condition.files(found);
                then.files(found);
            }
            Self::Remarked(of, _) => of.files(found),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::wgsl::{ABS, Block, Callee, Expression, SQRT, Sum, fma, index, name, number, select};

    #[test]
    fn floating_point_operations_are_counted() {
        let [a, b, c] = ["a", "b", "c"].map(name);
        let at = || index("at").member("x") + Expression::from(3u32) * index("step").member("x");
        for (expression, want) in [
            (a.clone(), 0),
            (-&a, 0),
            (&a * &b, 1),
            (&a * &b + &c, 2),
            (&c + &a * &b, 2),
            (fma(a.clone(), b.clone(), c.clone()), 2),
            (&a + &b - &c, 2),
            (&a / &b / &c, 2),
            (number(2.0) * (&a * &b - &b * &c), 5),
            (SQRT.call([ABS.call([&a * &b])]), 3),
            (select(&a + &b, c.clone(), a.clone().below(&b * &c)), 2),
            (Callee::without_flops("load_x").call([at()]), 0),
            (Callee::new("sine_of", 34).call([&a * &b]).member("sine"), 35),
            (at(), 0),
        ] {
            assert_eq!(expression.flops(), want, "{expression}");
        }
    }

    #[test]
    fn a_sum_of_products_counts_as_multiply_adds() {
        for n in 1..5_usize {
            let mut sum = Sum::default();
            for i in 0..n {
                sum.push(if i % 2 == 0 { -1 } else { 1 }, name(format!("x{i}")) * name("y"));
            }
            sum.push(0, name("z") * name("z"));
            assert_eq!(sum.or(number(0.0)).flops(), 2 * n);
        }
        assert_eq!(Sum::default().or(number(0.0)), number(0.0));
        assert_eq!(Sum::of(["a", "b", "c"].map(name)).or(number(0.0)).flops(), 2);
    }

    #[test]
    fn statements_count_what_they_compute() {
        let mut inner = Block::default();
        inner.increase(name("sum"), name("a") * name("b"));
        let mut block = Block::default();
        let i = block.define("i", index("first") + 1u32);
        block.increase(index("n"), 1u32);
        block.branch(i.below(index("end")), inner.clone());
        block.branch(name("is_mine"), inner);
        block.assign(name("v"), name("a") / name("b"));
        assert_eq!(block.flops(), 5);
        let total = || name("total").dereference().element(0u32);
        block.zero("state", "State");
        block.decrease(total(), name("a") * name("b"));
        block.remark("of b");
        block.returns(total() / name("a"));
        assert_eq!(block.flops(), 8);
    }
}
