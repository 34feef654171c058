//! The roofline picture: the device's measured peaks as lines, and a point for each row with arithmetic.

use crate::labels::{Labels, Side};
use crate::record::{Row, Run};
use crate::roofline::Peak;
use crate::series::{Series, all_series};
use pictures::plot::{self, Drawn, GREY, MESH, Picture, label, text};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use std::ops::Range;
use support::significant;
use tilewise::Result;

const WIDTH: u32 = 1040;
const MIN_HEIGHT: u32 = 656;
/// Rooms for title, axes and explanation, and for the legend on the right.
const TOP: u32 = 78;
const BOTTOM: u32 = 88;
const LEFT: u32 = 64;
const EDGE: u32 = 8;
const LEGEND: u32 = 330;
/// Height of an entry of the legend: its name and its sizes.
const ENTRY: u32 = 32;
/// Places along a line that its name may have.
const STEPS: i32 = 40;
const SMALL: f64 = 11.0;
const TEXT: f64 = 13.0;
const TITLE: f64 = 16.0;

/// A line of the picture: a peak, from one intensity to another.
struct PeakLine {
    name: String,
    ends: [(f64, f64); 2],
}

/// A row's place in the picture: its intensity, and its speed in GFLOP/s.
fn place(row: &Row) -> (f64, f64) {
    (row.operations() / row.bytes.max(1) as f64, row.operations() / row.spread().median * 1e-9)
}

/// The picture of a run as the text of an SVG file.
pub(crate) fn svg(run: &Run) -> Result<String> {
    let series = all_series(&run.rows);
    let entries = u32::try_from(series.len()).unwrap_or(0) + 2;
    let height = MIN_HEIGHT.max(TOP + ENTRY * entries + BOTTOM - 64);
    plot::svg([WIDTH, height], |picture| draw(picture, height, run, &series))
}

/// The ranges of both axes: everything that is drawn, with room around it.
fn ranges(run: &Run, series: &[Series<'_>]) -> [Range<f64>; 2] {
    let copy = run.peaks.copy;
    let bends = run.used_peaks().into_iter().map(|(_, peak)| (peak / copy, peak * 1e-9));
    let points = series.iter().flat_map(|series| &series.rows).map(|row| place(row));
    let all: Vec<(f64, f64)> = points.chain(bends).collect();
    let range = |of: fn(&(f64, f64)) -> f64, below: f64, above: f64| {
        let least = all.iter().map(of).fold(f64::INFINITY, f64::min);
        least / below..all.iter().map(of).fold(0.0, f64::max) * above
    };
    [range(|at| at.0, 2.5, 4.0), range(|at| at.1, 2.5, 3.0)]
}

/// Peaks closer than this share are one line.
const CLOSE: f64 = 0.03;

/// The peaks that rows use, as far as the axes go.
fn peak_lines(run: &Run, [x, y]: &[Range<f64>; 2]) -> Vec<PeakLine> {
    let copy = run.peaks.copy * 1e-9;
    // Each line: the peaks that it stands for, and where it is.
    let mut level: Vec<(Vec<Peak>, f64)> = Vec::new();
    for (peak, rate) in run.used_peaks() {
        let rate = rate * 1e-9;
        match level.iter_mut().find(|(_, known)| (rate / *known - 1.0).abs() < CLOSE) {
            Some((peaks, known)) => {
                peaks.push(peak);
                *known = known.max(rate);
            }
            None => level.push((vec![peak], rate)),
        }
    }
    let top = level.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    let from = x.start.max(y.start / copy);
    let name = format!("copy: {} GB/s", significant(copy));
    let mut lines = vec![PeakLine { name, ends: [(from, from * copy), (top / copy, top)] }];
    for (peaks, rate) in level {
        let names: Vec<&str> = peaks.iter().map(|peak| peak.measured_by()).collect();
        let unit = if peaks == [Peak::I8] { Peak::I8.unit() } else { Peak::F32.unit() };
        let name = format!("{}: {} {unit}", names.join(", "), significant(rate));
        lines.push(PeakLine { name, ends: [(rate / copy, rate), (x.end, rate)] });
    }
    lines
}

fn draw(picture: &Picture<'_>, height: u32, run: &Run, series: &[Series<'_>]) -> Drawn {
    heading(picture, height, run)?;
    let ranges = ranges(run, series);
    let [x, y] = ranges.clone().map(plot::logarithmic);
    let mut chart = ChartBuilder::on(picture)
        .margin_top(TOP)
        .margin_right(LEGEND)
        .margin_left(EDGE)
        .margin_bottom(BOTTOM - 46)
        .x_label_area_size(46)
        .y_label_area_size(LEFT - EDGE)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(MESH)
        .x_label_formatter(&|value| label(*value))
        .y_label_formatter(&|value| label(*value))
        .label_style(("sans-serif", 14))
        .axis_desc_style(("sans-serif", 15))
        .x_desc("operations per byte that is read or written")
        .y_desc("GFLOP/s; GOP/s of i8")
        .draw()?;
    let pixels = chart.plotting_area().get_pixel_range();
    let mut labels = Labels::within([pixels.0, pixels.1]);
    let lines = peak_lines(run, &ranges);
    for line in &lines {
        chart.draw_series(LineSeries::new(line.ends, BLACK.stroke_width(2)))?;
        let [from, to] = line.ends.map(|end| chart.backend_coord(&end));
        labels.take_line(from, to);
    }
    for series in series {
        let places: Vec<_> = series.rows.iter().map(|row| chart.backend_coord(&place(row))).collect();
        series.path(picture, &places)?;
        places.windows(2).for_each(|ends| labels.take_line(ends[0], ends[1]));
        for at in places {
            series.mark(picture, at)?;
            labels.take_point(at);
        }
    }
    for line in &lines {
        let ends = line.ends.map(|end| chart.backend_coord(&end));
        labels.write(picture, &line.name, &along(ends), TEXT, BLACK)?;
    }
    for series in series {
        for row in &series.rows {
            let at = chart.backend_coord(&place(row));
            labels.write(
                picture,
                &row.marked_size(),
                &Side::ALL.map(|side| (at, side)),
                SMALL,
                series.color,
            )?;
        }
    }
    legend(picture, run, series)
}

