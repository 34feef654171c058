//! Ours against cuBLAS: a row per size, types and layout, then one per variant that cuBLAS has too.

use crate::printed::{short, short_or_dash};
use crate::rows::TileRow;
use bench::lines::Rows;
use bench::rows::{PairedRow, PeerRow, Product, VariantRow};
use bench::table::Table;
use std::fmt::Write as _;

/// A product by its best tile and by the plan's choice.
struct Best<'a> {
    product: &'a Product,
    layout: &'a str,
    best: Rate,
    choice: Option<Rate>,
    /// TFLOP/s of cuBLAS.
    peer: Option<f64>,
}

struct Rate {
    tile: String,
    tflops: f64,
}

pub(super) fn text(tiles: &[TileRow], variants: &[VariantRow], peers: &Rows<PeerRow>) -> String {
    let peer = peers.rows.iter().rev().find(|row| row.outcome.timed().is_some()).map(|row| row.peer.as_str());
    let mut text = match (peer, &peers.skipped) {
        (Some(peer), _) => {
            format!(
                "The peer is {peer}. f32 is compared with its f32 without TF32, `fast` with its TF32.\n\n"
            )
        }
        (None, Some(why)) => format!("cuBLAS was not measured: {why}.\n\n"),
        (None, None) => "cuBLAS was not measured.\n\n".into(),
    };
    let products = products(tiles, &peers.rows);
    if !products.is_empty() {
        text += &tile_table(&products, peer.is_some()).to_string();
        text += &summary(&products);
    } else if !tiles.is_empty() {
        text += "No tile was both timed and right.\n";
    }
    let table = variant_table(variants, &peers.rows, peer.is_some());
    if !table.is_empty() {
        text += &format!("\n{table}");
    }
    text
}

/// The best right tile of every product, and the plan's choice.
fn products<'a>(tiles: &'a [TileRow], peers: &[PeerRow]) -> Vec<Best<'a>> {
    let mut products: Vec<Best<'a>> = Vec::new();
    for TileRow { task, outcome } in tiles {
        let Some(timed) = outcome.timed().filter(|timed| timed.ok) else { continue };
        let rate = || Rate { tile: task.tile(), tflops: timed.tflops };
        let same =
            |product: &&mut Best<'_>| *product.product == task.product && product.layout == task.layout;
        let product = match products.iter_mut().find(same) {
            Some(product) => product,
            None => {
                let peer = peer_tflops(peers, &task.product, &task.layout);
                let (product, layout) = (&task.product, task.layout.as_str());
                products.push(Best { product, layout, best: rate(), choice: None, peer });
                let last = products.len() - 1;
                &mut products[last]
            }
        };
        if timed.tflops > product.best.tflops {
            product.best = rate();
        }
        if timed.chosen {
            product.choice = Some(rate());
        }
    }
    products
}

/// TFLOP/s of cuBLAS for a product, if it was timed.
fn peer_tflops(peers: &[PeerRow], product: &Product, layout: &str) -> Option<f64> {
    let same = |row: &&PeerRow| row.product == *product && row.layout == layout;
    peers.iter().rev().filter(same).find_map(|row| row.outcome.timed()).map(|times| times.tflops)
}

