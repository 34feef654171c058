//! Sweeps of cases by their kernels: each form of each kernel runs in some case, and few kernels are compiled.

use super::turn::Turn;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Debug;
use tilewise::planning::kernel::Kernel;
use tilewise::{Gpu, GpuOptions};

/// The cases of a sweep: which have been offered, and which run.
pub struct Forms {
    /// Devices that compute nothing and for which the same kernels are planned, one for each device in turn.
    twins: Vec<Gpu>,
    kernels: HashMap<(usize, Kernel), usize>,
    offers: Vec<Offer>,
    /// Whether each case runs, in the order of the offers. None while cases are offered.
    chosen: Option<Vec<bool>>,
    next: usize,
}

/// A case with the numbers of its kernels.
struct Offer {
    case: String,
    kernels: BTreeSet<usize>,
}

/// Runs `cases` on the devices that take turns, and asserts that they have at most `most` kernels and compile no more.
/// Other tests may have compiled some of these before.
///
/// `cases` asks [`Forms::takes`] of each case whether it is to run. It is called twice: first all cases are only planned, and
/// a small set of kernels is chosen. It has each variant of each slot and parameter with some shader; with
/// `TILEWISE_SWEEP=pairs` every form of every kernel, that is, each variant with each shader that has it. It also has the kernels of each case on
/// some device in some type. All cases run that need no other kernels. In a full sweep, all do.
pub fn sweep(most: usize, mut cases: impl FnMut(&Turn, &mut Forms)) {
    let turn = super::turn();
    let twins = turn.all().map(twin).collect();
    let mut forms = Forms { twins, kernels: HashMap::new(), offers: Vec::new(), chosen: None, next: 0 };
    let pipelines = || turn.all().map(|gpu| gpu.stats().pipelines).sum::<u64>();
    if super::is_full_sweep() {
        forms.chosen = Some(Vec::new());
        return cases(&turn, &mut forms);
    }
    cases(&turn, &mut forms);
    let (chosen, kernels) = forms.choice();
    assert!(kernels <= most, "{kernels} kernels, more than {most}");
    forms.chosen = Some(chosen);
    let before = pipelines();
    cases(&turn, &mut forms);
    assert_eq!(forms.next, forms.offers.len(), "the same cases in both passes");
    let compiled = pipelines() - before;
    assert!(compiled <= most as u64, "{compiled} pipelines, more than {most}");
}

impl Forms {
    /// Whether a case runs on a device. `run` runs it on any device; it may be called on one that computes nothing. Cases with
    /// equal names are one case: at least one of them runs.
    pub fn takes<R>(&mut self, gpu: &Gpu, case: impl Debug, run: impl FnOnce(&Gpu) -> R) -> bool {
        if let Some(chosen) = &self.chosen {
            self.next += 1;
            return chosen.get(self.next - 1).copied().unwrap_or(true);
        }
        let (device, twin) = self.twin_of(gpu);
        let (_, plans) = twin.plans_of(|| run(&twin));
        let steps = plans.iter().flat_map(|plan| plan.steps());
        let kernels = steps.map(|step| {
            let next = self.kernels.len();
            *self.kernels.entry((device, step.kernel.clone())).or_insert(next)
        });
        let kernels = kernels.collect();
        self.offers.push(Offer { case: format!("{case:?}"), kernels });
        false
    }

    fn twin_of(&self, gpu: &Gpu) -> (usize, Gpu) {
        let is_twin = |twin: &Gpu| plans_alike(twin, gpu);
        let device = self.twins.iter().position(is_twin).expect("a device that takes turns");
        (device, self.twins[device].clone())
    }

    /// Which cases run, and the number of their kernels.
    fn choice(&self) -> (Vec<bool>, usize) {
        let mut texts = vec![String::new(); self.kernels.len()];
        for ((_, kernel), &number) in &self.kernels {
            texts[number] = kernel.to_string();
        }
        let forms = forms_of(&texts);
        // What cases of the same kernels cover: forms, and themselves.
        let mut covers: BTreeMap<&BTreeSet<usize>, BTreeSet<(&str, &str)>> = BTreeMap::new();
        for Offer { kernels, case } in &self.offers {
            let covered = covers.entry(kernels).or_default();
            covered.insert(("case", case));
            covered.extend(kernels.iter().flat_map(|&at| &forms[at]).map(|(a, b)| (a.as_str(), b.as_str())));
        }
        let covers: Vec<_> = covers.into_iter().collect();
        let mut made = cheapest(&covers);
        // What was chosen first may be covered by what was chosen for something else.
        let all = covered(&covers, &made);
        for kernel in made.clone() {
            made.remove(&kernel);
            if covered(&covers, &made).len() < all.len() {
                made.insert(kernel);
            }
        }
        (self.offers.iter().map(|offer| offer.kernels.is_subset(&made)).collect(), made.len())
    }
}

