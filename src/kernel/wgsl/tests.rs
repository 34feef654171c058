//! The printed text parses to the tree that was built.

use crate::kernel::wgsl::{
    ABS, Block, Callee, Expression, FunctionDefinition, Member, Module, SQRT, StructDefinition, Sum, fma,
    index, integer, name, number, select,
};
use naga::Expression as Read;

#[test]
fn parentheses_are_printed_where_the_grammar_needs_them() {
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
        ((&a - &b).below(&a * &c), "a - b < a * c"),
        (a.clone().equals(&b) & b.clone().below(&c), "(a == b) & (b < c)"),
        (a.clone() & &b & &c, "a & b & c"),
        (a.clone() & (b.clone() & &c), "a & (b & c)"),
        (a.clone().equals(&b).and_then(b.clone().above(&c)).and_then(&a), "a == b && b > c && a"),
        ((a.clone() & &b).and_then(&c), "(a & b) && c"),
        (a.clone().below(&b).equals(&c), "(a < b) == c"),
        (fma(-&a, b.clone(), &c * &a), "fma(-a, b, c * a)"),
        (Callee::without_flops("f").call([a.clone().below(&b), c.clone().above(&a)]), "f((a < b), c > a)"),
        (
            Callee::without_flops("f").call([a.clone().and_then(b.clone().below(&c)), c.clone().above(&a)]),
            "f((a && b < c), c > a)",
        ),
        (Callee::without_flops("v").call([1u32, 2]) + index("n"), "v(1u, 2u) + n"),
        (a.clone().dereference().element(0u32) * &b, "(*a)[0] * b"),
        (a.clone().dereference() * b.clone().dereference(), "*a * *b"),
        (a.clone().element(index("i") * 3u32 + integer(1)).member("x"), "a[i * 3u + 1u].x"),
        (number(2.0) * &a, "2.0 * a"),
    ] {
        assert_eq!(expression.to_string(), want);
    }
}

/// A generator of random expressions of floats and of bools.
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
            _ => select(a, b, self.boolean(depth - 1)),
        }
    }

    fn boolean(&mut self, depth: u32) -> Expression {
        if depth > 0 && self.below(2) == 0 {
            return self.boolean(depth - 1) & self.boolean(depth - 1);
        }
        let [a, b] = [self.float(depth), self.float(depth)];
        if self.below(2) == 0 { a.below(b) } else { a.differs(b) }
    }
}

