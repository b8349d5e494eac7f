//! How long a preset takes to generate, and how much memory: `synth_timing [preset] [scale]`.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::Instant;

use treering_data::{Context, Recipe, Silent, human_bytes, synthesize};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let name = arguments.next().unwrap_or_else(|| "demo".into());
    let scale: f64 = arguments.next().map_or(Ok(1.0), |text| text.parse())?;
    let recipe = Recipe::preset(&name)
        .ok_or("no such preset")?
        .scaled(scale)?;
    let sizes = recipe.class_sizes();
    println!(
        "{name}: classes of {:?} to {:?} nodes, task 1 {:?}",
        sizes.iter().min(),
        sizes.iter().max(),
        &sizes[..recipe.classes_per_task],
    );
    let start = Instant::now();
    let graph = synthesize(&recipe, &Context::with_free_memory(&Silent))?;
    println!(
        "{} nodes, {} arcs, {} features in {:.1} s, peak {}",
        graph.nodes(),
        graph.arcs().len(),
        graph.features().columns(),
        start.elapsed().as_secs_f64(),
        peak_memory().map_or("unknown".into(), human_bytes),
    );
    let largest = graph
        .arcs()
        .offsets()
        .windows(2)
        .map(|pair| pair[1] - pair[0]);
    println!(
        "largest degree {:?}, {} nodes without arcs into them",
        largest.max(),
        graph.arcs().isolated().count(),
    );
    Ok(())
}

/// The most memory that this process ever held, as the system counts it.
fn peak_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
