//! The files that kernels include.

use std::collections::BTreeSet;
use tilewise::planning::kernel::{INCLUDES, Include};

/// Every include: files of functions and declarations, and each variant of the files that fill slots.
pub fn every() -> BTreeSet<Include> {
    let of_file = |(name, text): &(&'static str, &'static str)| {
        let variants: Vec<Include> = text
            .lines()
            .filter_map(|line| line.strip_prefix("//#variant "))
            .map(|variant| (*name, Some(variant)))
            .collect();
        if variants.is_empty() { vec![(*name, None)] } else { variants }
    };
    INCLUDES.iter().flat_map(of_file).collect()
}
