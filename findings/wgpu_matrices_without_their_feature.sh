#!/usr/bin/env bash
# wgpu 30 lists cooperative matrices where the driver has sizes of them, but not the Vulkan feature.
#
# Guess: an adapter that lists `wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX` has the Vulkan feature `cooperativeMatrix`.
# Seen: wgpu-hal lists it where vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR gives sizes and the memory model has the scope of
# the device. It fetches VkPhysicalDeviceCooperativeMatrixFeaturesKHR, too, and does not look at the bit: line 1093 and those below
# in `src/vulkan/adapter.rs`. Mesa's lavapipe lists the extension and sizes with vectors of 128 bits and with those of 256. The bit
# is false with 128, which is the default on CPUs of Arm and on x86 without AVX, and true with 256.
# What follows, and is not done here: a program that requests all features of its adapter gets VK_ERROR_FEATURE_NOT_PRESENT from the
# driver. For that wgpu-hal returns no error, but ends the program with a panic about a usage error.
# What helps: to ask the driver for the bit, as this program does, before the feature is requested.
#
# Versions: wgpu 30.0.2, wgpu-hal 30.0.2, ash 0.38.0 and pollster 1.0.3 of crates.io; mesa-vulkan-drivers 26.1.6-1~bpo13+1 of Debian
# 13's backports, with LLVM 19 of Debian 13. Run on Debian 12, x86-64 with AVX2, with Rust 1.95. It printed:
#   driver: Mesa 26.1.6-1~bpo13+1 (LLVM 19.1.7)
#   vectors of 128 bits: extension true, sizes 2, listed by wgpu true, bit false
#   vectors of 256 bits: extension true, sizes 2, listed by wgpu true, bit true
# Passes where this is what happens, and fails where it has changed.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# The packages of a newer Debian, out of the archive that this machine uses: apt works in this folder and installs nothing.
uris=$(apt-get update --print-uris)
archive=$(sed -n "s|^'\(.*/debian/\)dists/[^/]*/InRelease'.*|\1|p" <<<"$uris" | sort -u | sed -n 1p)
if [ -z "$archive" ]; then
    echo "no Debian archive among the sources of apt" >&2
    exit 1
fi
mkdir -p apt/lists/partial apt/archives/partial root
touch apt/status
for suite in trixie trixie-backports; do
    echo "deb [arch=amd64 signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $suite main"
done >apt/sources.list
cat >apt/apt.conf <<END
#clear APT::Update;
#clear APT::Default-Release;
Dir::State "$work/apt";
Dir::State::lists "$work/apt/lists";
Dir::State::status "$work/apt/status";
Dir::Cache "$work/apt";
Dir::Cache::archives "$work/apt/archives";
Dir::Etc::sourcelist "$work/apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::Log "$work/apt";
APT::Architecture "amd64";
APT::Install-Recommends "false";
APT::Sandbox::User "$(id -un)";
APT::Update::Error-Mode "any";
Acquire::Languages "none";
END
apt-get -qq -c apt/apt.conf update
apt-get -qq -c apt/apt.conf install --yes --download-only mesa-vulkan-drivers=26.1.6-1~bpo13+1 libvulkan1 >/dev/null
for package in apt/archives/*.deb; do
    dpkg -x "$package" root
done
libraries=$work/root/usr/lib/x86_64-linux-gnu
printf '{"file_format_version": "1.0.0", "ICD": {"api_version": "1.4.0", "library_path": "%s"}}\n' \
    "$libraries/libvulkan_lvp.so" >driver.json

cargo init --quiet --vcs none --name asking
cat >>Cargo.toml <<'END'
ash = "=0.38.0"
pollster = "=1.0.3"
wgpu = { version = "=30.0.2", default-features = false, features = ["std", "vulkan"] }
wgpu-hal = { version = "=30.0.2", default-features = false } # wgpu alone would take a newer one
END
cat >src/main.rs <<'END'
use ash::{khr, vk};

fn main() {
    let mut wanted = wgpu::InstanceDescriptor::new_without_display_handle();
    wanted.backends = wgpu::Backends::VULKAN;
    wanted.flags = wgpu::InstanceFlags::empty();
    let instance = wgpu::Instance::new(wanted);
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::VULKAN));
    let [adapter] = adapters.as_slice() else {
        eprintln!("{} adapters where one was expected", adapters.len());
        std::process::exit(2);
    };
    let listed = adapter.features().contains(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX);
    let rows = adapter.cooperative_matrix_properties().len();

    // SAFETY: the adapter keeps the instance and the physical device alive, and nothing of them is destroyed.
    let (extension, bit) = unsafe {
        let adapter = adapter.as_hal::<wgpu::hal::api::Vulkan>().expect("an adapter of Vulkan");
        let vulkan = adapter.shared_instance().raw_instance();
        let device = adapter.raw_physical_device();
        let extensions = vulkan.enumerate_device_extension_properties(device).expect("the extensions");
        let mut matrices = vk::PhysicalDeviceCooperativeMatrixFeaturesKHR::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut matrices);
        vulkan.get_physical_device_features2(device, &mut features);
        let name = Ok(khr::cooperative_matrix::NAME);
        (extensions.iter().any(|one| one.extension_name_as_c_str() == name), matrices.cooperative_matrix != 0)
    };
    if std::env::args().nth(1).as_deref() == Some("driver") {
        println!("driver: {}", adapter.get_info().driver_info);
    } else {
        println!("extension {extension}, sizes {rows}, listed by wgpu {listed}, bit {bit}");
    }
}
END
cargo build --quiet --target-dir target

# Runs the program with vectors of a width, in bits.
# NOTE: the driver wants a newer C library than Debian 12 has, so the program runs under the one that came with it.
ask() {
    VK_DRIVER_FILES=$work/driver.json VK_LOADER_LAYERS_DISABLE='~implicit~' LP_NATIVE_VECTOR_WIDTH=$1 \
        "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries" target/debug/asking "${@:2}"
}

changed=0
# The width of the vectors, and the bit that was seen.
try() {
    local width=$1 bit=$2 printed
    printed=$(ask "$width")
    echo "vectors of $width bits: $printed"
    if ! grep -qxE "extension true, sizes [1-9][0-9]*, listed by wgpu true, bit $bit" <<<"$printed"; then
        changed=1
    fi
}

ask 128 driver
try 128 false
try 256 true
if [ "$changed" = 1 ]; then
    echo "changed: not what was seen" >&2
    exit 1
fi
echo "as seen: wgpu lists the feature, whether the driver has it or not"
