//! Evaluates expressions of any Clifford algebra, on the CPU in f64 and on the device in f32, and prints tables of
//! products.
//!
//! ```sh
//! cargo run --release --example algebra -- --expr "(1 + 2e12) * e3"
//! cargo run --release --example algebra -- --signature 3,0,1 --expr "(e1 + 2e0) ^ e2 & ~(e10 + e123)" --json
//! cargo run --release --example algebra -- --signature 2,0,1 --null-first --table --product regressive
//! ```
//! `--help` has the grammar of expressions. A syntax error is shown with its position. The exit status is 0 only if the
//! device's result is within a bound that accounts for every rounding of f32.

mod bounded;
mod expression;
mod gpu;
mod parser;
mod table;

use bounded::Bounded;
use clap::Parser;
use gpu::OnGpu;
use serde_json::{Value, json};
use std::fmt;
use std::process::ExitCode;
use support::{reported, significant};
use table::Table;
use tilewise::clifford::{Blades, Multivector, Product, Signature};
use tilewise::{Gpu, Result};

/// Evaluates an expression of a Clifford algebra, on the CPU and on the device.
#[derive(Parser)]
#[command(after_help = parser::GRAMMAR)]
struct Args {
    /// The numbers of vectors that square to 1, to -1 and to 0: `p,q,r`
    #[arg(long, default_value = "3,0,0")]
    signature: Signature,
    /// Null vectors come first
    #[arg(long)]
    null_first: bool,
    /// The expression
    #[arg(long, allow_hyphen_values = true, required_unless_present = "table")]
    expr: Option<String>,
    /// Prints the table of a product of basis blades
    #[arg(long, conflicts_with = "expr")]
    table: bool,
    /// The product of the table
    #[arg(long, default_value = "geometric", value_parser = product)]
    product: Product,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

fn product(name: &str) -> Result<Product, String> {
    let found = Product::ALL.into_iter().find(|product| product.name() == name.replace('-', "_"));
    found.ok_or_else(|| format!("expected one of {}", Product::ALL.map(Product::name).join(", ")))
}

fn main() -> ExitCode {
    let args = Args::parse();
    let signature = if args.null_first { args.signature.null_first() } else { args.signature };
    let Some(expression) = &args.expr else {
        let table = Table::new(signature, args.product);
        return reported(Ok(table), args.json, Table::json, |_| true);
    };
    reported(run(signature, expression), args.json, Report::json, Report::ok)
}

fn run(signature: Signature, text: &str) -> Result<Report> {
    let expression = parser::parse(signature, text)?;
    let on_cpu = expression.evaluate(&Bounded::literal)?;
    let gpu = Gpu::open()?;
    let on_gpu = expression.evaluate(&|x: &Multivector| OnGpu::literal(&gpu, x))?;
    let (blades, values) = on_gpu.read()?;
    Ok(Report { text: text.to_owned(), device: gpu.caps().adapter.clone(), on_cpu, blades, values })
}

/// The values of an expression on the CPU and on the device.
struct Report {
    text: String,
    device: String,
    on_cpu: Bounded,
    /// The blades that the device computed, and their coefficients.
    blades: Blades,
    values: Vec<f32>,
}

impl Report {
    /// The device's coefficient of a blade; 0 if it is zero by construction.
    fn on_gpu(&self, mask: u8) -> f64 {
        self.blades.position(mask).map_or(0.0, |i| f64::from(self.values[i]))
    }

    /// The largest difference, and the largest ratio of a difference to its bound.
    fn difference(&self) -> [f64; 2] {
        let all = 0..=self.on_cpu.value.signature().pseudoscalar();
        all.fold([0.0, 0.0], |[most, ratio], mask| {
            let apart = (self.on_gpu(mask) - self.on_cpu.value.coefficient(mask)).abs();
            let bound = self.on_cpu.error.coefficient(mask);
            // NaN and infinities, from operands that are too large for f32, exceed any bound.
            let of_bound = match apart {
                0.0 => 0.0,
                _ if apart.is_finite() && bound.is_finite() => apart / bound,
                _ => f64::INFINITY,
            };
            [most.max(if apart.is_nan() { f64::INFINITY } else { apart }), ratio.max(of_bound)]
        })
    }

    fn ok(&self) -> bool {
        self.difference()[1] <= 1.0
    }

    /// The device's result with as many digits as f32 has.
    fn gpu_text(&self) -> Result<Multivector> {
        let digits = |value: &f32| value.to_string().parse().unwrap_or(f64::NAN);
        Multivector::new(&self.blades, &self.values.iter().map(digits).collect::<Vec<f64>>())
    }

    fn json(&self) -> Value {
        let [difference, bound_ratio] = self.difference();
        let masks = self.blades.masks().iter();
        json!({
            "signature": self.blades.signature().to_string(),
            "expression": self.text,
            "device": self.device,
            "cpu": self.on_cpu.value.to_string(),
            "gpu": self.gpu_text().map(|x| x.to_string()).unwrap_or_default(),
            "blades": masks.map(|&mask| self.blades.signature().name(mask)).collect::<Vec<_>>(),
            "cpu_values": self.on_cpu.value.select(&self.blades),
            "gpu_values": self.values,
            "difference": difference,
            "bound_ratio": bound_ratio,
            "ok": self.ok(),
        })
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [difference, bound_ratio] = self.difference();
        writeln!(f, "device     {}", self.device)?;
        writeln!(f, "algebra    {}", self.blades.signature())?;
        writeln!(f, "CPU        {}", self.on_cpu.value)?;
        writeln!(f, "GPU        {}", self.gpu_text().map_err(|_| fmt::Error)?)?;
        writeln!(f, "difference {difference:.2e}, {} of its bound", significant(bound_ratio))?;
        writeln!(f, "check      {}", if self.ok() { "ok" } else { "FAILED" })
    }
}
