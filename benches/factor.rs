//! Factorisations through sketches, each timed in turn with those of `faer` for the same question, in f32 and f64:
//! truncated against full singular values, pivoted QR, least squares. `faer` uses one thread of the CPU, and all of them with
//! `--features threads`. One JSON object per line, with the time of each part and its share; the exit status says whether
//! everything ran.
//!
//! - `TILEWISE_SIZES=1000` sets the shorter edge of the matrix of the singular values; the other edge is twice as long.
//!   The matrix of the QR has a fifth as many columns, and 20 times as many rows.
//! - `TILEWISE_ROUNDS=5` sets the rounds, in each of which every side is timed once.

use bench::statistics::median;
use bench::{ByDevice, Session, environment};
use faer::linalg::solvers::SolveLstsq;
use faer::{Mat, Par};
use serde_json::{Value, json};
use std::num::NonZero;
use std::process::ExitCode;
use std::time::Instant;
use tilewise::sketch::{Scaling, Sketch, SketchKind, Timings, cqrrpt, lstsq, rsvd};
use tilewise::{Error, Result, Tensor};

/// Rounds unless `TILEWISE_ROUNDS` is set.
const ROUNDS: NonZero<usize> = NonZero::new(3).unwrap();
const EDGES: ByDevice<&[usize]> = ByDevice { software: &[1000], gpu: &[1000] };

pub(crate) fn main() -> ExitCode {
    bench::main(|session| {
        let rounds = session.rounds(environment::number("TILEWISE_ROUNDS")?.unwrap_or(ROUNDS).get());
        let bench = Bench { session, rounds };
        for edge in bench.session.sizes(40, &EDGES)? {
            let tall = [20 * edge, edge.div_ceil(5)];
            bench.svd([2 * edge, edge], edge.div_ceil(20))?;
            bench.qr(tall)?;
            bench.least_squares(tall)?;
        }
        Ok(true)
    })
}

struct Bench {
    session: Session,
    rounds: usize,
}

/// A matrix on the device, and on the CPU in both precisions.
struct Placed {
    tensor: Tensor<f32>,
    single: Mat<f32>,
    double: Mat<f64>,
}

impl Bench {
    /// A matrix of normal entries whose columns get smaller, so that its singular values decay like those of data.
    fn matrix(&self, [m, n]: [usize; 2], seed: u64) -> Result<Placed> {
        let normal = Sketch::new(SketchKind::Gaussian, [m, n], seed)?.scaled(Scaling::Unscaled).to_vec();
        let values: Vec<f32> =
            normal.iter().enumerate().map(|(at, x)| x / (1.0 + (at % n) as f32 / 10.0)).collect();
        let single = Mat::from_fn(m, n, |i, j| values[i * n + j]);
        let double = Mat::from_fn(m, n, |i, j| f64::from(values[i * n + j]));
        Ok(Placed { tensor: self.session.gpu.tensor(&values, [m, n])?, single, double })
    }

    fn svd(&self, shape: [usize; 2], rank: usize) -> Result<()> {
        let a = self.matrix(shape, 1)?;
        let mut timings = Timings::default();
        let mut error = 0.0;
        let mut own = || {
            let svd = rsvd(&a.tensor, rank)?;
            svd.u.to_vec()?; // the last product
            (timings, error) = (svd.timings, svd.residual);
            Ok(())
        };
        let mut sigma = Vec::new();
        let mut single = || a.single.thin_svd().map(drop).map_err(failed);
        let mut double = || {
            let svd = a.double.thin_svd().map_err(failed)?;
            sigma = svd.S().column_vector().iter().copied().collect();
            Ok(())
        };
        let line = self.compare("rsvd", shape, "full svd", [&mut own, &mut single, &mut double])?;
        let best = sigma[rank..].iter().map(|s| s * s).sum::<f64>().sqrt();
        let parts = [timings.sketches, timings.products, timings.small, timings.checks]
            .map(|part| part.as_secs_f64());
        let extra = json!({
            "rank": rank,
            "seconds_of": { "sketches": parts[0], "products": parts[1], "small": parts[2], "checks": parts[3] },
            "share_of_products": parts[1] / timings.total().as_secs_f64(),
            "error_over_best": error / best,
        });
        print(line, extra);
        Ok(())
    }

