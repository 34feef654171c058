//! The book's table of operations: it lists every public function of `ops` once, fills every cell, and its launches are counted.

use std::collections::BTreeMap;
use support::operations::{self, World};
use tilewise::ops::{
    self, BatchNorm, CrossEntropy, GroupNorm, InstanceNorm, LayerNorm, Reduction, RmsNorm, RunningStatistics,
};
use tilewise::{Gpu, Result};

/// A row of the table, for one of the operations that it names.
struct Row {
    operation: String,
    launches: String,
}

/// The rows of the chapter's tables. Fails if one has an empty cell.
fn rows(chapter: &str) -> Vec<Row> {
    let rows = chapter.lines().filter(|line| line.starts_with("| `"));
    rows.flat_map(|line| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        assert!(cells.len() == 5 && cells.iter().all(|cell| !cell.is_empty()), "five cells: {line}");
        let (names, launches) = (cells[0].split('`').skip(1).step_by(2), cells[3]);
        names
            .map(|name| Row { operation: format!("ops::{name}"), launches: launches.into() })
            .collect::<Vec<_>>()
    })
    .collect()
}

/// The first number of a cell, which is that of small operands without options, for a call with two operands.
fn expected(launches: &str) -> u64 {
    let digits = launches.find(|c: char| !c.is_ascii_digit()).unwrap_or(launches.len());
    let number: u64 = launches[..digits].parse().expect("the cell begins with a number");
    if launches.contains("for each operand") { 2 * number } else { number }
}

#[test]
fn the_books_table_lists_every_operation_with_its_launches() {
    let path = support::root().join("book/src/ops-reference.md");
    let mut listed = BTreeMap::new();
    for Row { operation, launches } in rows(&std::fs::read_to_string(path).unwrap()) {
        let earlier = listed.insert(operation.clone(), launches);
        assert!(earlier.is_none(), "{operation} is in the table twice");
    }
    let mut faults = Vec::new();
    let gpu = support::noop();
    let mut world = World::new(&gpu).unwrap();
    for row in operations::all().iter().filter(|row| row.name.starts_with("ops::")) {
        let name = row.name;
        let Some(launches) = listed.remove(name) else {
            faults.push(format!("{name} is not in the table"));
            continue;
        };
        let before = gpu.stats().launches;
        row.call(&mut world).unwrap();
        let found = gpu.stats().launches - before;
        if found != expected(&launches) {
            faults.push(format!("{name} takes {found} launches, not {launches}"));
        }
    }
    faults.extend(listed.keys().map(|name| format!("{name} is no public function that can fail")));
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// What a piece of work launches.
fn launches<R>(gpu: &Gpu, work: impl FnOnce() -> Result<R>) -> u64 {
    let before = gpu.stats().launches;
    work().unwrap();
    gpu.stats().launches - before
}

/// The other numbers of the column: with options, of many elements, and for three operands.
#[test]
fn the_books_table_is_right_about_options_and_many_elements() {
    let gpu = support::noop();
    let of = |shape: &[usize]| gpu.zeros::<f32>(shape).unwrap();
    let (long, matrix, gamma) = (of(&[1 << 20]), of(&[64, 8]), of(&[8]));
    assert_eq!(launches(&gpu, || ops::sum(&long, ..)), 2);
    assert_eq!(launches(&gpu, || ops::argmax(&long, 0)), 2);
    assert_eq!(launches(&gpu, || ops::cumsum(&long, 0)), 3);
    assert_eq!(launches(&gpu, || ops::mse(&long, &long, Reduction::Mean)), 2);
    assert_eq!(launches(&gpu, || ops::huber_and_gradient(&long, &long, 1.0, Reduction::Sum, 1.0)), 2);
    assert_eq!(launches(&gpu, || ops::concat(&[&matrix, &matrix, &matrix], 0)), 3);

    let classes = gpu.zeros::<i32>([64]).unwrap();
    let entropy = |entropy: CrossEntropy<'_>| launches(&gpu, || entropy.run(&matrix, &classes));
    assert_eq!(entropy(CrossEntropy::new().reduction(Reduction::None)), 1);
    assert_eq!(entropy(CrossEntropy::new().ignore_index(1)), 3);
    assert_eq!(entropy(CrossEntropy::new().class_weights(&gamma)), 3);

    let layer = LayerNorm::new().gamma(&gamma);
    let normed = layer.with_statistics(&matrix).unwrap();
    assert_eq!(launches(&gpu, || layer.backward(&matrix, &normed, &matrix)), 2);
    let rms = RmsNorm::new().gamma(&gamma);
    let normed = rms.with_statistics(&matrix).unwrap();
    assert_eq!(launches(&gpu, || rms.backward(&matrix, &normed, &matrix)), 2);
    let group = GroupNorm::new(2).gamma(&gamma);
    let normed = group.with_statistics(&matrix).unwrap();
    assert_eq!(launches(&gpu, || group.backward(&matrix, &normed, &matrix)), 4);
    let instance = InstanceNorm::new().gamma(&gamma);
    let normed = instance.with_statistics(&matrix).unwrap();
    assert_eq!(launches(&gpu, || instance.backward(&matrix, &normed, &matrix)), 4);
    let running = RunningStatistics { mean: gamma.clone(), variance: gamma.clone() };
    let batch = BatchNorm::new().gamma(&gamma);
    assert_eq!(launches(&gpu, || batch.backward(&matrix, &running, &matrix)), 3);

    for m in [0, 1, 5] {
        let n = 256 << m;
        let (ids, values) = (gpu.zeros::<i32>([n]).unwrap(), of(&[n]));
        let [mut a, mut b] = [of(&[16]), of(&[16])];
        assert_eq!(launches(&gpu, || ops::scatter_add(&mut a, 0, &ids, &values)), 4 + m);
        assert_eq!(launches(&gpu, || ops::index_add(&mut b, 0, &ids, &values)), 4 + m);
        let values = of(&[n, 8]);
        assert_eq!(launches(&gpu, || ops::embedding_backward(&ids, &values, 16, None)), 4 + m);
    }
}
