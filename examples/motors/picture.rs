//! Draws the path: the cloud in some of its poses, and the path of its origin.

use crate::cloud::Cloud;
use crate::path::Path;
use std::fmt::Write;

const WIDTH: f64 = 700.0;
const HEIGHT: f64 = 440.0;
const MARGIN: f64 = 28.0;
const TOP: f64 = 52.0;
/// Number of poses drawn between two poses of the path.
const BETWEEN: usize = 1;
/// Largest number of points drawn for each pose.
const POINTS: usize = 800;

/// The content of the picture.
pub(crate) struct Picture<'a> {
    pub(crate) path: &'a Path,
    pub(crate) cloud: &'a Cloud,
    /// All points, for every motor.
    pub(crate) followed: &'a [[f64; 3]],
    pub(crate) name: &'a str,
}

/// Projects a point onto the page, as seen from the front, slightly from the left and below.
fn project([x, y, z]: [f64; 3]) -> [f64; 2] {
    [x + 0.3 * z, -0.95 * y - 0.25 * z]
}

/// Maps the drawing to the page: its centre, and one scale for both axes.
struct Paper {
    middle: [f64; 2],
    scale: f64,
}

impl Paper {
    /// The largest scale at which all of these points fit.
    fn around<'a>(points: impl Iterator<Item = &'a [f64; 2]> + Clone) -> Self {
        let range = |axis: usize| {
            let values = points.clone().map(move |p| p[axis]);
            values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)])
        };
        let [[left, right], [above, below]] = [0, 1].map(range);
        let [along, down] = [WIDTH - 2.0 * MARGIN, HEIGHT - TOP - MARGIN];
        let scale = (along / (right - left)).min(down / (below - above));
        Self { middle: [(left + right) / 2.0, (above + below) / 2.0], scale }
    }

    fn place(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let down = TOP + (HEIGHT - TOP - MARGIN) / 2.0;
        [WIDTH / 2.0 + self.scale * (x - self.middle[0]), down + self.scale * (y - self.middle[1])]
    }
}

/// From blue to red.
fn color(along: f64) -> String {
    let mix = |from: f64, to: f64| from + (to - from) * along;
    format!("rgb({:.0},{:.0},{:.0})", mix(40.0, 205.0), mix(95.0, 55.0), mix(185.0, 45.0))
}

impl Picture<'_> {
    /// The cloud after a motor, or before the first.
    fn pose(&self, motor: Option<usize>) -> &[[f64; 3]] {
        let count = self.cloud.points.len();
        motor.map_or(&self.cloud.points, |i| &self.followed[i * count..(i + 1) * count])
    }

    /// Motors whose poses are drawn: those of the path's poses, and some in between.
    fn drawn(&self) -> Vec<Option<usize>> {
        let steps = self.path.steps();
        let each = (1..=self.path.len()).filter(|i| {
            let parts = BETWEEN + 1;
            (i * parts) % steps < parts || i % steps == 0
        });
        std::iter::once(None).chain(each.map(|i| Some(i - 1))).collect()
    }

    /// The picture, as a file's text.
    pub(crate) fn svg(&self) -> String {
        let origin = |i| self.path.isometry(i).translation.vector.into();
        let trace = std::iter::once([0.0; 3]).chain((0..self.path.len()).map(origin));
        let trace: Vec<[f64; 2]> = trace.map(project).collect();
        let poses: Vec<(f64, Vec<[f64; 2]>)> = self.drawn().into_iter().map(|i| self.dots(i)).collect();
        let paper = Paper::around(poses.iter().flat_map(|(_, points)| points).chain(&trace));
        let mut svg = self.head();
        for (along, points) in &poses {
            let dots = points.iter().map(|&p| paper.place(p)).map(|[x, y]| format!("M{x:.1} {y:.1}h0"));
            let (dots, color) = (dots.collect::<String>(), color(*along));
            let _ = writeln!(
                svg,
                "<path d=\"{dots}\" stroke=\"{color}\" stroke-width=\"1.6\" stroke-linecap=\"round\" opacity=\"0.7\"/>"
            );
        }
        let line = trace.iter().map(|&p| paper.place(p)).map(|[x, y]| format!("{x:.1},{y:.1}"));
        let line = line.collect::<Vec<_>>().join(" ");
        let _ =
            writeln!(svg, "<polyline points=\"{line}\" fill=\"none\" stroke=\"#222\" stroke-width=\"1.5\"/>");
        for (pose, &at) in trace.iter().step_by(self.path.steps()).enumerate() {
            let [x, y] = paper.place(at);
            let _ = writeln!(
                svg,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"8\" fill=\"white\" stroke=\"#222\"/>\n\
                 <text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{pose}</text>",
                y + 4.0
            );
        }
        svg + "</svg>\n"
    }

    /// The position of a motor along the path, and the points of the cloud after it.
    fn dots(&self, motor: Option<usize>) -> (f64, Vec<[f64; 2]>) {
        let along = motor.map_or(0.0, |i| (i + 1) as f64 / self.path.len() as f64);
        let points = self.pose(motor);
        let step = points.len().div_ceil(POINTS);
        (along, points.iter().step_by(step).copied().map(project).collect())
    }

    fn head(&self) -> String {
        let (motors, name) = (self.path.len(), self.name.replace('&', "&amp;").replace('<', "&lt;"));
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
             <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
             <text x=\"{MARGIN}\" y=\"20\" font-size=\"14\">The path of {name} along {motors} motors</text>\n\
             <text x=\"{MARGIN}\" y=\"37\" fill=\"#555\">screws between the numbered poses, from blue to red; the line is the path of the origin</text>\n"
        )
    }
}
