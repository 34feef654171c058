//! Moves a cloud of points along a path of motors, and compares every pose with nalgebra's isometries in f64.
//!
//! ```sh
//! cargo run --release --example motors
//! cargo run --release --example motors -- --points cloud.npy --out moved.npy --svg path.svg
//! cargo run --release --example motors -- --steps 100 --seed 7 --json
//! ```
//! The path goes through five poses, by a screw of constant speed from each pose to the next, in `--steps` motors each.
//! One launch applies every motor to some thousand points. The last motor also moves the whole cloud, which is timed and
//! written. The exit status is 0 only if every point is within 80 ulp of f32 of the point to which the isometry takes it:
//! 64 ulp for the path and 16 for the motion.

mod cloud;
mod path;
mod picture;
mod report;

use bench::peak::Copier;
use clap::Parser;
use cloud::Cloud;
use nalgebra::Point3;
use path::Path;
use picture::Picture;
use report::Report;
use std::path::PathBuf;
use std::process::ExitCode;
use support::reported;
use tilewise::clifford::Multivectors;
use tilewise::io::write_npy_slice;
use tilewise::{Element, Error, Gpu, Result};

/// Largest number of points that every motor moves.
const FOLLOWED: usize = 2048;
/// Number of timed runs, of which the median is reported.
const RUNS: usize = 9;
/// Largest error of a point, in ulp of its own length plus the path's.
const ULPS: f64 = 80.0;

/// Moves a cloud of points along a path of motors, and compares every pose with nalgebra's isometries.
#[derive(Parser)]
struct Args {
    /// The cloud: a `.npy` file of n x 3, f32 or f64; without one, a knot of 2,400 points
    #[arg(long)]
    points: Option<PathBuf>,
    /// Writes the cloud in its last pose into this `.npy` file, n x 3 of f32
    #[arg(long)]
    out: Option<PathBuf>,
    /// Draws the path into this file
    #[arg(long)]
    svg: Option<PathBuf>,
    /// Number of motors from each of the five poses to the next
    #[arg(long, default_value_t = 32)]
    steps: usize,
    /// The seed of the poses, and of the cloud if there is no file
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Prints one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    reported(run(&args), args.json, Report::json, Report::ok)
}

fn run(args: &Args) -> Result<Report> {
    if args.steps == 0 {
        let why = "must be at least 1, the number of motors from each pose to the next; got 0".into();
        return Err(Error::Input { what: "--steps".into(), why });
    }
    let cloud = match &args.points {
        Some(file) => Cloud::read(file)?,
        None => Cloud::knot(args.seed),
    };
    let gpu = Gpu::open()?;
    let path = Path::new(cloud.radius(), args.steps, args.seed)?;
    let motors = path.motors(&gpu)?;
    let points = cloud.on_device(&gpu)?;
    let count = path.len();

    let few = cloud.some(FOLLOWED);
    let all_motors = motors.tensor().reshape([motors.blades().len(), count, 1])?;
    let all_motors = Multivectors::new(all_motors, motors.blades(), motors.axis())?;
    let followed = cloud::coordinates(&all_motors.sandwich(&few.on_device_across(&gpu)?)?)?;
    let last = motors.tensor().slice(1, count - 1..)?;
    let last = Multivectors::new(last, motors.blades(), motors.axis())?;
    let moved = cloud::coordinates(&last.sandwich(&points)?)?;
    let of_some = worst(&few.points, &followed, &path, 0);
    let of_all = worst(&cloud.points, &moved, &path, count - 1);
    let [seconds, copy_seconds] = seconds(&gpu, &last, &points)?;
    if let Some(file) = &args.svg {
        let picture = Picture { path: &path, cloud: &few, followed: &followed, name: &cloud.name };
        let written = std::fs::write(file, picture.svg());
        written.map_err(|e| refuse(file, format!("cannot be written: {e}")))?;
    }
    if let Some(file) = &args.out {
        let elements: Vec<f32> = moved.iter().flatten().map(|&x| f32::from_f64(x)).collect();
        write_npy_slice(file, [moved.len(), 3], &elements)?;
    }
    Ok(Report {
        device: gpu.caps().adapter.clone(),
        cloud: cloud.name,
        points: cloud.points.len(),
        motors: count,
        bound_ratio: of_some.max(of_all),
        seconds,
        copy_seconds,
        plan: last.plan_sandwich(&points)?,
    })
}

fn refuse(path: &std::path::Path, why: String) -> Error {
    Error::Input { what: path.display().to_string(), why }
}

/// The largest error of a point over its bound. The motors of the path, starting at `first`, each moved all points.
fn worst(points: &[[f64; 3]], moved: &[[f64; 3]], path: &Path, first: usize) -> f64 {
    let reach = path.reach();
    let off = |(i, found): (usize, &[f64; 3])| {
        let p = Point3::from(points[i % points.len()]);
        let want = path.isometry(first + i / points.len()) * p;
        let bound = ULPS * f64::from(f32::EPSILON) * (p.coords.norm() + reach);
        (Point3::from(*found) - want).norm() / bound
    };
    let nan_is_worst = |x: f64| if x.is_nan() { f64::INFINITY } else { x };
    moved.iter().enumerate().map(off).map(nan_is_worst).fold(0.0, f64::max)
}

/// Median seconds of one motor for all points and of a copy of as many bytes, measured in alternation.
fn seconds(gpu: &Gpu, motor: &Multivectors<f32>, points: &Multivectors<f32>) -> Result<[f64; 2]> {
    let bytes = 4 * points.tensor().len() as u64;
    let copier = Copier::new(gpu, bytes.next_multiple_of(1024));
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..RUNS {
        times[0].push(gpu.time(|| motor.sandwich(points).map(drop))?.1.seconds);
        times[1].push(copier.seconds(gpu));
    }
    Ok(times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[RUNS / 2]
    }))
}
