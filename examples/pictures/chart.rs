//! Charts of curves, as SVG.

use super::plot::{self, Drawn, Picture, label, text};
use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::HPos;
use std::ops::Range;
use tilewise::Result;

const WIDTH: u32 = 640;
const HEIGHT: u32 = 400;
/// Rooms for the labels of the axes, and for title and subtitle.
const LEFT: u32 = 64;
const BOTTOM: u32 = 48;
const TOP: u32 = 44;
const RIGHT: u32 = 16;
/// Left of the label of the vertical axis.
const EDGE: u32 = 8;

/// The scale of an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Linear, starting at 0.
    Linear,
    /// Logarithmic.
    Logarithmic,
}

/// The style of a curve.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    Line,
    Dots,
    Both,
}

/// A curve and its name.
pub struct Curve {
    pub name: String,
    pub color: RGBColor,
    pub mark: Mark,
    pub points: Vec<[f64; 2]>,
}

/// A chart of curves.
pub struct Chart {
    pub title: String,
    pub subtitle: String,
    /// The labels of both axes.
    pub labels: [String; 2],
    pub scales: [Scale; 2],
    pub curves: Vec<Curve>,
}

impl Chart {
    /// The chart as the text of an SVG file.
    pub fn svg(&self) -> Result<String> {
        plot::svg([WIDTH, HEIGHT], |picture| {
            let [x, y] = [self.range(0), self.range(1)];
            let log = |range: &Range<f64>| plot::logarithmic(range.clone());
            match self.scales {
                [Scale::Linear, Scale::Linear] => self.draw(picture, x, y),
                [Scale::Linear, Scale::Logarithmic] => self.draw(picture, x, log(&y)),
                [Scale::Logarithmic, Scale::Linear] => self.draw(picture, log(&x), y),
                [Scale::Logarithmic, Scale::Logarithmic] => self.draw(picture, log(&x), log(&y)),
            }
        })
    }

    /// The range of an axis for all points, with a small margin.
    fn range(&self, axis: usize) -> Range<f64> {
        let values = || self.curves.iter().flat_map(move |c| c.points.iter().map(move |p| p[axis]));
        let largest = values().fold(0.0, f64::max);
        // Of nothing but zeros, an axis of some length.
        let largest = if largest > 0.0 { largest } else { 1.0 };
        match self.scales[axis] {
            Scale::Linear => 0.0..largest * 1.04,
            Scale::Logarithmic => {
                // Values that are only rounding errors, relative to the largest, would fill the chart.
                let least = values().map(|value| value.max(1e-8 * largest)).fold(largest, f64::min);
                least / 1.12..largest * 1.12
            }
        }
    }

    fn draw<X, Y>(&self, picture: &Picture<'_>, x: X, y: Y) -> Drawn
    where
        X: AsRangedCoord<Value = f64>,
        Y: AsRangedCoord<Value = f64>,
        X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
        Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    {
        let [left, top] = [LEFT, TOP].map(u32::cast_signed);
        text(picture, &self.title, [left, 6], 14.0, BLACK, HPos::Left)?;
        text(picture, &self.subtitle, [left, 25], 12.0, plot::GREY, HPos::Left)?;
        let mut chart = ChartBuilder::on(picture)
            .margin_top(top)
            .margin_right(RIGHT)
            .margin_left(EDGE)
            .x_label_area_size(BOTTOM)
            .y_label_area_size(LEFT - EDGE)
            .build_cartesian_2d(x, y)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .light_line_style(TRANSPARENT)
            .bold_line_style(plot::MESH)
            .x_label_formatter(&|value| label(*value))
            .y_label_formatter(&|value| label(*value))
            .label_style(("sans-serif", 14))
            .axis_desc_style(("sans-serif", 15))
            .x_desc(self.labels[0].as_str())
            .y_desc(self.labels[1].as_str())
            .draw()?;
        let (mut drawn, least) = (Vec::new(), [self.range(0).start, self.range(1).start]);
        for curve in &self.curves {
            // A logarithmic axis has no zero: what is too small for it is drawn at its end.
            let points = || curve.points.iter().map(|&[x, y]| (x.max(least[0]), y.max(least[1])));
            if curve.mark != Mark::Dots {
                chart.draw_series(LineSeries::new(points(), curve.color.stroke_width(2)))?;
            }
            if curve.mark != Mark::Line {
                chart.draw_series(points().map(|at| Circle::new(at, 3, curve.color.filled())))?;
            }
            drawn.extend(points().map(|at| chart.backend_coord(&at)));
        }
        self.legend(picture, &drawn)
    }

    /// The names of the curves, in their colours, on the right: as high as the curves leave room.
    fn legend(&self, picture: &DrawingArea<SVGBackend<'_>, Shift>, drawn: &[(i32, i32)]) -> Drawn {
        let [right, bottom, top] = [WIDTH - RIGHT - 8, HEIGHT - BOTTOM, TOP].map(u32::cast_signed);
        let names = self.curves.iter().map(|curve| plot::width(&curve.name, 12.0));
        let width = names.max().unwrap_or(0) + 8;
        let height = 16 * i32::try_from(self.curves.len()).unwrap_or(0) + 8;
        let is_free =
            |&from: &i32| !drawn.iter().any(|&(x, y)| x > right - width && y > from && y < from + height);
        let from = (top..bottom - height).step_by(8).find(is_free).unwrap_or(top);
        for (curve, at) in self.curves.iter().zip((from + 6..).step_by(16)) {
            text(picture, &curve.name, [right, at], 12.0, curve.color, HPos::Right)?;
        }
        Ok(())
    }
}
