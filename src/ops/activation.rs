//! Activation functions.

use crate::ops::table::activation_rows;
use std::fmt;

/// Makes the enum of the rows, and what kernels know of each activation.
macro_rules! define {
    ($x:ident $b:ident $z:ident: $(
        $(#[$attribute:meta])+
        $variant:ident: $name:ident, flops [$flops:expr] lipschitz $lipschitz:tt
            value $value:tt within $within:tt slope $slope:tt within $slope_within:tt;
    )*) => {
        /// The activation function of a network's layer. The default is none.
        ///
        /// NaN stays NaN. At $-\infty$ the value is the limit.
        ///
        /// # Precision
        /// [`reference::activation_tolerance`](crate::reference::activation_tolerance).
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Activation {
            $($(#[$attribute])+ $variant,)*
        }

        impl Activation {
            /// Every activation.
            pub const ALL: [Self; ROWS.len()] = [$(Self::$variant),*];
        }

        /// The name and the number of operations of each, in the order of the variants.
        const ROWS: &[(&str, f64)] = &[$((stringify!($name), $flops)),*];
    };
}

activation_rows!(define);

impl Activation {
    /// The variant of the shader slots `activation`, its value, and `slope`, its derivative.
    pub(crate) fn variant(self) -> &'static str {
        ROWS[self as usize].0
    }

    /// The approximate number of operations per element.
    pub(crate) fn flops(self) -> f64 {
        ROWS[self as usize].1
    }
}

impl fmt::Display for Activation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.variant().replace('_', "-"))
    }
}