fn tile_table(products: &[Best<'_>], has_peer: bool) -> Table {
    let ours =
        ["m x n x k", "types", "layout", "plan's choice", "TFLOP/s", "best tile", "TFLOP/s", "choice / best"];
    let theirs = ["cuBLAS TFLOP/s", "choice / cuBLAS", "best / cuBLAS"];
    let theirs = &theirs[..if has_peer { theirs.len() } else { 0 }];
    let mut table = Table::new(ours.iter().chain(theirs).copied());
    for row in products {
        let choice = row.choice.as_ref().map(|choice| choice.tflops);
        let mut cells = vec![
            row.product.size(),
            row.product.types(),
            row.layout.into(),
            row.choice.as_ref().map_or("-".into(), |choice| choice.tile.clone()),
            short_or_dash(choice),
            row.best.tile.clone(),
            short(row.best.tflops),
            ratio(choice, Some(row.best.tflops)),
        ];
        if has_peer {
            cells.extend([
                short_or_dash(row.peer),
                ratio(choice, row.peer),
                ratio(Some(row.best.tflops), row.peer),
            ]);
        }
        table.row(cells);
    }
    table
}

fn ratio(ours: Option<f64>, others: Option<f64>) -> String {
    ours.zip(others).map_or("-".into(), |(ours, others)| format!("{:.2}", ours / others))
}

/// How often the plan chose the fastest tile, and the geometric means of the ratios to cuBLAS for each pair of types.
fn summary(products: &[Best<'_>]) -> String {
    let chosen: Vec<(&Best<'_>, f64)> =
        products.iter().filter_map(|product| Some((product, product.choice.as_ref()?.tflops))).collect();
    let hits = chosen.iter().filter(|(product, choice)| *choice >= product.best.tflops).count();
    let lowest = chosen.iter().map(|(product, choice)| choice / product.best.tflops).fold(1.0, f64::min);
    let mut text = format!(
        "\nThe plan chose the fastest tile in {hits} of {} products; its worst choice reached {lowest:.2} of the best.\n",
        chosen.len()
    );
    let mut means: Vec<(String, Vec<[f64; 2]>)> = Vec::new();
    for (product, choice) in chosen {
        let Some(peer) = product.peer else { continue };
        let types = product.product.types();
        let logarithms = [choice / peer, product.best.tflops / peer].map(f64::ln);
        match means.iter_mut().find(|(of, _)| *of == types) {
            Some((_, all)) => all.push(logarithms),
            None => means.push((types, vec![logarithms])),
        }
    }
    for (types, all) in means {
        let count = all.len();
        let mean = |at: usize| (all.iter().map(|pair| pair[at]).sum::<f64>() / count as f64).exp();
        let _ = writeln!(
            text,
            "Geometric mean to cuBLAS, {types}: {:.2} by choice, {:.2} at best ({count} products).",
            mean(0),
            mean(1)
        );
    }
    text
}

/// Products of some rows, and f32 that may round as TF32 does.
fn variant_table(variants: &[VariantRow], peers: &[PeerRow], has_peer: bool) -> Table {
    let ours = ["variant", "m x n x k", "types", "TFLOP/s"];
    let theirs = ["cuBLAS TFLOP/s", "ours / cuBLAS"];
    let theirs = &theirs[..if has_peer { theirs.len() } else { 0 }];
    let mut table = Table::new(ours.iter().chain(theirs).copied());
    for row in variants {
        let VariantRow::Timed(row) = row else { continue };
        let PairedRow { case, variant, product, gops, .. } = &**row;
        if case != "rows" && variant != "fast" {
            continue;
        }
        let tflops = gops / 1e3;
        let mut cells = vec![variant.clone(), product.size(), product.types(), short(tflops)];
        if has_peer {
            let mut of_peer = product.clone();
            if variant == "fast" {
                of_peer.dtype = "tf32".into();
            }
            let peer = peer_tflops(peers, &of_peer, "nn");
            cells.extend([short_or_dash(peer), ratio(Some(tflops), peer)]);
        }
        table.row(cells);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench::lines::parse;

    const TILE: &str = r#"{"kernel":"tiled","tile":"64x64x8 (8x8 per invocation)","m":16,"n":16,"k":16,"dtype":"f16","out_dtype":"f32","layout":"nn","clock":"gpu","gpu_seconds_min":1e-5,"gpu_seconds_max":1.1e-5,"tflops":0.5,"chosen":true,"check":"full","bound_ratio":0.25,"ok":true}"#;
    const FAST: &str = r#"{"device":"d","driver":"e","software":false,"rounds":15,"case":"precision","variant":"fast","baseline":"strict","m":16,"n":16,"k":16,"dtype":"f32","out_dtype":"f32","seconds":1e-5,"baseline_seconds":1e-5,"ratio":1.0,"gops":500.0,"plan":null}"#;
    const PEER: &str = r#"{"peer":"cuBLAS, PyTorch 2","device":"d","m":16,"n":16,"k":16,"dtype":"f16","out_dtype":"f32","layout":"nn","gpu_seconds_median":1e-5,"gpu_seconds_min":1e-5,"gpu_seconds_max":1e-5,"tflops":1.0}"#;

    fn tiles() -> Rows<TileRow> {
        let best =
            TILE.replace("64x64x8 (8x8", "128x64x8 (8x8").replace("0.5,", "0.8,").replace("true,", "false,");
        let wrong = TILE.replace("0.5,", "9.0,").replace("\"ok\":true", "\"ok\":false");
        let rows = parse("tiles.jsonl", &[TILE, &best, &wrong].join("\n"));
        assert!(rows.malformed.is_empty());
        rows
    }

    #[test]
    fn choice_and_best_tile_are_compared_with_the_peer() {
        let tf32 = PEER.replace("f16", "tf32").replace("1.0", "2.0");
        let (variants, peers) =
            (parse("variants.jsonl", FAST), parse("peers.jsonl", &[PEER, &tf32].join("\n")));
        let page = text(&tiles().rows, &variants.rows, &peers);
        for part in [
            "The peer is cuBLAS, PyTorch 2. f32 is compared",
            "| 16 x 16 x 16 | f16 -> f32 | nn | tiled 64x64x8/8x8 | 0.5 | tiled 128x64x8/8x8 | 0.8 | 0.62 | 1 | 0.50 | 0.80 |\n",
            "\nThe plan chose the fastest tile in 0 of 1 products; its worst choice reached 0.62 of the best.\n",
            "Geometric mean to cuBLAS, f16 -> f32: 0.50 by choice, 0.80 at best (1 products).\n",
            "| fast | 16 x 16 x 16 | f32 -> f32 | 0.5 | 2 | 0.25 |\n",
        ] {
            assert!(page.contains(part), "no `{part}` in\n{page}");
        }
    }

    #[test]
    fn without_the_peer_the_page_says_why() {
        let peers = parse("peers.jsonl", "{\"skipped\":\"no PyTorch\"}");
        let page = text(&tiles().rows, &parse("variants.jsonl", FAST).rows, &peers);
        assert!(page.starts_with("cuBLAS was not measured: no PyTorch.\n"), "{page}");
        assert!(page.contains("| choice / best |\n"), "{page}");
        assert!(page.ends_with("| fast | 16 x 16 x 16 | f32 -> f32 | 0.5 |\n"), "{page}");
        assert!(
            text(&[], &parse("variants.jsonl", FAST).rows, &Rows::default())
                .starts_with("cuBLAS was not measured.\n")
        );
    }
}
