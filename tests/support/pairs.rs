//! Sweeps: a small number of rows that cover every value of each factor or, on request, every pair of values of any two factors,
//! or many more rows.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// Rows that cover every value of each factor. A row has the index of a value for each factor; factor f has `levels[f]` values.
///
/// `TILEWISE_SWEEP=pairs` covers every pair of values of any two factors. `TILEWISE_SWEEP=full` returns every combination within
/// each of the `groups` of factors instead, or a part of these rows; the other factors cycle.
pub fn sweep(levels: &[usize], groups: &[&[usize]]) -> Vec<Vec<usize>> {
    full(levels, groups).unwrap_or_else(|| covering(levels, Cover::asked()))
}

/// As [`sweep`], with fewer pipelines. `kernel` returns the kernel of a row as words, or None if the row cannot run.
///
/// The first rows cover every word of all kernels (with `pairs`: every pair). The others share their pipelines. A row that
/// cannot run covers only pairs for which no other row is found.
pub fn sweep_sharing(
    levels: &[usize],
    groups: &[&[usize]],
    kernel: impl Fn(&[usize]) -> Option<String>,
) -> Vec<Vec<usize>> {
    full(levels, groups).unwrap_or_else(|| sharing(levels, Cover::asked(), kernel))
}

/// The coverage of a sweep that is not full.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cover {
    /// Every value of each factor.
    Once,
    /// Every pair of values of two factors.
    Pairs,
}

impl Cover {
    fn asked() -> Self {
        if super::is_short_sweep() { Self::Once } else { Self::Pairs }
    }
}

fn full(levels: &[usize], groups: &[&[usize]]) -> Option<Vec<Vec<usize>>> {
    super::of_full_sweep(|| groups.iter().flat_map(|group| product(levels, group)).collect())
}

fn product(levels: &[usize], group: &[usize]) -> Vec<Vec<usize>> {
    let rows: usize = group.iter().map(|&f| levels[f]).product();
    let row = |number: usize| {
        let mut row: Vec<usize> = (0..levels.len()).map(|f| (number + number / 7 * f) % levels[f]).collect();
        let mut rest = number;
        for &f in group {
            row[f] = rest % levels[f];
            rest /= levels[f];
        }
        row
    };
    (0..rows).map(row).collect()
}

/// Adds rows greedily. Each covers at least one open pair.
fn covering(levels: &[usize], cover: Cover) -> Vec<Vec<usize>> {
    let mut open = Open::all(levels, cover);
    let mut rows = Vec::new();
    while let Some(&pair) = open.pairs.first() {
        let row = open.fresh_row(pair, rows.len());
        open.close(&row);
        rows.push(row);
    }
    rows
}

fn sharing(levels: &[usize], cover: Cover, kernel: impl Fn(&[usize]) -> Option<String>) -> Vec<Vec<usize>> {
    let rows = covering(levels, Cover::Pairs).into_iter().chain(any_rows(levels));
    let mut makers = makers(rows, cover, &kernel);
    let mut made: HashSet<String> = makers.iter().filter_map(|row| kernel(row)).collect();
    let mut known: HashMap<Vec<usize>, bool> = HashMap::new();
    let mut open = Open::all(levels, cover);
    makers.iter().for_each(|row| open.close(row));
    let mut rows = makers.clone();
    while let Some(&pair) = open.pairs.first() {
        let fresh = runnable(open.fresh_row(pair, rows.len()), pair, levels, &kernel);
        let mut is_made = |row: &[usize]| {
            *known.entry(row.to_vec()).or_insert_with(|| kernel(row).is_some_and(|text| made.contains(&text)))
        };
        // Some rows that need pipelines, changed to cover the most open pairs without another pipeline.
        let some = makers.iter().cycle().skip(rows.len() * TRIED % makers.len().max(1));
        let shared = some.take(TRIED.min(makers.len())).map(|row| open.changed(row.clone(), &mut is_made));
        let shared = shared.max_by_key(|row| open.gain(row)).filter(|row| open.gain(row) > 0);
        if let Some(row) = shared {
            open.close(&row);
            rows.push(row);
            continue;
        }
        match kernel(&fresh) {
            Some(text) => {
                open.close(&fresh);
                if made.insert(text) {
                    makers.push(fresh.clone());
                    known.clear();
                }
            }
            None => {
                open.pairs.remove(&pair);
            }
        }
        rows.push(fresh);
    }
    rows
}

/// The number of rows that are tried for the next one.
const TRIED: usize = 16;

