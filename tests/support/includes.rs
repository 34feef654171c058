//! What kernels are made of beside their own files.

use std::collections::BTreeSet;
use tilewise::planning::kernel::{INCLUDES, Include};

/// Every part: files of functions, declarations or statements, and each variant of the files of slots.
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
