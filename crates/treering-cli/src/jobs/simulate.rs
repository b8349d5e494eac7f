//! `treering plan --simulate`: what a cluster would make of a list, from what jobs took.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;
use serde_json::json;
use treering_data::{TaskSize, human_bytes};
use treering_jobs::{Cluster, Forecast, Job, List, Rates};

use super::drafts::Drafts;
use crate::failure::Failure;
use crate::output::{Output, table};
use crate::progress::duration;
use crate::source::parse_bytes;
use crate::{Global, memory};

/// Flags of the simulation.
#[derive(Args)]
#[command(next_help_heading = "Simulation")]
pub(crate) struct Simulate {
    /// Say how long so many machines of so many cores would take, how busy they would be, and how many bytes they would read and write.
    #[arg(long, value_name = "NODESxCORES")]
    simulate: Option<Shape>,
    /// A list that was run, whose costs count for jobs of the same kind that this list has not run.
    #[arg(long, value_name = "LIST", requires = "simulate")]
    measured: Option<PathBuf>,
    /// Memory of each machine.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "64GB")]
    machine_memory: u64,
    /// Bytes a second that the shared file system gives to all machines together.
    #[arg(long, value_name = "SIZE", value_parser = parse_bytes, default_value = "2GB")]
    bandwidth: u64,
    /// Seconds that starting a job takes.
    #[arg(long, value_name = "SECONDS", default_value_t = 0.1, value_parser = seconds)]
    overhead: f64,
    /// Plan for a graph that is not there, by its size; such a list can be simulated and not be run.
    #[arg(long, value_name = "nodes=N,arcs=N,columns=N,tasks=N")]
    pub(super) assume: Option<Assumed>,
    /// Print the simulation as JSON.
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    let number = number.filter(|seconds| (0.0..1e6).contains(seconds));
    number.ok_or("it is a number of seconds, at least 0".to_owned())
}

/// A time, with its tenths where it is short.
fn words_of(seconds: f64) -> String {
    match seconds < 10.0 {
        true => format!("{seconds:.1} s"),
        false => duration(seconds),
    }
}

/// Machines and cores, as in 8x16.
#[derive(Clone, Copy)]
struct Shape {
    machines: usize,
    cores: usize,
}

impl FromStr for Shape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let both = text.split_once(['x', 'X']);
        let number = |text: &str| {
            text.trim()
                .parse()
                .ok()
                .filter(|n| (1..=100_000).contains(n))
        };
        let both = both.and_then(|(machines, cores)| Some((number(machines)?, number(cores)?)));
        let (machines, cores) = both.ok_or(
            "machines and cores are two numbers from 1 to 100,000, such as 8x16".to_owned(),
        )?;
        Ok(Shape { machines, cores })
    }
}

/// A graph that is not there.
#[derive(Clone, Copy)]
pub(crate) struct Assumed {
    pub(crate) size: TaskSize,
    pub(crate) tasks: usize,
}

impl FromStr for Assumed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = "it looks like nodes=1000,arcs=20000,columns=128,tasks=20".to_owned();
        let mut found = [None; 4];
        for part in text.split(',') {
            let (name, number) = part.split_once('=').ok_or(expected.clone())?;
            let names = ["nodes", "arcs", "columns", "tasks"];
            let place = names.iter().position(|known| *known == name.trim());
            let number: f64 = number.trim().parse().map_err(|_| expected.clone())?;
            match place {
                Some(place) if (1.0..1e15).contains(&number) => {
                    found[place] = Some(number as usize)
                }
                _ => return Err(expected),
            }
        }
        let [Some(nodes), Some(arcs), Some(columns), Some(tasks)] = found else {
            return Err(expected);
        };
        Ok(Assumed {
            size: TaskSize {
                nodes,
                arcs,
                weights: false,
                columns,
                entries: None,
                train: nodes,
                validation: 0,
                classes: 2 * tasks,
            },
            tasks,
        })
    }
}

impl Assumed {
    /// The jobs that a command would be for such a graph.
    pub(super) fn jobs(
        self,
        name: &str,
        pieces: Option<usize>,
        global: Global,
    ) -> Result<Vec<Job>, Failure> {
        memory::limit(&global);
        let mut drafts = Drafts::new(&[], pieces, &global)?;
        match name {
            "profile" => crate::profile::apart::assumed(self, &mut drafts)?,
            "predict" => crate::model::predicting_apart::assumed(self, &mut drafts)?,
            _ => {
                return Err(Failure::input(
                    "--assume knows what profile and predict do with a graph; name one of them",
                ));
            }
        }
        Ok(drafts.jobs())
    }
}

impl Simulate {
    pub(super) fn is_asked(&self) -> bool {
        self.simulate.is_some()
    }

    /// Jobs may take what a machine has, unless they are told to take less.
    pub(super) fn machine(&self, global: &Global) -> Global {
        Global {
            memory: global.memory.or(Some(self.machine_memory)),
            ..global.clone()
        }
    }

    fn cluster(&self, machines: usize, cores: usize) -> Cluster {
        Cluster {
            machines,
            cores,
            memory: self.machine_memory,
            bandwidth: self.bandwidth as f64,
            overhead: self.overhead,
        }
    }

