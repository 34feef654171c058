//! The cache of keys and values: it grows in place.

use support::operand::bits;
use tilewise::attention::KeyValueCache;
use tilewise::{Fill, Gpu, Real, Tensor};

/// Keys and values (batch, heads, length, dim).
fn part<T: Real>(gpu: &Gpu, length: usize, seed: u64) -> [Tensor<T>; 2] {
    [0, 1].map(|of| gpu.random([2, 3, length, 5], Fill::Uniform, 2 * seed + of).unwrap())
}

#[test]
fn a_cache_holds_what_was_appended_to_the_bit() {
    fn check<T: Real>(gpu: &Gpu) {
        let mut cache = KeyValueCache::<T>::new(gpu, [2, 3, 12, 5]).unwrap();
        assert_eq!((cache.len(), cache.capacity(), cache.is_empty()), (0, 12, true));
        assert_eq!(cache.keys().unwrap().shape(), [2, 3, 0, 5]);
        let mut parts: [Vec<Tensor<T>>; 2] = [Vec::new(), Vec::new()];
        for (seed, length) in [3, 1, 1, 4, 0, 3].into_iter().enumerate() {
            let [keys, values] = part::<T>(gpu, length, seed as u64);
            cache.append(&keys, &values).unwrap();
            parts[0].push(keys);
            parts[1].push(values);
            for (parts, found) in parts.iter().zip([cache.keys().unwrap(), cache.values().unwrap()]) {
                let want = tilewise::ops::concat(&parts.iter().collect::<Vec<_>>(), 2).unwrap();
                assert_eq!(bits(&found), bits(&want));
                assert_eq!(found.shape()[2], cache.len());
            }
        }
        assert_eq!(cache.len(), 12);
        // What is forgotten is overwritten; the rest stays.
        cache.truncate(20);
        assert_eq!(cache.len(), 12);
        cache.truncate(4);
        let kept = bits(&cache.keys().unwrap());
        let [keys, values] = part::<T>(gpu, 2, 77);
        cache.append(&keys, &values).unwrap();
        assert_eq!(bits(&cache.keys().unwrap().slice(2, ..4).unwrap()), kept);
        assert_eq!(bits(&cache.values().unwrap().slice(2, 4..).unwrap()), bits(&values));
        cache.clear();
        assert!(cache.is_empty() && cache.values().unwrap().is_empty());
    }
    for gpu in support::devices() {
        support::of_reals!(check, &gpu);
    }
}

/// Two launches, which write as many bytes as are appended; nothing is allocated, and no view moves.
#[test]
fn a_cache_grows_without_copies() {
    let Some(gpu) = support::first_driver().and_then(|()| support::own(|_| ())) else { return };
    let mut cache = KeyValueCache::<f32>::new(&gpu, [2, 3, 64, 8]).unwrap();
    let [keys, values] = [1, 2].map(|seed| gpu.random([2, 3, 1, 8], Fill::Uniform, seed).unwrap());
    cache.append(&keys, &values).unwrap(); // compiles the kernel
    gpu.wait().unwrap();
    let first = cache.keys().unwrap();
    let before = gpu.stats();
    for _ in 0..20 {
        cache.append(&keys, &values).unwrap();
    }
    gpu.wait().unwrap();
    let after = gpu.stats();
    assert_eq!(after.launches - before.launches, 40);
    assert_eq!(after.bytes_in_use, before.bytes_in_use);
    assert_eq!(after.bytes_peak, before.bytes_peak);
    // What is read is what is appended, so nothing else is moved.
    assert_eq!(after.bytes_bound_for_reading - before.bytes_bound_for_reading, 40 * 2 * 3 * 8 * 4);
    assert!(cache.keys().unwrap().shares_buffer(&first));
    assert_eq!(cache.len(), 21);
}

/// Errors before anything is written.
#[test]
fn a_full_cache_stays_as_it_is() {
    let Some(gpu) = support::own(|_| ()) else { return };
    let mut cache = KeyValueCache::<f32>::new(&gpu, [2, 3, 4, 5]).unwrap();
    let [keys, values] = part::<f32>(&gpu, 3, 1);
    cache.append(&keys, &values).unwrap();
    let held = [bits(&cache.keys().unwrap()), bits(&cache.values().unwrap())];
    let launches = gpu.stats().launches;
    let error = cache.append(&keys, &values).unwrap_err().to_string();
    assert_eq!(
        error,
        "KeyValueCache::append: the cache holds 3 of 4 positions and has no room for 3 more; got [2, 3, 3, 5] and \
         [2, 3, 4, 5]"
    );
    cache.append(&keys.slice(2, ..1).unwrap(), &values).unwrap_err();
    assert_eq!(gpu.stats().launches, launches);
    assert_eq!([bits(&cache.keys().unwrap()), bits(&cache.values().unwrap())], held);
    let [keys, values] = part::<f32>(&gpu, 1, 1);
    cache.append(&keys, &values).unwrap();
    assert_eq!(cache.len(), 4);
}