    fn qr(&self, shape: [usize; 2]) -> Result<()> {
        let a = self.matrix(shape, 2)?;
        let mut rank = 0;
        let mut own = || {
            let qr = cqrrpt(&a.tensor)?;
            rank = qr.rank;
            qr.q.to_vec().map(drop)
        };
        let mut single = || {
            std::hint::black_box(a.single.col_piv_qr().compute_thin_Q());
            Ok(())
        };
        let mut double = || {
            std::hint::black_box(a.double.col_piv_qr().compute_thin_Q());
            Ok(())
        };
        let line = self.compare("cqrrpt", shape, "pivoted qr", [&mut own, &mut single, &mut double])?;
        print(line, json!({ "rank": rank }));
        Ok(())
    }

    fn least_squares(&self, shape @ [m, _]: [usize; 2]) -> Result<()> {
        let (a, b) = (self.matrix(shape, 3)?, self.matrix([m, 1], 4)?);
        let mut found = [0.0, 0.0];
        let mut own = || {
            let solution = lstsq(&a.tensor, &b.tensor)?;
            found = [solution.residuals[0], solution.iterations as f64];
            Ok(())
        };
        let mut single = || {
            std::hint::black_box(a.single.qr().solve_lstsq(&b.single));
            Ok(())
        };
        let mut best = 0.0;
        let mut double = || {
            best = (&a.double * a.double.qr().solve_lstsq(&b.double) - &b.double).norm_l2();
            Ok(())
        };
        let line = self.compare("lstsq", shape, "qr", [&mut own, &mut single, &mut double])?;
        print(line, json!({ "iterations": found[1], "error_over_best": found[0] / best }));
        Ok(())
    }

    /// Medians of seconds, timed in turn: ours, and `faer`'s in f32 and f64.
    fn compare(
        &self,
        case: &str,
        [m, n]: [usize; 2],
        baseline: &str,
        mut sides: [&mut dyn FnMut() -> Result<()>; 3],
    ) -> Result<Value> {
        let mut seconds = [const { Vec::new() }; 3];
        sides[0]()?; // compiles
        for _ in 0..self.rounds {
            for (at, side) in sides.iter_mut().enumerate() {
                // Our small factorisations use one thread, as they do in programs without `faer`'s feature.
                faer::set_global_parallelism(if at == 0 { Par::Seq } else { peers_threads() });
                let start = Instant::now();
                side()?;
                seconds[at].push(start.elapsed().as_secs_f64());
            }
        }
        let [own, single, double] =
            seconds.map(|seconds| median(&seconds).expect("one round is timed at least"));
        let caps = self.session.gpu.caps();
        Ok(json!({
            "device": caps.adapter,
            "software": self.session.is_software(),
            "threads": if ALL { std::thread::available_parallelism().map_or(1, usize::from) } else { 1 },
            "case": case, "m": m, "n": n, "rounds": self.rounds, "seconds": own,
            "baseline": format!("faer's {baseline}, {} of the CPU", if ALL { "all threads" } else { "one thread" }),
            "seconds_f32": single, "seconds_f64": double,
            "times_faster_than_f32": single / own, "times_faster_than_f64": double / own,
        }))
    }
}

/// Whether the baseline uses all threads.
const ALL: bool = cfg!(feature = "threads");

fn peers_threads() -> Par {
    #[cfg(feature = "threads")]
    return Par::rayon(0);
    #[cfg(not(feature = "threads"))]
    Par::Seq
}

fn failed(error: impl std::fmt::Debug) -> Error {
    Error::Input { what: "faer".into(), why: format!("{error:?}") }
}

fn print(mut line: Value, extra: Value) {
    if let (Value::Object(line), Value::Object(extra)) = (&mut line, extra) {
        line.extend(extra);
    }
    println!("{line}");
}
