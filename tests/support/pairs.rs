//! Sweeps: few rows that cover every pair of values of any two factors, or, if asked for, many more.

/// Rows of one value index per factor, of `levels[f]` values each: every pair of values of any two factors stands in
/// some row. `TILEWISE_SWEEP=full` takes every combination within each of the `groups` of factors instead, the other
/// factors taking turns.
pub fn sweep(levels: &[usize], groups: &[&[usize]]) -> Vec<Vec<usize>> {
    match std::env::var("TILEWISE_SWEEP").as_deref() {
        Ok("full") => groups.iter().flat_map(|group| product(levels, group)).collect(),
        _ => pairwise(levels),
    }
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

/// Greedy, one row at a time: each value is the one that covers the most pairs still open with those before it,
/// starting from an open pair so that every row covers something new.
fn pairwise(levels: &[usize]) -> Vec<Vec<usize>> {
    let factors = levels.len();
    let mut open = std::collections::BTreeSet::new();
    for i in 0..factors {
        for j in i + 1..factors {
            open.extend((0..levels[i]).flat_map(|a| (0..levels[j]).map(move |b| (i, a, j, b))));
        }
    }
    let mut rows = Vec::new();
    while let Some(&(i, a, j, b)) = open.first() {
        let mut row = vec![None; factors];
        (row[i], row[j]) = (Some(a), Some(b));
        for f in 0..factors {
            if row[f].is_some() {
                continue;
            }
            let gain = |value: usize| {
                row.iter()
                    .enumerate()
                    .filter(|&(g, v)| v.is_some_and(|v| open.contains(&pair(f, value, g, v))))
                    .count()
            };
            // Ties go round, so that values without open pairs take turns.
            let start = rows.len();
            row[f] = (0..levels[f]).map(|v| (v + start) % levels[f]).max_by_key(|&v| gain(v));
        }
        let row: Vec<usize> = row.into_iter().map(|v| v.expect("every factor has a value")).collect();
        for i in 0..factors {
            for j in i + 1..factors {
                open.remove(&(i, row[i], j, row[j]));
            }
        }
        rows.push(row);
    }
    rows
}

fn pair(f: usize, a: usize, g: usize, b: usize) -> (usize, usize, usize, usize) {
    if f < g { (f, a, g, b) } else { (g, b, f, a) }
}

#[test]
fn the_covering_set_covers_every_pair() {
    let levels = [5, 3, 7, 2];
    let rows = pairwise(&levels);
    for i in 0..4 {
        for j in i + 1..4 {
            for a in 0..levels[i] {
                for b in 0..levels[j] {
                    assert!(rows.iter().any(|row| row[i] == a && row[j] == b), "{i}={a} with {j}={b}");
                }
            }
        }
    }
    assert!(rows.len() < 60, "{} rows are no covering set of 210", rows.len());
}

#[test]
fn the_full_sweep_has_every_combination_of_a_group_once() {
    let rows = product(&[2, 3, 4, 5], &[0, 2, 3]);
    let group: std::collections::BTreeSet<_> = rows.iter().map(|row| (row[0], row[2], row[3])).collect();
    assert_eq!((rows.len(), group.len()), (40, 40));
    assert!((0..3).all(|value| rows.iter().any(|row| row[1] == value)), "the others take turns");
}
