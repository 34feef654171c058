//! Modules of SPIR-V: damaged ones are refused, never a panic, and a parameter changes its own words alone.

use tilewise::planning::kernel::{MODULES, module_needs, specialized};

pub(crate) fn module(data: &[u8]) {
    let Ok(plain) = specialized(data, &[]) else { return };
    assert_eq!(plain.len() * 4, data.len());
    // Both may be refused: the size of a workgroup may be unknown.
    _ = module_needs(&plain);
    if let Ok(set) = specialized(data, &[("SUBGROUP", 0x5a5a)]) {
        let changed = plain.iter().zip(&set).filter(|(before, after)| before != after);
        assert!(changed.clone().all(|(_, after)| *after == 0x5a5a), "a word that is no literal has changed");
        _ = module_needs(&set);
    }
}

pub(crate) fn seeds() -> Vec<Vec<u8>> {
    MODULES.iter().map(|(_, bytes)| bytes.to_vec()).collect()
}