/// A small subset of the rows whose kernels have every word, or every pair of words, of all the rows' kernels.
fn makers(
    rows: impl Iterator<Item = Vec<usize>>,
    cover: Cover,
    kernel: &impl Fn(&[usize]) -> Option<String>,
) -> Vec<Vec<usize>> {
    // One row for each kernel.
    let run: BTreeMap<String, Vec<usize>> =
        rows.filter_map(|row| kernel(&row).map(|text| (text, row))).collect();
    let pairs = pairs_of_words(run.keys(), cover);
    let mut left: Vec<(Vec<usize>, Vec<usize>)> = run.into_values().zip(pairs).collect();
    let mut covered = HashSet::new();
    let mut few = Vec::new();
    while let Some(at) = (0..left.len()).max_by_key(|&at| left[at].1.len()) {
        let (row, new) = left.swap_remove(at);
        if new.is_empty() {
            break;
        }
        covered.extend(new);
        few.push(row);
        left.iter_mut().for_each(|(_, open)| open.retain(|pair| !covered.contains(pair)));
    }
    few
}

/// The pairs of words of each kernel, or the single words, as numbers. The absence of a word also counts as a word: for example,
/// that a kernel has no `load_a`, while another has `load_a:load_x_vec4`.
fn pairs_of_words<'a>(kernels: impl Iterator<Item = &'a String> + Clone, cover: Cover) -> Vec<Vec<usize>> {
    let name = |word: &'a str| word.split(['=', ':']).next().unwrap_or_default();
    let all: BTreeSet<&str> = kernels.clone().flat_map(|text| text.split(' ')).collect();
    let names: BTreeMap<&str, &str> = all.iter().map(|word| (name(word), "")).collect();
    let mut numbers: HashMap<[(&str, &str); 2], usize> = HashMap::new();
    let mut pairs = |text: &'a str| {
        let mut words = names.clone();
        words.extend(text.split(' ').map(|word| (name(word), word)));
        let words: Vec<(&str, &str)> = words.into_iter().collect();
        let mut found = Vec::new();
        for (at, &one) in words.iter().enumerate() {
            let others = if cover == Cover::Once { &words[at..=at] } else { &words[at..] };
            for &other in others {
                let next = numbers.len();
                found.push(*numbers.entry([one, other]).or_insert(next));
            }
        }
        found
    };
    kernels.map(|text| pairs(text)).collect()
}

/// Random rows, enough that almost every pair of words is in one of them.
fn any_rows(levels: &[usize]) -> impl Iterator<Item = Vec<usize>> {
    let random = |at: [usize; 2], below: usize| {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(at);
        usize::try_from(hash % below as u64).unwrap_or(0)
    };
    (0..4000).map(move |number| (0..levels.len()).map(|f| random([number, f], levels[f])).collect())
}

/// The row, or, if it cannot run, another row with the same pair that can, if one is found.
fn runnable(
    row: Vec<usize>,
    (i, _, j, _): Pair,
    levels: &[usize],
    kernel: &impl Fn(&[usize]) -> Option<String>,
) -> Vec<usize> {
    let other = |turn: usize| {
        let change = |(f, &v): (usize, &usize)| {
            if f == i || f == j { v } else { (v + turn * (f + 1) + turn / levels[f]) % levels[f] }
        };
        row.iter().enumerate().map(change).collect::<Vec<_>>()
    };
    (0..200).map(other).find(|row| kernel(row).is_some()).unwrap_or(row)
}

/// Two factors with a value each, the lower factor first. A factor with itself stands for a single value.
type Pair = (usize, usize, usize, usize);

/// The pairs that no row covers yet.
struct Open<'a> {
    levels: &'a [usize],
    pairs: BTreeSet<Pair>,
}

impl<'a> Open<'a> {
    fn all(levels: &'a [usize], cover: Cover) -> Self {
        let mut pairs = BTreeSet::new();
        for i in 0..levels.len() {
            if cover == Cover::Once {
                pairs.extend((0..levels[i]).map(|a| (i, a, i, a)));
                continue;
            }
            for j in i + 1..levels.len() {
                pairs.extend((0..levels[i]).flat_map(|a| (0..levels[j]).map(move |b| (i, a, j, b))));
            }
        }
        Self { levels, pairs }
    }

    /// A row with this pair. Each further value is the one that covers the most open pairs with the values before it.
    fn fresh_row(&self, (i, a, j, b): Pair, turn: usize) -> Vec<usize> {
        let mut row = vec![None; self.levels.len()];
        (row[i], row[j]) = (Some(a), Some(b));
        for f in 0..row.len() {
            if row[f].is_some() {
                continue;
            }
            let gain = |value: usize| {
                let set = row.iter().enumerate().filter_map(|(g, v)| v.map(|v| (g, v)));
                let set = set.chain([(f, value)]);
                set.filter(|&(g, v)| self.pairs.contains(&pair(f, value, g, v))).count()
            };
            // Ties cycle, so that values without open pairs alternate.
            let values = self.levels[f];
            row[f] = (0..values).map(|v| (v + turn) % values).max_by_key(|&v| gain(v));
        }
        row.into_iter().map(|v| v.expect("every factor has a value")).collect()
    }

