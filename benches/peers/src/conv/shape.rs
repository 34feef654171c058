//! The convolutions that are measured: a list in a file.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The list.
const LIST: &str = include_str!("../../convolutions.txt");

/// A convolution of square kernels, with dilation 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Shape {
    pub(crate) name: String,
    pub(crate) batch: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) channels: usize,
    pub(crate) outputs: usize,
    /// Rows and columns of the kernel.
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    /// On all four sides.
    pub(crate) padding: usize,
    pub(crate) groups: usize,
}

/// All convolutions of the list.
pub(crate) fn all() -> Vec<Shape> {
    let lines = LIST.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines.filter_map(Shape::parse).collect()
}

impl Shape {
    fn parse(line: &str) -> Option<Self> {
        let (name, extents) = line.split_once(char::is_whitespace)?;
        let extents: Vec<usize> =
            extents.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        let [batch, height, width, channels, outputs, kernel, stride, padding, groups] = extents[..] else {
            return None;
        };
        let name = name.into();
        Some(Self { name, batch, height, width, channels, outputs, kernel, stride, padding, groups })
    }

    /// Images: (batch, height, width, channels).
    pub(crate) fn x(&self) -> [usize; 4] {
        [self.batch, self.height, self.width, self.channels]
    }

    /// The weight: (outputs, rows, columns, channels of a group).
    pub(crate) fn weight(&self) -> [usize; 4] {
        [self.outputs, self.kernel, self.kernel, self.channels / self.groups]
    }

    /// The result: (batch, height, width, outputs).
    pub(crate) fn y(&self) -> [usize; 4] {
        let extent = |input: usize| (input + 2 * self.padding - self.kernel) / self.stride + 1;
        [self.batch, extent(self.height), extent(self.width), self.outputs]
    }

    pub(crate) fn is_depthwise(&self) -> bool {
        self.groups == self.channels && self.groups == self.outputs
    }

    /// Products of one sum.
    pub(crate) fn terms(&self) -> usize {
        self.weight()[1..].iter().product()
    }

    /// Floating-point operations, those with the padding included.
    pub(crate) fn flops(&self) -> f64 {
        2.0 * self.y().iter().product::<usize>() as f64 * self.terms() as f64
    }

    /// Place in the list.
    pub(crate) fn place(&self) -> usize {
        all().iter().position(|other| other.name == self.name).unwrap_or(usize::MAX)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = all().into_iter().find(|shape| shape.name == name);
        found.ok_or_else(|| format!("`{name}` is not in convolutions.txt"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_nine_convolutions_and_a_depthwise_one() {
        let all = all();
        let lines = LIST.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!((all.len(), lines), (10, 10));
        assert_eq!(all.iter().filter(|shape| shape.name.starts_with("resnet-")).count(), 6);
        assert_eq!(all.iter().filter(|shape| shape.name.starts_with("unet-")).count(), 3);
        assert_eq!(all.iter().filter(|shape| shape.is_depthwise()).count(), 1);
        assert!(all.iter().all(|shape| shape.name.parse() == Ok(shape.clone())));
        assert!("resnet".parse::<Shape>().is_err());
    }

    #[test]
    fn a_strided_convolution_has_its_extents() -> Result<(), String> {
        let shape: Shape = "resnet-7x7-s2-3-64".parse()?;
        assert_eq!(shape.y(), [1, 112, 112, 64]);
        assert_eq!((shape.weight(), shape.terms()), ([64, 7, 7, 3], 147));
        assert!((shape.flops() - 2.0 * 112.0 * 112.0 * 64.0 * 147.0).abs() < 0.5);
        Ok(())
    }
}