/// The tree as text, with all parentheses.
fn tree(of: &Expression) -> String {
    match of {
        Expression::Negative(of) => format!("(-{})", tree(of)),
        Expression::Sum(sum) => {
            let mut all = String::new();
            for (sign, term) in &sum.0 {
                let operator = if *sign == super::expression::Sign::Plus { "Add" } else { "Subtract" };
                all = if all.is_empty() { tree(term) } else { format!("({all} {operator} {})", tree(term)) };
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

/// The tree of an expression that naga has parsed, as [`tree`] prints it.
fn parsed_tree(function: &naga::Function, of: naga::Handle<Read>) -> String {
    let tree = |of| parsed_tree(function, of);
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
fn naga_parses_the_tree_that_was_printed() {
    let mut random = Random(1);
    for _ in 0..400 {
        let expression = random.float(5);
        let text = format!("fn f(a: f32, b: f32, c: f32) -> f32 {{ return {expression}; }}");
        let module = naga::front::wgsl::parse_str(&text).unwrap_or_else(|error| panic!("{text}: {error}"));
        let (_, function) = module.functions.iter().next().unwrap();
        let Some(naga::Statement::Return { value: Some(value) }) = function.body.last() else {
            panic!("{text}")
        };
        assert_eq!(parsed_tree(function, *value), tree(&expression), "{text}");
    }
}

#[test]
fn floats_are_printed_as_the_shortest_text_that_parses_as_them() {
    assert_eq!(
        [1.0, -0.0, 0.1, 1e-7, 2f32.powi(-17)].map(|v| number(v).to_string()),
        ["1.0", "-0.0", "0.1", "1e-7", "7.6293945e-6"]
    );
    let mut random = Random(7);
    for _ in 0..20_000 {
        let value = f32::from_bits(u32::try_from(random.below(1 << 31)).unwrap());
        if value.is_normal() {
            let text = number(value).to_string();
            // Compilers parse a literal without a type to f64 first.
            #[expect(clippy::cast_possible_truncation, reason = "that is what compilers do")]
            let parsed = text.parse::<f64>().unwrap() as f32;
            assert_eq!(parsed.to_bits(), value.to_bits(), "{text}");
            assert!(text.contains(['.', 'e']), "{text} would be an integer");
        }
    }
}

/// The example in the documentation of the writer.
#[test]
fn the_example_is_printed_and_counted_as_documented() {
    let mut body = Block::default();
    let x = body.define("x", Callee::without_flops("load_x").call([index("at")]));
    let total = body.variable("total", number(0.5));
    body.increase(&total, &x * &x);
    let mut then = Block::default();
    then.assign(&total, SQRT.call([&total]));
    body.branch(index("at").above(1u32), then);
    body.returns(total);
    let want = "let x = load_x(at);\nvar total = 0.5;\ntotal += x * x;\n\
                if at > 1u {\n    total = sqrt(total);\n}\nreturn total;\n";
    assert_eq!((body.to_string().as_str(), body.flops()), (want, 3));
}

#[test]
fn a_module_imports_the_functions_that_it_calls() {
    const ANGLE: Callee = Callee::new("angle_of", 20).imported("trigonometry");
    let mut body = Block::default();
    let x =
        body.define("x0", Callee::without_flops("read_x").call([index("at").member("y"), index("count")]));
    let sum = body.variable("sum", number(0.0));
    body.comment("e12");
    body.increase(&sum, &x * &x);
    let mut guarded = Block::default();
    guarded.assign(&sum, ANGLE.call([sum.clone(), x]));
    let mut rows = Block::default();
    rows.branch(index("count").above(1u32), guarded);
    body.branch(name("is_mine"), rows);
    body.call(Callee::without_flops("store").call([index("at").member("x") + 1u32, sum]));
    let definition = FunctionDefinition {
        comment: "Stores a result.",
        name: "results",
        parameters: vec![("at", "vec3<u32>"), ("count", "u32")],
        result: None,
        body,
    };
    let want = "\
//#import trigonometry

// Stores a result.
fn results(at: vec3<u32>, count: u32) {
    let x0 = read_x(at.y, count);
    var sum = 0.0;
    // e12
    sum += x0 * x0;
    if is_mine {
        if count > 1u {
            sum = angle_of(sum, x0);
        }
    }
    store(at.x + 1u, sum);
}
";
    assert_eq!(Module::from(definition).to_string(), want);
}

#[test]
fn structs_and_functions_are_printed_with_their_comments() {
    let member = |name: &str, comment: &'static str| Member {
        name: name.to_owned(),
        of_type: "f32",
        comment: comment.into(),
    };
    let nothing = StructDefinition { comment: "No members.", name: "Nothing", members: vec![] };
    let members = vec![member("a", "of grade 0"), member("b", "")];
    let state = StructDefinition { comment: "The state of a row.", name: "State", members };
    let mut body = Block::default();
    let state_of = body.zero("state", "State");
    let [a, b] = ["a", "b"].map(|of| state_of.clone().member(of));
    body.assign(&a, name("sums").dereference().element(0u32));
    body.decrease(&b, &a * &a);
    body.remark("twice its slope");
    body.returns(state_of);
    let first = FunctionDefinition {
        comment: "Before the first row.",
        name: "begin",
        parameters: vec![("sums", "ptr<function, array<f32, 2>>")],
        result: Some("State"),
        body,
    };
    let last = FunctionDefinition {
        comment: "After the last row.",
        name: "end",
        parameters: vec![("state", "State")],
        result: None,
        body: Block::default(),
    };
    let module = Module { structures: vec![nothing, state], functions: vec![first, last] };
    let want = "\
// No members.
struct Nothing {
    none: u32,
}

// The state of a row.
struct State {
    a: f32, // of grade 0
    b: f32,
}

// Before the first row.
fn begin(sums: ptr<function, array<f32, 2>>) -> State {
    var state: State;
    state.a = (*sums)[0];
    state.b -= state.a * state.a; // twice its slope
    return state;
}

// After the last row.
fn end(state: State) {
}
";
    assert_eq!(module.to_string(), want);
    assert_eq!(module.flops(), 2);
    naga::front::wgsl::parse_str(want).unwrap_or_else(|error| panic!("{error}"));
}