    pub(super) fn print(&self, list: &List, output: &Output) -> Result<(), Failure> {
        let Some(shape) = self.simulate else {
            return Ok(());
        };
        let rates = match &self.measured {
            Some(other) => Rates::measured(&List::read(other)?)?,
            None => Rates::default(),
        };
        const DOUBLINGS: usize = 12;
        let mut sizes: Vec<usize> = (0..=DOUBLINGS).map(|at| 1 << at).collect();
        sizes.push(shape.machines);
        sizes.sort_unstable();
        sizes.dedup();
        let cluster = |machines: &usize| self.cluster(*machines, shape.cores);
        let clusters: Vec<Cluster> = sizes.iter().map(cluster).collect();
        let all = list.forecast(&clusters, &rates)?;
        let asked = all
            .iter()
            .find(|one| one.cluster.machines == shape.machines);
        let Some(asked) = asked else { return Ok(()) };
        let basis = Basis::of(list, &rates)?;
        if self.json {
            return output.json(&json!({
                "asked": asked,
                "sizes": all,
                "stops": stops(&all).map(|one| one.cluster.machines),
                "measured": basis.measured,
                "corrected": basis.corrected,
                "planned": basis.planned,
            }));
        }
        output.print(&self.words(asked, &all, &basis))
    }

    fn words(&self, asked: &Forecast, all: &[Forecast], basis: &Basis) -> String {
        let (machines, cores) = (asked.cluster.machines, asked.cluster.cores);
        let mut text = format!(
            "{machines} machines of {cores} cores: {} from beginning to end, cores busy {:.0} % of the time, {} read, {} written\n\n",
            words_of(asked.makespan),
            100.0 * asked.busy,
            human_bytes(asked.read),
            human_bytes(asked.written)
        );
        let mut levels = table(
            &[
                "level", "jobs", "CPU", "longest", "memory", "takes", "bound by",
            ],
            &[0, 1, 2, 3, 4, 5],
        );
        for level in &asked.levels {
            levels.add_row([
                level.level.to_string(),
                level.jobs.to_string(),
                words_of(level.cpu_seconds),
                words_of(level.longest),
                human_bytes(level.memory),
                words_of(level.seconds),
                level.bound.to_owned(),
            ]);
        }
        text.push_str(&levels.trim_fmt());
        let mut sizes = table(
            &["machines", "takes", "faster than one", "busy"],
            &[0, 1, 2, 3],
        );
        let one = all.first().map_or(0.0, |one| one.makespan);
        for size in all {
            sizes.add_row([
                size.cluster.machines.to_string(),
                words_of(size.makespan),
                format!("{:.1}", one / size.makespan.max(1e-9)),
                format!("{:.0} %", 100.0 * size.busy),
            ]);
        }
        text.push_str(&format!("\n\n{}\n\n", sizes.trim_fmt()));
        text.push_str(&match stops(all) {
            None => "it goes on getting faster up to the largest number here\n".to_owned(),
            Some(last) => {
                let level = last.levels.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
                format!(
                    "it stops scaling at {} machines: twice as many are less than 1.2 times as fast, bound by the {} of level {}\n",
                    last.cluster.machines,
                    level.map_or("", |level| level.bound),
                    level.map_or(0, |level| level.level)
                )
            }
        });
        if !asked.too_large.is_empty() {
            text.push_str(&format!(
                "note: no machine has the memory for {} jobs, {} among them\n",
                asked.too_large.len(),
                asked.too_large[0]
            ));
        }
        text.push_str(&format!(
            "costs: {} jobs as measured, {} as planned times what others of their kind took, {} as planned\n\
             assumed: {} of memory a machine, a file system of {} a second for all, {} s to start a job, one core a job\n",
            basis.measured,
            basis.corrected,
            basis.planned,
            human_bytes(asked.cluster.memory),
            human_bytes(asked.cluster.bandwidth as u64),
            asked.cluster.overhead
        ));
        text
    }
}

/// Where the costs of jobs come from.
struct Basis {
    measured: usize,
    corrected: usize,
    planned: usize,
}

impl Basis {
    fn of(list: &List, rates: &Rates) -> Result<Self, Failure> {
        let own = Rates::measured(list)?;
        let mut basis = Basis {
            measured: 0,
            corrected: 0,
            planned: 0,
        };
        for job in list.jobs() {
            let known = own.of(job.kind()).or_else(|| rates.of(job.kind()));
            match (list.seal(job)?, known) {
                (Some(_), _) => basis.measured += 1,
                (None, Some(_)) => basis.corrected += 1,
                (None, None) => basis.planned += 1,
            }
        }
        Ok(basis)
    }
}

/// The first size of which the double is hardly faster.
fn stops(all: &[Forecast]) -> Option<&Forecast> {
    all.iter().find(|one| {
        let double = 2 * one.cluster.machines;
        let double = all.iter().find(|other| other.cluster.machines == double);
        double.is_some_and(|double| one.makespan < 1.2 * double.makespan)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_and_sizes_are_read() {
        let shape: Shape = "8x16".parse().expect("a shape");
        assert_eq!((shape.machines, shape.cores), (8, 16));
        for bad in ["", "8", "0x4", "8x", "x", "-1x2", "1e9x1"] {
            assert!(bad.parse::<Shape>().is_err(), "{bad}");
        }
        let found: Assumed = "nodes=111059956,arcs=3.2e9,columns=128,tasks=86"
            .parse()
            .expect("a size");
        assert_eq!(found.size.arcs, 3_200_000_000);
        assert_eq!(found.tasks, 86);
        for bad in [
            "nodes=1",
            "nodes=1,arcs=2,columns=3,tasks=x",
            "n=1,arcs=2,columns=3,tasks=4",
        ] {
            assert!(bad.parse::<Assumed>().is_err(), "{bad}");
        }
    }
}
