//! Values as text. Parentheses stand where the grammar of WGSL would read another order, or none.

use super::expression::{Expression, Operator, Sign, Sum};
use super::statement::{Block, Definition, Statement};
use std::collections::BTreeSet;
use std::fmt;

/// How close operators bind, the loosest first: what stands beside an operator binds at least as close as it asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Bond {
    /// `&` and `&&`: neither has an order with the other.
    Logic,
    Comparison,
    Sum,
    Product,
    Sign,
    Whole,
}

impl Operator {
    fn text(self) -> &'static str {
        match self {
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::Each => "&",
            Self::Both => "&&",
        }
    }

    fn bond(self) -> Bond {
        match self {
            Self::Multiply | Self::Divide => Bond::Product,
            Self::Each | Self::Both => Bond::Logic,
            _ => Bond::Comparison,
        }
    }

    /// What operands bind at least, the left and the right.
    fn bonds_of_operands(self) -> [Bond; 2] {
        match self {
            // From left to right.
            Self::Multiply | Self::Divide => [Bond::Product, Bond::Sign],
            Self::Each => [Bond::Sign; 2],
            Self::Both => [Bond::Comparison; 2],
            _ => [Bond::Sum; 2],
        }
    }
}

impl Expression {
    fn bond(&self) -> Bond {
        match self {
            Self::Float(value) if value.is_sign_negative() => Bond::Sign,
            Self::Negative(_) => Bond::Sign,
            Self::Sum(sum) => sum.bond(),
            Self::Binary(operator, _) => operator.bond(),
            _ => Bond::Whole,
        }
    }

    /// Prints it as an operand of what asks for such a bond.
    fn operand(&self, f: &mut fmt::Formatter<'_>, least: Bond) -> fmt::Result {
        if self.bond() >= least { write!(f, "{self}") } else { write!(f, "({self})") }
    }

    /// As the left operand: a chain of one of the logical operators goes on.
    fn left(&self, f: &mut fmt::Formatter<'_>, operator: Operator) -> fmt::Result {
        match self {
            Self::Binary(own, _) if *own == operator && own.bond() == Bond::Logic => write!(f, "{self}"),
            _ => self.operand(f, operator.bonds_of_operands()[0]),
        }
    }

    /// As an argument. `f(a < b, c > d)` would be read as a template `a` of `b` and `c`.
    fn argument(&self, f: &mut fmt::Formatter<'_>, is_last: bool) -> fmt::Result {
        let may_open = matches!(self, Self::Binary(Operator::Less | Operator::LessOrEqual, _));
        if may_open && !is_last { write!(f, "({self})") } else { write!(f, "{self}") }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name, _) => f.write_str(name),
            // The shortest digits that are this number and no other, with a point or an exponent.
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Index(value) => write!(f, "{value}u"),
            Self::Negative(of) => {
                // NOTE: `--` is a word of its own.
                f.write_str("-")?;
                of.operand(f, Bond::Whole)
            }
            Self::Sum(sum) => write!(f, "{sum}"),
            Self::Binary(operator, operands) => {
                operands[0].left(f, *operator)?;
                write!(f, " {} ", operator.text())?;
                operands[1].operand(f, operator.bonds_of_operands()[1])
            }
            Self::Call(callee, arguments) => {
                write!(f, "{}(", callee.name)?;
                for (i, argument) in arguments.iter().enumerate() {
                    f.write_str(if i == 0 { "" } else { ", " })?;
                    argument.argument(f, i + 1 == arguments.len())?;
                }
                f.write_str(")")
            }
            Self::Member(of, member) => {
                of.operand(f, Bond::Whole)?;
                write!(f, ".{member}")
            }
            Self::Element(of) => {
                of[0].operand(f, Bond::Whole)?;
                write!(f, "[{}]", of[1])
            }
        }
    }
}

impl Sum {
    fn bond(&self) -> Bond {
        match &self.0[..] {
            [(Sign::Plus, term)] => term.bond(),
            [(Sign::Minus, _)] => Bond::Sign,
            _ => Bond::Sum,
        }
    }
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (sign, term)) in self.0.iter().enumerate() {
            match (i, sign) {
                (0, Sign::Plus) if self.0.len() == 1 => write!(f, "{term}")?,
                (0, Sign::Plus) => term.operand(f, Bond::Sum)?,
                (0, Sign::Minus) => {
                    f.write_str("-")?;
                    term.operand(f, Bond::Whole)?;
                }
                (_, sign) => {
                    f.write_str(if *sign == Sign::Plus { " + " } else { " - " })?;
                    term.operand(f, Bond::Product)?;
                }
            }
        }
        Ok(())
    }
}

