//! The functions of elements, a row each. To add one, add a row, and its WGSL to `shaders/common` if no built-in computes it.
//!
//! `function_rows!(write)` gives all rows to the macro `write`. A row has
//!
//! - the documentation; the first line is also that of the variant of `Function` and of the method of `Expr`,
//! - the variant, and the name of the function of tensors and of the method, with its operands,
//! - what the function of tensors takes: `reals`, `all` numbers, all numbers that it `compares`, or `masks`; `values` have no
//!   function of tensors,
//! - the bound of the error of a real result: this many $u = 2^{-23}$ of it, 0 if it is exact, and this many times $2^{-126}$,
//!   once if this is left out,
//! - for each kind of operands the kind of the result and the expression in WGSL (`super::super::elementwise::written` has the
//!   functions that it may call; `shader` names the file, the function and its count of operations),
//! - the definition in f64, and that of integers if they have the function,
//! - the gradients with respect to operands, where y is the result and g its gradient. Gradients that are not listed
//!   are 0.

macro_rules! function_rows {
    ($write:ident) => {
        $write! { y g:
            /// The negative $-a$. Integers wrap.
            Neg: neg(a) takes all, within [0],
                wgsl [Real -> Real: -a, Integer -> Integer: -a],
                value [-a] integers [a.wrapping_neg()] gradients [a => -g];

            /// The absolute value $|a|$. Integers wrap.
            Abs: abs(a) takes all, within [0],
                wgsl [Real -> Real: builtin("abs", 1, [a]), Integer -> Integer: of_integers("abs", 1, [a])],
                value [a.abs()] integers [a.wrapping_abs()] gradients [a => g * a.sign()];

            /// -1, 0 or 1; NaN stays NaN.
            Sign: sign(a) takes all, within [0],
                wgsl [
                    Real -> Real: shader("comparisons", "sign_of", 1, [a]),
                    Integer -> Integer: of_integers("sign", 0, [a])
                ],
                value [if a == 0.0 || a.is_nan() { a } else { a.signum() }] integers [a.signum()] gradients [];

            /// The square root $\sqrt a$; NaN below 0.
            Sqrt: sqrt(a) takes reals, within [8],
                wgsl [Real -> Real: builtin("sqrt", 1, [a])],
                value [a.sqrt()] integers [] gradients [a => g / (2.0 * y)];

            /// $1 / \sqrt a$: infinite at 0, NaN below.
            Rsqrt: rsqrt(a) takes reals, within [8],
                wgsl [Real -> Real: builtin("inverseSqrt", 1, [a])],
                value [a.sqrt().recip()] integers [] gradients [a => -(g * y.pow(3.0)) / 2.0];

            /// The exponential $e^a$.
            Exp: exp(a) takes reals, within [8],
                wgsl [Real -> Real: shader("math", "exp_of", 20, [a])],
                value [a.exp()] integers [] gradients [a => g * y];

            /// The natural logarithm $\ln a$: minus infinity at 0, NaN below.
            Log: log(a) takes reals, within [8],
                wgsl [Real -> Real: shader("logarithm", "log_of", 50, [a])],
                value [a.ln()] integers [] gradients [a => g / a];

            /// $e^a - 1$, also where it is near 0.
            Expm1: expm1(a) takes reals, within [8],
                wgsl [Real -> Real: shader("expm1", "expm1_of", 45, [a])],
                value [a.exp_m1()] integers [] gradients [a => g * (y + 1.0)];

            /// $\ln(1 + a)$, also where it is near 0: minus infinity at -1, NaN below.
            Log1p: log1p(a) takes reals, within [8],
                wgsl [Real -> Real: shader("log1p", "log1p_of", 70, [a])],
                value [a.ln_1p()] integers [] gradients [a => g / (a + 1.0)];

            /// The square $a^2$. Integers wrap.
            ///
            /// Squares beyond the range of f32, or of `T`, are infinite, and those below $2^{-126}$ may be 0.
            Square: square(a) takes all, within [1, 1.0 + 2.0 * a.abs()],
                wgsl [Real -> Real: &a * &a, Integer -> Integer: &a * &a],
                value [a * a] integers [a.wrapping_mul(a)] gradients [a => 2.0 * g * a];

            /// The reciprocal $1 / a$: infinite at 0.
            Recip: recip(a) takes reals, within [4],
                wgsl [Real -> Real: shader("comparisons", "divided", 4, [spread("vec4<f32>", number(1.0)), a])],
                value [a.recip()] integers [] gradients [a => -(g * y.square())];

            /// The largest integer that is at most a.
            Floor: floor(a) takes reals, within [0],
                wgsl [Real -> Real: builtin("floor", 1, [a])],
                value [a.floor()] integers [] gradients [];

            /// The smallest integer that is at least a.
            Ceil: ceil(a) takes reals, within [0],
                wgsl [Real -> Real: builtin("ceil", 1, [a])],
                value [a.ceil()] integers [] gradients [];

            /// The nearest integer; the even one of two.
            Round: round(a) takes reals, within [0],
                wgsl [Real -> Real: builtin("round", 1, [a])],
                value [a.round_ties_even()] integers [] gradients [];

            /// The sine $\sin a$ of an angle of any size; NaN for an infinite one.
            Sin: sin(a) takes reals, within [8],
                wgsl [Real -> Real: shader("angles", "sine_of", 30, [a])],
                value [a.sin()] integers [] gradients [a => g * a.cos()];

            /// The cosine $\cos a$ of an angle of any size; NaN for an infinite one.
            Cos: cos(a) takes reals, within [8],
                wgsl [Real -> Real: shader("angles", "cosine_of", 30, [a])],
                value [a.cos()] integers [] gradients [a => -(g * a.sin())];

            /// The hyperbolic tangent $\tanh a$.
            Tanh: tanh(a) takes reals, within [8],
                wgsl [Real -> Real: shader("math", "tanh_of", 30, [a])],
                value [a.tanh()] integers [] gradients [a => g * (1.0 - y.square())];

            /// The logistic function $1 / (1 + e^{-a})$.
            Sigmoid: sigmoid(a) takes reals, within [8],
                wgsl [Real -> Real: shader("math", "sigmoid_of", 25, [a])],
                value [((-a).exp() + 1.0).recip()] integers [] gradients [a => g * y * (1.0 - y)];

            /// The sum $a + b$. Integers wrap.
            ///
            /// The operator `+` does the same.
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let column = gpu.tensor(&[10.0f32, 20.0], [2, 1])?;
            /// let row = gpu.tensor(&[1.0f32, 2.0, 3.0], [3])?;
            /// let sums = tilewise::ops::add(&column, &row)?;
            /// assert_eq!(sums.shape(), [2, 3]);
            /// assert_eq!(sums.to_vec()?, [11.0, 12.0, 13.0, 21.0, 22.0, 23.0]);
            /// assert_eq!(tilewise::ops::add(&row, 0.5)?.to_vec()?, [1.5, 2.5, 3.5]);
            /// # Ok(())
            /// # }
            /// ```
            Add: add(a, b) takes all, within [1, 3.0],
                wgsl [Real -> Real: a + b, Integer -> Integer: a + b],
                value [a + b] integers [a.wrapping_add(b)] gradients [a => g, b => g];

            /// The difference $a - b$. Integers wrap.
            ///
            /// The operator `-` does the same.
            Sub: sub(a, b) takes all, within [1, 3.0],
                wgsl [Real -> Real: a - b, Integer -> Integer: a - b],
                value [a - b] integers [a.wrapping_sub(b)] gradients [a => g, b => -g];

            /// The product $ab$. Integers wrap.
            ///
            /// The operator `*` does the same.
            Mul: mul(a, b) takes all, within [1, 1.0 + a.abs() + b.abs()],
                wgsl [Real -> Real: a * b, Integer -> Integer: a * b],
                value [a * b] integers [a.wrapping_mul(b)] gradients [a => g * b, b => g * a];

            /// The quotient $a / b$. A number divided by 0 is infinite, and 0 / 0 is NaN, as IEEE 754 has it.
            ///
            /// The operator `/` does the same.
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let x = gpu.tensor(&[1.0f32, -3.0, 0.0], [3])?;
            /// assert_eq!(tilewise::ops::div(&x, 2.0)?.to_vec()?, [0.5, -1.5, 0.0]);
            /// assert!(tilewise::ops::div(&x, &x)?.to_vec()?[2].is_nan());
            /// # Ok(())
            /// # }
            /// ```
            Div: div(a, b) takes reals, within [4],
                wgsl [Real -> Real: shader("comparisons", "divided", 4, [a, b])],
                value [a / b] integers [] gradients [a => g / b, b => -(g * y) / b];

            /// The power $a^b$, as IEEE's `pow`.
            ///
            /// It is 1 if b is 0 or a is 1 (also if the other is NaN), NaN if a is negative and b is no integer. For squares,
            /// [`square`](crate::ops::square) is faster. Within an ulp of f32, so exact where f32 has the power, as whole numbers to
            /// small whole powers are; $a^{1}$ is a in its bits. Results beyond the range of f32 are infinite, and those below
            /// $2^{-126}$ are 0.
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let x = gpu.tensor(&[5.0f32, 10.0, -2.0], [3])?;
            /// assert_eq!(tilewise::ops::pow(&x, 3.0)?.to_vec()?, [125.0, 1000.0, -8.0]);
            /// # Ok(())
            /// # }
            /// ```
            Pow: pow(a, b) takes reals, within [2],
                wgsl [Real -> Real: shader("logarithm", "power_of", 120, [a, b])],
                value [a.powf(b)] integers [] gradients [a => g * b * a.pow(b - 1.0), b => g * y * a.log()];

            /// The angle of the point $(b, a)$ from the first axis, from $-\pi$ to $\pi$, as IEEE's `atan2`.
            ///
            /// Zeros and infinities have the angles that IEEE 754 gives them: $\pm 0$ or $\pm \pi$ of two zeros by their signs, multiples
            /// of $\pi / 4$ of two infinities.
            Atan2: atan2(a, b) takes reals, within [8],
                wgsl [Real -> Real: shader("atan2", "atan2_of", 40, [a, b])],
                value [a.atan2(b)] integers [] gradients [a => g * b / (a.square() + b.square()), b => -(g * a) / (a.square() + b.square())];

            /// The smaller of two values; NaN if either is NaN.
            Minimum: minimum(a, b) takes all, within [0],
                wgsl [
                    Real -> Real: shader("comparisons", "minimum_of", 1, [a, b]),
                    Integer -> Integer: of_integers("min", 0, [a, b])
                ],
                value [smaller(a, b)] integers [a.min(b)]
                gradients [a => a.equal(y).select(g, 0.0), b => b.equal(y).select(g, 0.0)];

            /// The larger of two values; NaN if either is NaN.
            Maximum: maximum(a, b) takes all, within [0],
                wgsl [
                    Real -> Real: shader("comparisons", "maximum_of", 1, [a, b]),
                    Integer -> Integer: of_integers("max", 0, [a, b])
                ],
                value [-smaller(-a, -b)] integers [a.max(b)]
                gradients [a => a.equal(y).select(g, 0.0), b => b.equal(y).select(g, 0.0)];

            /// The value, or the end of the range from `lowest` to `highest` that it is beyond.
            ///
            /// It is `highest` if the range is empty. NaN stays NaN.
            Clamp: clamp(a, lowest, highest) takes all, within [0],
                wgsl [
                    Real -> Real: shader("comparisons", "clamped", 2, [a, lowest, highest]),
                    Integer -> Integer: of_integers("min", 0, [of_integers("max", 0, [a, lowest]), highest])
                ],
                value [smaller(-smaller(-a, -lowest), highest)] integers [a.max(lowest).min(highest)]
                gradients [a => a.equal(y).select(g, 0.0)];

            /// Whether $a = b$. NaN equals nothing.
            Equal: equal(a, b) takes compared, within [0],
                wgsl [Real -> Mask: shader("comparisons", "is_equal", 1, [a, b]), Integer -> Mask: a.equals(b)],
                value [truth(a == b)] integers [i32::from(a == b)] gradients [];

            /// Whether $a \ne b$. NaN differs from everything.
            NotEqual: not_equal(a, b) takes compared, within [0],
                wgsl [Real -> Mask: shader("comparisons", "is_different", 1, [a, b]), Integer -> Mask: a.differs(b)],
                value [truth(a != b)] integers [i32::from(a != b)] gradients [];

            /// Whether $a < b$. False for NaN.
            ///
            /// ```
            /// # fn main() -> tilewise::Result<()> {
            /// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
            /// let x = gpu.tensor(&[1.0f32, 2.0, 3.0], [3])?;
            /// assert_eq!(tilewise::ops::less(&x, 2.5)?.to_vec()?, [1i8, 1, 0]);
            /// # Ok(())
            /// # }
            /// ```
            Less: less(a, b) takes compared, within [0],
                wgsl [Real -> Mask: shader("comparisons", "is_less", 1, [a, b]), Integer -> Mask: a.below(b)],
                value [truth(a < b)] integers [i32::from(a < b)] gradients [];

            /// Whether $a \le b$. False for NaN.
            LessOrEqual: less_or_equal(a, b) takes compared, within [0],
                wgsl [Real -> Mask: shader("comparisons", "is_at_most", 1, [a, b]), Integer -> Mask: a.at_most(b)],
                value [truth(a <= b)] integers [i32::from(a <= b)] gradients [];

            /// Whether $a > b$. False for NaN.
            Greater: greater(a, b) takes compared, within [0],
                wgsl [Real -> Mask: shader("comparisons", "is_less", 1, [b, a]), Integer -> Mask: a.above(b)],
                value [truth(a > b)] integers [i32::from(a > b)] gradients [];

            /// Whether $a \ge b$. False for NaN.
            GreaterOrEqual: greater_or_equal(a, b) takes compared, within [0],
                wgsl [Real -> Mask: shader("comparisons", "is_at_most", 1, [b, a]), Integer -> Mask: b.at_most(a)],
                value [truth(a >= b)] integers [i32::from(a >= b)] gradients [];

            /// Whether both masks are set.
            And: and(a, b) takes masks, within [0],
                wgsl [Mask -> Mask: a & b],
                value [truth(a != 0.0 && b != 0.0)] integers [i32::from(a != 0 && b != 0)] gradients [];

            /// Whether one of two masks is set, or both.
            Or: or(a, b) takes masks, within [0],
                wgsl [Mask -> Mask: shader("comparisons", "either", 0, [a, b])],
                value [truth(a != 0.0 || b != 0.0)] integers [i32::from(a != 0 || b != 0)] gradients [];

            /// Whether a mask is not set.
            Not: not(a) takes masks, within [0],
                wgsl [Mask -> Mask: shader("comparisons", "inverted", 0, [a])],
                value [truth(a == 0.0)] integers [i32::from(a == 0)] gradients [];

            /// `then` where the mask is set, `otherwise` elsewhere. A NaN that is not selected has no effect.
            Select: select(mask, then, otherwise) takes values, within [0],
                wgsl [
                    Real -> Real: select(otherwise, then, mask),
                    Integer -> Integer: select(otherwise, then, mask),
                    Mask -> Mask: select(otherwise, then, mask)
                ],
                value [[otherwise, then][usize::from(mask != 0.0)]] integers [[otherwise, then][usize::from(mask != 0)]]
                gradients [then => mask.select(g, 0.0), otherwise => mask.select(0.0, g)];

            /// An integer as a real, rounded to f32.
            ToReal: to_real(a) takes values, within [0],
                wgsl [Integer -> Real: shader("integers", "real_of", 1, [a])],
                value [as_f32(a)] integers [] gradients [];

            /// A real as an integer: truncated, saturated at the ends of i32; NaN becomes 0. A mask becomes 0 or 1.
            ToInteger: to_integer(a) takes values, within [0],
                wgsl [
                    Real -> Integer: shader("integers", "integer_of", 1, [a]),
                    Mask -> Integer: shader("comparisons", "one_or_zero", 0, [a])
                ],
                value [as_i32(a)] integers [] gradients [];
        }
    };
}

pub(crate) use function_rows;
