//! Versions of the peers, out of this package's lock file.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The lock file with which this program was built.
const LOCK: &str = include_str!("../Cargo.lock");
/// The packages whose versions matter.
const PACKAGES: [&str; 6] = ["cubecl", "cubek-convolution", "cubek-matmul", "gemm", "tilewise", "wgpu"];

#[derive(Deserialize)]
struct Lock {
    package: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    version: String,
}

/// The versions by the names of the packages.
pub(crate) fn versions() -> BTreeMap<String, String> {
    let lock: Result<Lock, _> = toml::from_str(LOCK);
    let packages = lock.map_or_else(|_| Vec::new(), |lock| lock.package);
    let wanted = |package: &Package| PACKAGES.contains(&package.name.as_str());
    packages.into_iter().filter(wanted).map(|package| (package.name, package.version)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_has_every_peer() {
        let versions = versions();
        assert_eq!(versions.keys().collect::<Vec<_>>(), PACKAGES.iter().collect::<Vec<_>>());
        assert!(versions["cubek-matmul"].starts_with("0.4."));
    }
}