impl Block {
    fn print(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        let indent = "    ".repeat(depth);
        for statement in &self.0 {
            f.write_str(&indent)?;
            match statement {
                Statement::Comment(text) => writeln!(f, "// {text}")?,
                Statement::Let(name, value) => writeln!(f, "let {name} = {value};")?,
                Statement::Var(name, value) => writeln!(f, "var {name} = {value};")?,
                Statement::Assign(to, value) => writeln!(f, "{to} = {value};")?,
                Statement::Increase(what, by) => writeln!(f, "{what} += {by};")?,
                Statement::Call(call) => writeln!(f, "{call};")?,
                Statement::If(condition, then) => {
                    writeln!(f, "if {condition} {{")?;
                    then.print(f, depth + 1)?;
                    writeln!(f, "{indent}}}")?;
                }
                Statement::For(i, [first, end], body) => {
                    writeln!(f, "for (var {i} = {first}; {i} < {end}; {i}++) {{")?;
                    body.print(f, depth + 1)?;
                    writeln!(f, "{indent}}}")?;
                }
            }
        }
        Ok(())
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.print(f, 0)
    }
}

impl fmt::Display for Definition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut files = BTreeSet::new();
        self.body.files(&mut files);
        for file in &files {
            writeln!(f, "//#import {file}")?;
        }
        if !files.is_empty() {
            writeln!(f)?;
        }
        let parameters: Vec<String> =
            self.parameters.iter().map(|(name, of)| format!("{name}: {of}")).collect();
        writeln!(f, "fn {}({}) {{", self.name, parameters.join(", "))?;
        self.body.print(f, 1)?;
        writeln!(f, "}}")
    }
}

#[cfg(test)]
mod tests {
    use crate::kernel::write::{
        ABS, Block, Callee, Definition, Expression, Sum, fma, index, name, number, select,
    };
    use naga::Expression as Read;

    #[test]
    fn parentheses_stand_where_the_grammar_needs_them() {
        let [a, b, c] = ["a", "b", "c"].map(name);
        let mut negative = Sum::default();
        negative.push(-1, &a * &b);
        for (expression, want) in [
            (&a + &b - &c, "a + b - c"),
            (&a - (&b - &c), "a - (b - c)"),
            (&a * &b * &c, "a * b * c"),
            (&a * (&b * &c), "a * (b * c)"),
            (&a * (&b / &c), "a * (b / c)"),
            (&a * &b / &c, "a * b / c"),
            ((&a + &b) * &c, "(a + b) * c"),
            (-&a * &b, "-a * b"),
            (-(&a * &b), "-(a * b)"),
            (-(-&a), "-(-a)"),
            (&a - (-&b), "a - -b"),
            (&a - number(-1.0), "a - -1.0"),
            (-number(-1.0), "-(-1.0)"),
            (negative.clone().or(number(0.0)) + &c, "-(a * b) + c"),
            (&c * negative.clone().or(number(0.0)), "c * -(a * b)"),
            (&c * Sum::of([&a * &b]).or(number(0.0)), "c * (a * b)"),
            (Expression::Sum(Sum::of([a.clone()])) * &b, "a * b"),
            ((&a + &b).member("x"), "(a + b).x"),
            ((&a - &b).is_less(&a * &c), "a - b < a * c"),
            (a.clone().equals(&b) & b.clone().is_less(&c), "(a == b) & (b < c)"),
            (a.clone() & &b & &c, "a & b & c"),
            (a.clone() & (b.clone() & &c), "a & (b & c)"),
            (a.clone().equals(&b).and_then(b.clone().is_more(&c)).and_then(&a), "a == b && b > c && a"),
            ((a.clone() & &b).and_then(&c), "(a & b) && c"),
            (a.clone().is_less(&b).equals(&c), "(a < b) == c"),
            (fma(-&a, b.clone(), &c * &a), "fma(-a, b, c * a)"),
            (Callee::free("f").call([a.clone().is_less(&b), c.clone().is_more(&a)]), "f((a < b), c > a)"),
            (Callee::free("v").call([1u32, 2]) + index("n"), "v(1u, 2u) + n"),
            (number(2.0) * &a, "2.0 * a"),
        ] {
            assert_eq!(expression.to_string(), want);
        }
    }