/// Sets of kernels, each with what cases cover that need these.
type Covers<'a> = [(&'a BTreeSet<usize>, BTreeSet<(&'a str, &'a str)>)];

/// A small set of kernels with which everything is covered: each time those that cover the most for each further kernel.
fn cheapest(covers: &Covers<'_>) -> BTreeSet<usize> {
    let (mut made, mut done) = (BTreeSet::new(), BTreeSet::new());
    loop {
        let gain = |(kernels, covers): &(&BTreeSet<usize>, BTreeSet<_>)| {
            let (more, new) = (kernels.difference(&made).count(), covers.difference(&done).count());
            ((1000 * new).checked_div(more).unwrap_or(usize::MAX), new)
        };
        let open = covers.iter().filter(|(_, covers)| !covers.is_subset(&done));
        let Some((kernels, covers)) = open.max_by_key(|cover| gain(cover)) else { return made };
        made.extend(*kernels);
        done.extend(covers.iter().copied());
    }
}

/// What all cases cover that need only these kernels.
fn covered<'a>(covers: &Covers<'a>, made: &BTreeSet<usize>) -> BTreeSet<(&'a str, &'a str)> {
    let run = covers.iter().filter(|(kernels, _)| kernels.is_subset(made));
    run.flat_map(|(_, covers)| covers.iter().copied()).collect()
}

/// The forms of kernels: a shader, or in a short sweep any, with a word or without it.
fn forms_of(texts: &[String]) -> Vec<Vec<(String, String)>> {
    let name = |word: &str| word.split(['=', ':']).next().unwrap_or_default().to_owned();
    let mut names: HashMap<String, BTreeSet<String>> = HashMap::new();
    for text in texts {
        let (shader, words) = words(text);
        names.entry(shader).or_default().extend(words.iter().map(|word| name(word)));
    }
    let forms = |text: &String| {
        let (shader, words) = words(text);
        let absent = names[&shader].iter().filter(|&known| !words.iter().any(|word| name(word) == *known));
        let absent: Vec<String> = absent.map(|name| format!("no {name}")).collect();
        let with = if super::is_short_sweep() { String::new() } else { shader.clone() };
        let all = words.into_iter().chain(absent).map(|word| (with.clone(), word));
        all.chain([("shader".to_owned(), shader)]).collect()
    };
    texts.iter().map(forms).collect()
}

/// The shader of a printed kernel, and the other words. What is in parentheses is of one word.
fn words(text: &str) -> (String, Vec<String>) {
    let mut depth = 0;
    let mut all = vec![String::new()];
    for c in text.chars() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if c == ' ' && depth == 0 {
            all.push(String::new());
        } else if let Some(word) = all.last_mut() {
            word.push(c);
        }
    }
    let words = all.split_off(1);
    (all.remove(0), words)
}

/// A device that computes nothing, for which the same kernels are planned as for this one.
fn twin(gpu: &super::TestGpu) -> Gpu {
    let caps = gpu.caps();
    let adapter = super::noop_adapter_with(wgpu::NoopBackendOptions {
        features: Some(gpu.device().features()),
        limits: Some(gpu.device().limits()),
        ..Default::default()
    });
    let mut options = GpuOptions::default();
    options.assume.subgroups = caps.subgroups;
    options.assume.device_type = Some(caps.device_type);
    options.assume.speed_of = Some(caps.adapter.clone());
    options.cache = tilewise::gpu::CacheFolder::Off;
    let twin = super::noop_on(&adapter, options, |_| ());
    assert!(plans_alike(&twin, gpu), "{}\n{}", twin.caps(), caps);
    twin
}

/// Whether kernels of operations are the same on two devices, as far as their capabilities say.
fn plans_alike(a: &Gpu, b: &Gpu) -> bool {
    let facts = |gpu: &Gpu| {
        let caps = gpu.caps().clone();
        (caps.f16, caps.int64, caps.subgroups, caps.device_type, caps.limits)
    };
    facts(a) == facts(b)
}

#[test]
fn words_of_kernels_are_told_apart() {
    let (shader, words) = words("ops/norm LANES=64 save_c:packed operands:(Norm of Layer gamma)");
    assert_eq!(shader, "ops/norm");
    assert_eq!(words, ["LANES=64", "save_c:packed", "operands:(Norm of Layer gamma)"]);
    let forms = forms_of(&["x A=1".into(), "x A=2 b:c".into()]);
    assert!(forms[0].iter().any(|(_, word)| word == "no b") && forms[1].len() == 3);
}
