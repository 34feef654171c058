//! Files that are kept across runs: what was sealed is read again, and nothing else is.

use tilewise::fuzz;

const HEADER: &str = "Verdicts of a test.\nversion 1\nadapter One, of 1:2\nsubgroups 8\n";

/// The first byte says how much of a whole file is replaced by the rest.
pub(crate) fn verdicts(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(lines) = fuzz::unseal_verdicts(text, HEADER)
    {
        assert_eq!(fuzz::seal_verdicts(HEADER, &lines), text, "nothing but what was sealed is read");
    }
    let lines: Vec<String> = String::from_utf8_lossy(data)
        .lines()
        .map(ToOwned::to_owned)
        .filter(|line| !line.contains('\r'))
        .collect();
    let sealed = fuzz::seal_verdicts(HEADER, &lines);
    assert_eq!(fuzz::unseal_verdicts(&sealed, HEADER).unwrap(), lines);
    assert!(fuzz::unseal_verdicts(&sealed, "Verdicts of another.\n").is_err());
    if let Some(cut) = data.first().map(|&at| sealed.len() * usize::from(at) / 256)
        && let Some(part) = sealed.get(..cut)
    {
        assert!(fuzz::unseal_verdicts(part, HEADER).is_err(), "cut at {cut}");
    }
}

pub(crate) fn verdict_seeds() -> Vec<Vec<u8>> {
    let rows = ["8x8x8 f16 f16 f16 subgroup verified", "16x16x16 f16 f32 f32 subgroup wrong results"];
    let lines: Vec<String> = rows.map(ToOwned::to_owned).into();
    let of = |lines: &[String]| fuzz::seal_verdicts(HEADER, lines).into_bytes();
    vec![of(&[]), of(&lines[..1]), of(&lines), rows[1].into()]
}

pub(crate) fn cache(data: &[u8]) {
    if let Some(held) = fuzz::unseal_cache(data) {
        assert_eq!(fuzz::seal_cache(held), data, "nothing but what was sealed is read");
    }
    let sealed = fuzz::seal_cache(data);
    assert_eq!(fuzz::unseal_cache(&sealed), Some(data));
    let Some(&first) = data.first() else { return };
    let at = sealed.len() * usize::from(first) / 256;
    assert_eq!(fuzz::unseal_cache(&sealed[..at]), None, "cut at {at}");
    let mut flipped = sealed;
    flipped[at] ^= 1 << (first % 8);
    assert_eq!(fuzz::unseal_cache(&flipped), None, "a bit of byte {at}");
}

pub(crate) fn cache_seeds() -> Vec<Vec<u8>> {
    vec![vec![], fuzz::seal_cache(b""), fuzz::seal_cache(b"compiled"), b"compiled".to_vec()]
}
