//! The candidates of a product: the same product, restricted to each of its choices in turn.

use crate::Result;
use crate::caps::Caps;
use crate::gemm::problem::{GemmProblem, Pin, SplitK, Tile};

impl GemmProblem {
    /// The same product, restricted to each choice in turn: a tile and a number of splits, in the order in which the plan
    /// prefers them. The first has the plan of the unrestricted product.
    ///
    /// If a product consists of several products (an f16 split, panels), the first candidate chooses a tile for each of
    /// them. The others have one tile for all.
    ///
    /// # Errors
    /// As [`plan`](crate::plan::Problem::plan).
    pub(crate) fn restricted(&self, caps: &Caps) -> Result<Vec<Self>> {
        if self.elements() == 0 {
            return Ok(vec![*self]);
        }
        let (product, panels) = self.on_device(caps)?;
        if panels.is_none() && !product.is_f16_split() {
            let choice =
                |(tile, splits): (&Tile, u32)| self.pinned(Pin::Tile(*tile)).split_k(SplitK::Splits(splits));
            return Ok(product.ranked(caps)?.into_iter().map(choice).collect());
        }
        let inner = match panels {
            Some(panels) => product.first_panel(&panels)?,
            None => product,
        };
        let inner = if inner.is_f16_split() { inner.f16_products()?.last } else { inner };
        let mut tiles: Vec<Tile> = Vec::new();
        for (tile, _) in inner.ranked(caps)? {
            if !tiles.contains(tile) {
                tiles.push(*tile);
            }
        }
        let pinned = tiles.into_iter().map(|tile| self.pinned(Pin::Tile(tile)));
        Ok(std::iter::once(*self).chain(pinned).collect())
    }
}
