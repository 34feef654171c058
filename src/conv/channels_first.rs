//! Images that are stored channels first, at the border of a network.

use crate::error::call;
use crate::layout::Element;
use crate::plan::Plan;
use crate::tensor::Tensor;
use crate::{Error, Result};

/// Images stored channels first, (batch, channels, height, width), as `PyTorch` stores them by default. Convert them once, before the
/// first layer: convolutions read a permuted view in place too, but then their loads are of single elements.
/// ```
/// # fn main() -> tilewise::Result<()> {
/// # let Ok(gpu) = tilewise::Gpu::open() else { return Ok(()) };
/// use tilewise::conv::ChannelsFirst;
///
/// let x = gpu.tensor(&[1.0f32, 2.0, 3.0, 10.0, 20.0, 30.0], [1, 2, 1, 3])?; // two channels of three pixels
/// let images = ChannelsFirst::new(&x);
/// println!("{}", images.plan()?.expect("a copy")); // bytes and predicted time
/// let copies = gpu.stats().launches;
/// let last = images.to_channels_last()?;
/// assert_eq!(gpu.stats().launches - copies, 1);
/// assert_eq!(last.to_vec()?, [1.0, 10.0, 2.0, 20.0, 3.0, 30.0]); // (1, 1, 3, 2)
/// let first = ChannelsFirst::from_channels_last(&last)?; // behind the last layer
/// assert_eq!(first.to_vec()?, x.to_vec()?);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ChannelsFirst<'a, T: Element>(&'a Tensor<T>);

impl<'a, T: Element> ChannelsFirst<'a, T> {
    /// Images (batch, channels, height, width), with any strides.
    #[must_use]
    pub fn new(images: &'a Tensor<T>) -> Self {
        Self(images)
    }

    /// The images channels last: a view if the elements are in that order already, such as those of one channel, otherwise a copy.
    ///
    /// # Shapes
    /// (batch, channels, height, width) -> (batch, height, width, channels).
    /// # Errors
    /// [`Error::Shape`] if the images do not have four axes; otherwise as [`Tensor::contiguous`].
    /// # Launches
    /// One, or none for a view.
    pub fn to_channels_last(&self) -> Result<Tensor<T>> {
        call("ChannelsFirst::to_channels_last", || self.view()?.contiguous())
    }

    /// The plan of the copy: its bytes and its predicted time. `None` if nothing is copied.
    ///
    /// # Errors
    /// As [`to_channels_last`](Self::to_channels_last).
    pub fn plan(&self) -> Result<Option<Plan>> {
        call("ChannelsFirst::plan", || self.view()?.contiguous_plan())
    }

    /// Images channels last as a tensor channels first, behind the last layer.
    ///
    /// # Shapes
    /// (batch, height, width, channels) -> (batch, channels, height, width).
    /// # Errors
    /// As [`to_channels_last`](Self::to_channels_last).
    /// # Launches
    /// As [`to_channels_last`](Self::to_channels_last).
    pub fn from_channels_last(images: &Tensor<T>) -> Result<Tensor<T>> {
        call("ChannelsFirst::from_channels_last", || {
            permuted(images, [0, 3, 1, 2], "images must have the axes (batch, height, width, channels)")?
                .contiguous()
        })
    }

    fn view(&self) -> Result<Tensor<T>> {
        permuted(self.0, [0, 2, 3, 1], "images must have the axes (batch, channels, height, width)")
    }
}

fn permuted<T: Element>(images: &Tensor<T>, order: [usize; 4], axes: &'static str) -> Result<Tensor<T>> {
    if images.shape().len() == 4 {
        return images.permute(&order);
    }
    Err(Error::shape("ChannelsFirst", axes, images.shape()))
}