    /// A random expression of floats, or of truth values.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (self.0 >> 33) % n
        }

        fn float(&mut self, depth: u32) -> Expression {
            if depth == 0 || self.below(8) == 0 {
                return name(["a", "b", "c"][usize::try_from(self.below(3)).unwrap()]);
            }
            let [a, b] = [self.float(depth - 1), self.float(depth - 1)];
            match self.below(9) {
                0 | 1 => a + b,
                2 | 3 => a - b,
                4 => a * b,
                5 => a / b,
                6 => -a,
                7 => ABS.call([a]),
                _ => select(a, b, self.truth(depth - 1)),
            }
        }

        fn truth(&mut self, depth: u32) -> Expression {
            if depth > 0 && self.below(2) == 0 {
                return self.truth(depth - 1) & self.truth(depth - 1);
            }
            let [a, b] = [self.float(depth), self.float(depth)];
            if self.below(2) == 0 { a.is_less(b) } else { a.differs(b) }
        }
    }

    /// The tree, with all parentheses.
    fn tree(of: &Expression) -> String {
        match of {
            Expression::Negative(of) => format!("(-{})", tree(of)),
            Expression::Sum(sum) => {
                let mut all = String::new();
                for (sign, term) in &sum.0 {
                    let operator = if *sign == super::Sign::Plus { "Add" } else { "Subtract" };
                    all = if all.is_empty() {
                        tree(term)
                    } else {
                        format!("({all} {operator} {})", tree(term))
                    };
                }
                all
            }
            Expression::Binary(operator, of) => {
                let operator = match operator.text() {
                    "*" => "Multiply",
                    "/" => "Divide",
                    "<" => "Less",
                    "!=" => "NotEqual",
                    _ => "And",
                };
                format!("({} {operator} {})", tree(&of[0]), tree(&of[1]))
            }
            Expression::Call(callee, of) => {
                format!("{}({})", callee.name, of.iter().map(tree).collect::<Vec<_>>().join(" "))
            }
            of => of.to_string(),
        }
    }

    /// The same of what naga has read.
    fn tree_read(function: &naga::Function, of: naga::Handle<Read>) -> String {
        let tree = |of| tree_read(function, of);
        match function.expressions[of] {
            Read::FunctionArgument(i) => function.arguments[i as usize].name.clone().unwrap(),
            Read::Unary { expr, .. } => format!("(-{})", tree(expr)),
            Read::Binary { op, left, right } => {
                let op = format!("{op:?}").replace("LogicalAnd", "And");
                format!("({} {op} {})", tree(left), tree(right))
            }
            Read::Select { condition, accept, reject } => {
                format!("select({} {} {})", tree(reject), tree(accept), tree(condition))
            }
            Read::Math { arg, .. } => format!("abs({})", tree(arg)),
            ref other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_is_read_is_the_tree_that_was_printed() {
        let mut random = Random(1);
        for _ in 0..400 {
            let expression = random.float(5);
            let text = format!("fn f(a: f32, b: f32, c: f32) -> f32 {{ return {expression}; }}");
            let module =
                naga::front::wgsl::parse_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
            let (_, function) = module.functions.iter().next().unwrap();
            let Some(naga::Statement::Return { value: Some(value) }) = function.body.last() else {
                panic!("{text}")
            };
            assert_eq!(tree_read(function, *value), tree(&expression), "{text}");
        }
    }

    #[test]
    fn floats_are_printed_as_the_shortest_text_that_is_read_as_them() {
        assert_eq!(
            [1.0, -0.0, 0.1, 1e-7, 7.62939453125e-6].map(|v| number(v).to_string()),
            ["1.0", "-0.0", "0.1", "1e-7", "7.6293945e-6"]
        );
        let mut random = Random(7);
        for _ in 0..20_000 {
            let value = f32::from_bits(u32::try_from(random.below(1 << 31)).unwrap());
            if value.is_normal() {
                let text = number(value).to_string();
                // As compilers read a literal without a type: first to f64.
                #[expect(clippy::cast_possible_truncation, reason = "that is what compilers do")]
                let read = text.parse::<f64>().unwrap() as f32;
                assert_eq!(read.to_bits(), value.to_bits(), "{text}");
                assert!(text.contains(['.', 'e']), "{text} would be an integer");
            }
        }
    }

    #[test]
    fn a_definition_imports_what_it_calls() {
        const ANGLE: Callee = Callee::new("angle_of", 20).from_file("trigonometry");
        let mut body = Block::default();
        let x = body.define("x0", Callee::free("read_x").call([index("at").member("y"), index("count")]));
        let sum = body.variable("sum", number(0.0));
        body.comment("e12");
        body.increase(&sum, &x * &x);
        let mut guarded = Block::default();
        guarded.assign(&sum, ANGLE.call([sum.clone(), x]));
        let mut rows = Block::default();
        rows.branch(index("count").is_more(1u32), guarded);
        body.count("row", [0u32, 4].map(Expression::from), rows);
        body.call(Callee::free("store").call([index("at").member("x") + 1u32, sum]));
        let definition =
            Definition { name: "results", parameters: vec![("at", "vec3<u32>"), ("count", "u32")], body };
        let want = "\
//#import trigonometry

fn results(at: vec3<u32>, count: u32) {
    let x0 = read_x(at.y, count);
    var sum = 0.0;
    // e12
    sum += x0 * x0;
    for (var row = 0u; row < 4u; row++) {
        if count > 1u {
            sum = angle_of(sum, x0);
        }
    }
    store(at.x + 1u, sum);
}
";
        assert_eq!(definition.to_string(), want);
    }
}
