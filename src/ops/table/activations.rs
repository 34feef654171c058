//! The activations, a row each. To add one, add a row, and a variant of its name to `shaders/common/activation.wgsl`.
//!
//! `activation_rows!(write)` gives all rows to the macro `write`. A row has
//!
//! - the documentation, the variant of `Activation`, and the name: that of the shader's variant, and with hyphens the printed one,
//! - the approximate number of operations for an element, and the Lipschitz constant,
//! - the value at x in f64, and the bound of its error in $u = 2^{-23}$ of it, where z is the largest size of an argument: 0 if
//!   the value is exact,
//! - the two terms whose sum is the derivative at x, where b is x or the nearest of -200 and 200, beyond which the derivative is
//!   its limit, and the bound of its error in $u$ of the sum of their sizes: 0 if it is exact.

macro_rules! activation_rows {
    ($write:ident) => {
        $write! { x b z:
            /// $x$.
            #[default]
            None: none, flops [0.0] lipschitz [1.0]
                value [x] within [0.0] slope [1.0, 0.0] within [0.0];

            /// $\max(x, 0)$.
            Relu: relu, flops [1.0] lipschitz [1.0]
                value [if x <= 0.0 { 0.0 } else { x }] within [0.0]
                slope [if x.is_nan() { x } else { step(x > 0.0) }, 0.0] within [0.0];

            /// $x\\,\Phi(x)$ with the normal distribution $\Phi(x) = \frac{1}{2}(1 + \operatorname{erf}(x / \sqrt{2}))$.
            Gelu: gelu, flops [30.0] lipschitz [1.129] // at sqrt 2
                value [with_limit(x, x * 0.5 * libm::erfc(-x * FRAC_1_SQRT_2))] within [10.0]
                slope [0.5 * libm::erfc(-x * FRAC_1_SQRT_2), b * ((-0.5 * b * b).exp() / (2.0 * PI).sqrt())]
                within [24.0 + 2.0 * x.abs().min(15.0).powi(2)];

            /// $\frac{1}{2} x\\,(1 + \tanh(\sqrt{2 / \pi}\\,(x + 0.044715\\,x^3)))$, which some models use in place of
            /// [`Gelu`](Self::Gelu).
            GeluTanh: gelu_tanh, flops [30.0] lipschitz [1.129] // close to sqrt 2
                value [with_limit(x, x * sigmoid(2.0 * tanh_argument(x)))]
                within [10.0 + 8.0 * tanh_argument(z.min(20.0))] // beyond 20 the kernel sets the sigmoid to 0 or 1
                slope [
                    sigmoid(2.0 * tanh_argument(b)),
                    b * sigmoid(2.0 * tanh_argument(b)) * sigmoid(-(2.0 * tanh_argument(b)))
                        * ((8.0 / PI).sqrt() * (1.0 + 0.134145 * b * b))
                ]
                within [24.0 + 16.0 * tanh_argument(x.abs().min(20.0))];

            /// $x / (1 + e^{-x})$.
            Silu: silu, flops [30.0] lipschitz [1.0999]
                value [with_limit(x, x * sigmoid(x))] within [10.0]
                slope [sigmoid(b), b * sigmoid(b) * sigmoid(-b)] within [24.0];

            /// $1 / (1 + e^{-x})$.
            Sigmoid: sigmoid, flops [30.0] lipschitz [0.25]
                value [sigmoid(x)] within [8.0] slope [sigmoid(x) * sigmoid(-x), 0.0] within [24.0];

            /// $\tanh x$.
            Tanh: tanh, flops [30.0] lipschitz [1.0]
                value [x.tanh()] within [8.0] slope [4.0 * sigmoid(2.0 * x) * sigmoid(-2.0 * x), 0.0] within [24.0];

            /// $\ln(1 + e^x)$. For x above 20, where PyTorch returns x, the f32 value is x, too.
            Softplus: softplus, flops [40.0] lipschitz [1.0]
                value [softplus(x)] within [8.0] slope [sigmoid(x), 0.0] within [24.0];

            /// $x$ if it is positive, else $e^x - 1$.
            Elu: elu, flops [40.0] lipschitz [1.0]
                value [if x <= 0.0 { x.exp_m1() } else { x }] within [10.0]
                slope [if x.is_nan() { x } else if x > 0.0 { 1.0 } else { x.exp() }, 0.0] within [24.0];

            /// $x$ if it is positive, else $0.01\\,x$.
            LeakyRelu: leaky_relu, flops [2.0] lipschitz [1.0]
                value [if x <= 0.0 { LEAK * x } else { x }] within [4.0]
                slope [if x.is_nan() { x } else if x > 0.0 { 1.0 } else { LEAK }, 0.0] within [1.0];

            /// $x \tanh(\ln(1 + e^x))$.
            Mish: mish, flops [40.0] lipschitz [1.0887]
                value [with_limit(x, x * softplus(x).tanh())] within [10.0]
                slope [softplus(b).tanh(), b * (1.0 - softplus(b).tanh() * softplus(b).tanh()) * sigmoid(b)]
                within [24.0];

            /// $x \min(\max(x + 3, 0), 6) / 6$.
            Hardswish: hardswish, flops [5.0] lipschitz [1.5]
                value [if x <= -3.0 { -0.0 } else if x >= 3.0 { x } else { x * (x + 3.0) / 6.0 }] within [4.0]
                slope [
                    if x.is_nan() { x } else if x.abs() >= 3.0 { step(x > 0.0) } else { x / 3.0 },
                    if x.abs() < 3.0 { 0.5 } else { 0.0 }
                ]
                within [24.0];

            /// $x / (1 + e^{-1.702 x})$, which some models use in place of [`Gelu`](Self::Gelu).
            QuickGelu: quick_gelu, flops [40.0] lipschitz [1.0999]
                value [with_limit(x, x * sigmoid(QUICK * x))] within [10.0]
                slope [sigmoid(QUICK * b), QUICK * b * sigmoid(QUICK * b) * sigmoid(-(QUICK * b))] within [24.0];
        }
    };
}

pub(crate) use activation_rows;
