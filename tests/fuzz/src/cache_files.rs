//! Cached files: a sealed file can be unsealed, and no other file can.

use tilewise::planning::cache as sealing;

const HEADER: &str = "Verdicts of a test.\nversion 1\nadapter One, of 1:2\nsubgroups 8\n";
/// The device, driver and version in the digests of cache files.
const COMPILED_FOR: &str = "a device of the fuzzer's";

/// The first byte selects where a sealed file is cut.
pub(crate) fn verdicts(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(lines) = sealing::unseal_text(text.as_bytes(), HEADER)
    {
        assert_eq!(sealing::seal_text(HEADER, &lines), text, "only a sealed file can be unsealed");
    }
    let lines: Vec<String> = String::from_utf8_lossy(data)
        .lines()
        .map(ToOwned::to_owned)
        .filter(|line| !line.contains('\r'))
        .collect();
    if let Some(tuned) = sealing::parse_tuning(&lines) {
        let written = sealing::tuning_lines(&tuned);
        assert_eq!(sealing::parse_tuning(&written), Some(tuned), "what is written is read again");
    }
    let sealed = sealing::seal_text(HEADER, &lines);
    assert_eq!(sealing::unseal_text(sealed.as_bytes(), HEADER).unwrap(), lines);
    assert!(sealing::unseal_text(sealed.as_bytes(), "Verdicts of another.\n").is_err());
    if let Some(cut) = data.first().map(|&at| sealed.len() * usize::from(at) / 256)
        && let Some(part) = sealed.get(..cut)
    {
        assert!(sealing::unseal_text(part.as_bytes(), HEADER).is_err(), "cut at {cut}");
    }
}

pub(crate) fn verdict_seeds() -> Vec<Vec<u8>> {
    let rows = ["8x8x8 f16 f16 f16 subgroup verified", "16x16x16 f16 f32 f32 subgroup wrong results"];
    let lines: Vec<String> = rows.map(ToOwned::to_owned).into();
    let of = |lines: &[String]| sealing::seal_text(HEADER, lines).into_bytes();
    let tuned = "problem\tab\t12\tmatmul\nwon\t1e-5\t2e-5\t0\tgemm/naive #1\nuntried\t1\t-\t0\ta";
    vec![of(&[]), of(&lines[..1]), of(&lines), rows[1].into(), tuned.into()]
}

pub(crate) fn cache(data: &[u8]) {
    if let Some(held) = sealing::unseal(COMPILED_FOR, data) {
        assert_eq!(sealing::seal(COMPILED_FOR, held), data, "only a sealed file can be unsealed");
    }
    let sealed = sealing::seal(COMPILED_FOR, data);
    assert_eq!(sealing::unseal(COMPILED_FOR, &sealed), Some(data));
    let Some(&first) = data.first() else { return };
    let at = sealed.len() * usize::from(first) / 256;
    assert_eq!(sealing::unseal(COMPILED_FOR, &sealed[..at]), None, "cut at {at}");
    let mut flipped = sealed;
    flipped[at] ^= 1 << (first % 8);
    assert_eq!(sealing::unseal(COMPILED_FOR, &flipped), None, "a bit of byte {at}");
}

pub(crate) fn cache_seeds() -> Vec<Vec<u8>> {
    vec![
        vec![],
        sealing::seal(COMPILED_FOR, b""),
        sealing::seal(COMPILED_FOR, b"compiled"),
        b"compiled".to_vec(),
    ]
}