/// Places for the name of a line: from the right end of a level line on, and from the lower end of a rising one.
fn along([from, to]: [(i32, i32); 2]) -> Vec<((i32, i32), Side)> {
    let part = |from: i32, to: i32, step: i32| from + (to - from) * step / STEPS;
    (0..STEPS)
        .flat_map(|step| {
            if from.1 == to.1 {
                let at = (part(to.0 - 4, from.0, step), to.1);
                return [(at, Side::AboveLeft), (at, Side::BelowLeft)];
            }
            let at = (part(from.0, to.0, step), part(from.1, to.1, step));
            [(at, Side::BelowRight), (at, Side::AboveLeft)]
        })
        .collect()
}

/// What the picture shows, on which device, and when.
fn heading(picture: &Picture<'_>, height: u32, run: &Run) -> Drawn {
    let title = format!("Roofline of {}", run.device);
    text(picture, &title, [16, 10], TITLE, BLACK, HPos::Left)?;
    let from = format!("{}, {}; tilewise {}, {}", run.backend, run.driver, run.version, run.date);
    text(picture, &from, [16, 32], TEXT, GREY, HPos::Left)?;
    text(picture, &format!("measured peaks: {}", run.peak_rates()), [16, 50], TEXT, GREY, HPos::Left)?;
    let how = "Lines are peaks that the same run measured. A point on a line reaches that peak: left of the bend memory limits \
               an operation, right of it arithmetic does.";
    let top = i32::try_from(height).unwrap_or(0) - 38;
    text(picture, how, [16, top], SMALL, GREY, HPos::Left)?;
    if !run.rows.iter().any(|row| row.turns.in_cache) {
        return Ok(());
    }
    let marked = format!(
        "*: the operands that take turns fit in the device's last cache, {} MiB: memory need not limit them.",
        run.cache_bytes >> 20
    );
    text(picture, &marked, [16, top + 16], SMALL, GREY, HPos::Left)
}

/// The mark, name and sizes of each series, and what is not drawn.
fn legend(picture: &Picture<'_>, run: &Run, series: &[Series<'_>]) -> Drawn {
    let left = i32::try_from(WIDTH - LEGEND).unwrap_or(0) + 24;
    let mut top = i32::try_from(TOP).unwrap_or(0);
    text(picture, "operation, type, kernel; sizes", [left, top], TEXT, BLACK, HPos::Left)?;
    for series in series {
        top += i32::try_from(ENTRY).unwrap_or(0);
        series.mark(picture, (left + 4, top + 6))?;
        text(picture, &series.name, [left + 16, top], TEXT, series.color, HPos::Left)?;
        text(picture, &series.sizes(LEGEND - 48, SMALL), [left + 16, top + 15], SMALL, GREY, HPos::Left)?;
    }
    let mut still: Vec<&str> =
        run.rows.iter().filter(|row| row.operations() == 0.0).map(|row| row.op.as_str()).collect();
    still.dedup();
    if still.is_empty() {
        return Ok(());
    }
    let note = format!("not drawn, without arithmetic: {}", still.join(", "));
    text(picture, &note, [left, top + i32::try_from(ENTRY).unwrap_or(0)], SMALL, GREY, HPos::Left)
}
