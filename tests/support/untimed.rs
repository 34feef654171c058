//! Capabilities without what is measured anew by each `Gpu`.

use tilewise::Caps;

/// The same capabilities without the speeds of rows.
pub fn untimed(caps: &Caps) -> Caps {
    let mut caps = caps.clone();
    caps.rows.iter_mut().for_each(|row| row.speed = None);
    caps
}
