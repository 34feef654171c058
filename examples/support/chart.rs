//! Charts of curves, as SVG.

use super::significant;
use std::fmt::Write;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 48.0;

/// The scale of an axis.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// Linear, starting at 0.
    Linear,
    /// Logarithmic.
    Logarithmic,
}

/// The style of a curve.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Line,
    Dots,
    Both,
}

/// A curve and its name.
pub(crate) struct Curve {
    pub(crate) name: String,
    pub(crate) color: &'static str,
    pub(crate) mark: Mark,
    pub(crate) points: Vec<[f64; 2]>,
}

/// A chart of curves.
pub(crate) struct Chart {
    pub(crate) title: String,
    pub(crate) subtitle: String,
    /// The labels of both axes.
    pub(crate) labels: [String; 2],
    pub(crate) scales: [Scale; 2],
    pub(crate) curves: Vec<Curve>,
}

/// One axis: its scale and its range.
struct Axis {
    scale: Scale,
    from: f64,
    to: f64,
}

impl Axis {
    /// An axis for all these values, with a small margin above and below.
    fn of(scale: Scale, values: impl Iterator<Item = f64> + Clone) -> Self {
        let largest = values.clone().fold(f64::MIN_POSITIVE, f64::max);
        let [from, to] = match scale {
            Scale::Linear => [0.0, largest * 1.04],
            Scale::Logarithmic => {
                // Values that are only rounding errors, relative to the largest, would fill the chart.
                let least = values.map(|value| value.max(1e-8 * largest)).fold(largest, f64::min);
                [least / 1.12, largest * 1.12]
            }
        };
        Self { scale, from, to }
    }

    /// The position of a value along the axis, between 0 and 1.
    fn place(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => (value - self.from) / (self.to - self.from),
            Scale::Logarithmic => (value.max(self.from) / self.from).ln() / (self.to / self.from).ln(),
        }
    }

    /// The values that get a label.
    fn ticks(&self) -> Vec<f64> {
        match self.scale {
            Scale::Linear => {
                let rough = self.to / 5.0;
                let decade = 10f64.powf(rough.log10().floor());
                let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * decade).into_iter().find(|&step| step >= rough);
                let step = step.unwrap_or(rough);
                (0..=10).map(|i| f64::from(i) * step).take_while(|&value| value <= self.to).collect()
            }
            Scale::Logarithmic => {
                // Decades, and 2 and 5 of each decade if there are few.
                let within: &[f64] = if self.to / self.from > 1e3 { &[1.0] } else { &[1.0, 2.0, 5.0] };
                let first = self.from.log10().floor();
                let decades =
                    (0..=40).map(|i| 10f64.powf(first + f64::from(i))).take_while(|&d| d <= self.to);
                let values = decades.flat_map(|decade| within.iter().map(move |factor| factor * decade));
                values.filter(|value| (self.from..=self.to).contains(value)).collect()
            }
        }
    }
}

/// A label: `1500`, `0.05`, `1e-6`.
fn label(value: f64) -> String {
    if value == 0.0 || (1e-3..1e7).contains(&value) {
        let text = significant(value);
        return if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').into()
        } else {
            text
        };
    }
    format!("{value:.0e}")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

impl Chart {
    /// The chart as the text of an SVG file.
    pub(crate) fn svg(&self) -> String {
        let values =
            |axis: usize| self.curves.iter().flat_map(move |c| c.points.iter().map(move |p| p[axis]));
        let (along, up) = (Axis::of(self.scales[0], values(0)), Axis::of(self.scales[1], values(1)));
        let x = |value: f64| LEFT + (WIDTH - LEFT - RIGHT) * along.place(value);
        let y = |value: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * up.place(value);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{LEFT}\" y=\"18\" font-size=\"14\">{}</text>\n\
             <text x=\"{LEFT}\" y=\"35\" fill=\"#555\">{}</text>\n",
            escaped(&self.title),
            escaped(&self.subtitle),
        );
        for value in up.ticks() {
            let at = y(value);
            let (right, text, below) = (WIDTH - RIGHT, LEFT - 6.0, at + 4.0);
            let _ = writeln!(
                svg,
                "<path d=\"M{LEFT} {at:.1}H{right}\" stroke=\"#ddd\"/><text x=\"{text}\" y=\"{below:.1}\" text-anchor=\"end\">{}</text>",
                label(value)
            );
        }
        for value in along.ticks() {
            let (at, below) = (x(value), HEIGHT - BOTTOM + 18.0);
            let _ = writeln!(
                svg,
                "<text x=\"{at:.1}\" y=\"{below}\" text-anchor=\"middle\">{}</text>",
                label(value)
            );
        }
        let (middle, below) = ((WIDTH + LEFT) / 2.0, HEIGHT - 10.0);
        let _ = writeln!(
            svg,
            "<text x=\"{middle}\" y=\"{below}\" text-anchor=\"middle\">{}</text>",
            escaped(&self.labels[0])
        );
        let (middle, left) = ((HEIGHT - BOTTOM + TOP) / 2.0, 14.0);
        let _ = writeln!(
            svg,
            "<text x=\"{left}\" y=\"{middle}\" text-anchor=\"middle\" transform=\"rotate(-90 {left} {middle})\">{}</text>",
            escaped(&self.labels[1])
        );
        for curve in &self.curves {
            let color = curve.color;
            if curve.mark != Mark::Dots {
                let points: Vec<String> =
                    curve.points.iter().map(|&[a, b]| format!("{:.1},{:.1}", x(a), y(b))).collect();
                let points = points.join(" ");
                let _ = writeln!(
                    svg,
                    "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"1.5\"/>"
                );
            }
            for &[a, b] in curve.points.iter().filter(|_| curve.mark != Mark::Line) {
                let _ = writeln!(
                    svg,
                    "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\" fill=\"{color}\"/>",
                    x(a),
                    y(b)
                );
            }
        }
        let drawn = self.curves.iter().flat_map(|c| &c.points).map(|&[a, b]| [x(a), y(b)]);
        svg + &self.legend(drawn.collect()) + "</svg>\n"
    }

    /// The names of the curves, in their colours, on the right: as high as the curves leave room.
    fn legend(&self, drawn: Vec<[f64; 2]>) -> String {
        let longest = self.curves.iter().map(|curve| curve.name.len()).max().unwrap_or(0);
        let [width, height] = [8.0 + 7.0 * longest as f64, 8.0 + 16.0 * self.curves.len() as f64];
        let is_free = |&top: &f64| {
            let is_there = |&[x, y]: &[f64; 2]| x > WIDTH - RIGHT - width && y > top && y < top + height;
            !drawn.iter().any(is_there)
        };
        let places = (0..).map(|i| TOP + 8.0 * f64::from(i)).take_while(|top| top + height < HEIGHT - BOTTOM);
        let top = places.into_iter().find(is_free).unwrap_or(TOP);
        let mut svg = String::new();
        for (i, curve) in self.curves.iter().enumerate() {
            let (right, at) = (WIDTH - RIGHT - 8.0, top + 16.0 + 16.0 * i as f64);
            let _ = writeln!(
                svg,
                "<text x=\"{right}\" y=\"{at}\" text-anchor=\"end\" fill=\"{}\">{}</text>",
                curve.color,
                escaped(&curve.name)
            );
        }
        svg
    }
}