    /// The row with values changed one by one to cover more open pairs, if `allowed`.
    fn changed(&self, mut row: Vec<usize>, allowed: &mut impl FnMut(&[usize]) -> bool) -> Vec<usize> {
        for f in (0..row.len()).chain(0..row.len()) {
            let mut most = self.gain(&row);
            for value in 0..self.levels[f] {
                let mut other = row.clone();
                other[f] = value;
                let gain = self.gain(&other);
                if gain > most && allowed(&other) {
                    (row, most) = (other, gain);
                }
            }
        }
        row
    }

    fn gain(&self, row: &[usize]) -> usize {
        pairs_of(row).filter(|pair| self.pairs.contains(pair)).count()
    }

    fn close(&mut self, row: &[usize]) {
        for pair in pairs_of(row) {
            self.pairs.remove(&pair);
        }
    }
}

fn pairs_of(row: &[usize]) -> impl Iterator<Item = Pair> {
    (0..row.len()).flat_map(move |i| (i..row.len()).map(move |j| (i, row[i], j, row[j])))
}

fn pair(f: usize, a: usize, g: usize, b: usize) -> Pair {
    if f < g { (f, a, g, b) } else { (g, b, f, a) }
}

/// The pairs that no row covers.
#[cfg(test)]
fn missing(rows: &[Vec<usize>], levels: &[usize], cover: Cover) -> BTreeSet<Pair> {
    let mut open = Open::all(levels, cover);
    rows.iter().for_each(|row| open.close(row));
    open.pairs
}

#[test]
fn the_covering_set_covers_every_pair() {
    let levels = [5, 3, 7, 2];
    let all = missing(&[], &levels, Cover::Pairs);
    assert!(all.contains(&(1, 2, 2, 6)) && all.len() == 101);
    let rows = covering(&levels, Cover::Pairs);
    assert_eq!(missing(&rows, &levels, Cover::Pairs), BTreeSet::new());
    assert!(rows.len() < 60, "{} rows are no covering set of 210", rows.len());
}

#[test]
fn seven_rows_have_every_value_of_seven_once() {
    let levels = [5, 3, 7, 2];
    let rows = covering(&levels, Cover::Once);
    assert_eq!((missing(&rows, &levels, Cover::Once), rows.len()), (BTreeSet::new(), 7));
}

#[test]
fn few_kernels_cover_every_pair_and_every_pair_of_their_words() {
    let levels = [5, 3, 7, 8, 2];
    // The text has two factors, and whether a third is even. Some rows cannot run.
    let kernel = |row: &[usize]| {
        let vectors = if row[2].is_multiple_of(2) { " load:vectors" } else { "" };
        (row[0] != 4 || row[4] == 0).then(|| format!("tile={} type={}{vectors}", row[0], row[1]))
    };
    let rows = sharing(&levels, Cover::Pairs, kernel);
    let few: BTreeSet<String> = rows.iter().filter_map(|row| kernel(row)).collect();
    assert!((15..=20).contains(&few.len()), "{} of 30 kernels", few.len());
    // Pairs of a word with itself, of a tile and a type, and of either with vectors or their absence.
    let pairs: BTreeSet<usize> = pairs_of_words(few.iter(), Cover::Pairs).into_iter().flatten().collect();
    assert_eq!(pairs.len(), 5 + 3 + 2 + 5 * 3 + 5 * 2 + 3 * 2);
    // Rows that cannot run cover only pairs that no runnable row could cover.
    let run: Vec<Vec<usize>> = rows.iter().filter(|row| kernel(row).is_some()).cloned().collect();
    assert_eq!(missing(&run, &levels, Cover::Pairs), BTreeSet::from([(0, 4, 4, 1)]));
    assert_eq!(missing(&rows, &levels, Cover::Pairs), BTreeSet::new());
}

#[test]
fn fewer_kernels_have_every_word_once() {
    let levels = [5, 3, 7, 8, 2];
    let kernel = |row: &[usize]| Some(format!("tile={} type={}", row[0], row[1]));
    let rows = sharing(&levels, Cover::Once, kernel);
    assert_eq!(missing(&rows, &levels, Cover::Once), BTreeSet::new());
    let few: BTreeSet<String> = rows.iter().filter_map(|row| kernel(row)).collect();
    let words: BTreeSet<&str> = few.iter().flat_map(|text| text.split(' ')).collect();
    assert_eq!((words.len(), few.len()), (8, 5));
    assert!((8..=10).contains(&rows.len()), "{} rows for eight values of a factor", rows.len());
}

#[test]
fn the_full_sweep_has_every_combination_of_a_group_once() {
    let rows = product(&[2, 3, 4, 5], &[0, 2, 3]);
    let group: std::collections::BTreeSet<_> = rows.iter().map(|row| (row[0], row[2], row[3])).collect();
    assert_eq!((rows.len(), group.len()), (40, 40));
    assert!((0..3).all(|value| rows.iter().any(|row| row[1] == value)), "the others take turns");
}
